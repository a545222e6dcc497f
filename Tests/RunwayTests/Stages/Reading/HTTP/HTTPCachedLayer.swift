import Foundation
import HTTPTypes
import RunwayTesting
import Synchronization
import Testing

@testable import Runway

/// A layer that caches by the rules of HTTP, over an origin that responds by a list.
///
/// Its requests and responses go over a real socket, see ``LoopbackOrigin``; the clock is the test's.
struct HTTPCachedLayer {
    /// The next response of the origin, and its response after the end of the list.
    final class ScriptedResponses: Sendable {
        typealias Respond = LoopbackOrigin.Respond

        /// Guards the list.
        private let list = Mutex<[Respond]>([])

        func append(_ response: @escaping Respond) { list.withLock { $0.append(response) } }

        func next() -> Respond? { list.withLock { $0.isEmpty ? nil : $0.removeFirst() } }

        func respond(_ request: Request) async throws(NetworkError) -> Response {
            guard let response = next() else {
                throw NetworkError(.notTrusted, in: .transporting, "The list has come to its end.")
            }
            return try await response(request)
        }
    }

    /// Records every request, and responds by the list.
    final class Wire: Transport {
        let responses = ScriptedResponses()
        private let isInProcess: Bool
        /// Guards the requests that came.
        private let received = Mutex<[Request]>([])

        init(isInProcess: Bool) { self.isInProcess = isInProcess }

        var requests: [Request] { received.withLock { $0 } }

        func send(_ request: Request, in flight: Flight) async throws(NetworkError) -> Response {
            received.withLock { $0.append(request) }
            if isInProcess { return try await responses.respond(request) }
            return try await LoopbackOrigin.shared.send(request, in: flight) {
                [responses] request throws(NetworkError) in
                try await responses.respond(request)
            }
        }
    }

    let records = RecordCollector()
    let clock = ManualClock()
    let network: NetworkLayer
    private let wire: Wire
    private let tier: (any CacheTier)?
    private var responses: ScriptedResponses { wire.responses }

    /// - Parameter isInProcess: Whether no socket is used: for what no origin can send, and for ten thousands of exchanges.
    init(isInProcess: Bool = false) { self.init(Wire(isInProcess: isInProcess), nil) }

    /// A layer that stores responses on disk, too.
    init(diskCache: any CacheTier) { self.init(Wire(isInProcess: true), diskCache) }

    private init(_ wire: Wire, _ tier: (any CacheTier)?, startingAt date: Date? = nil) {
        self.wire = wire
        self.tier = tier
        network = NetworkLayer(
            transport: wire, pipeline: .tested,
            clock: date.map { [clock] in LayerClock(clock, startingAt: $0) } ?? LayerClock(clock), sinks: [records],
            limits: LayerLimits(admission: .none, retrying: .none), diskCache: tier,
            randomness: SeededGenerator(seed: 1)
        )
    }

    /// The layer that the next launch of the app makes, some seconds later.
    func nextLaunch(after seconds: Double = 0) async -> HTTPCachedLayer {
        await network.cache.flush()
        return HTTPCachedLayer(wire, tier, startingAt: network.clock.date.addingTimeInterval(seconds))
    }

    var requests: [Request] { wire.requests }
    var sent: Int { requests.count }
    var last: HTTPFields { requests.last?.head.headerFields ?? [:] }

    /// The date that the clock shows, moved by some seconds.
    func date(_ seconds: Int64 = 0) -> String {
        HTTPDate(seconds: HTTPDate(network.clock.date).seconds + seconds).text
    }

    func advance(_ seconds: Double) { clock.advance(by: .seconds(seconds)) }

    /// Adds a response to the list.
    func respond(
        _ body: String = "one", status: HTTPResponse.Status = .ok, _ fields: HTTPFields, after seconds: Double = 0
    ) {
        let clock = clock
        responses.append { _ throws(NetworkError) in
            clock.advance(by: .seconds(seconds))
            let head = HTTPResponse(status: status, headerFields: fields)
            return Response(head: head, body: .whole(RawData(Array(body.utf8), response: head)))
        }
    }

    func respond(_ body: String = "one", status: HTTPResponse.Status = .ok) { respond(body, status: status, [:]) }

    /// Adds a response with the body `one` to the list.
    func respond(_ fields: HTTPFields, after seconds: Double = 0) { respond("one", fields, after: seconds) }

    func respond(with response: @escaping ScriptedResponses.Respond) { responses.append(response) }

    func fail(_ kind: NetworkError.Kind = .noNetwork) {
        responses.append { _ throws(NetworkError) in throw NetworkError(kind, in: .transporting, "gone") }
    }

    func request(
        _ path: String = "/a", _ fields: HTTPFields = [:], method: HTTPRequest.Method = .get
    ) -> Request {
        Request(
            head: HTTPRequest(
                method: method, scheme: "https", authority: "origin.test", path: path, headerFields: fields))
    }

    /// Makes a call through the whole client.
    @discardableResult
    func send(
        _ path: String = "/a", _ fields: HTTPFields = [:], method: HTTPRequest.Method = .get,
        use: CacheUse = .standard
    ) async throws(NetworkError) -> Response {
        try await network.exchange(
            request(path, fields, method: method), with: Library.self,
            options: CallOptions(cache: .http(onDisk: tier != nil), cacheUse: use))
    }

    /// Makes a call that fails.
    func failure(
        _ path: String = "/a", _ fields: HTTPFields = [:], use: CacheUse = .standard
    ) async throws -> NetworkError {
        let error = await #expect(throws: NetworkError.self) { try await send(path, fields, use: use) }
        return try #require(error)
    }

    /// Whether a second request with these fields, some seconds after a first one, is sent on.
    func isSentAgain(
        _ fields: HTTPFields, status: HTTPResponse.Status = .ok, after seconds: Double = 10,
        asking request: HTTPFields = [:]
    ) async throws -> Bool {
        respond(status: status, fields)
        try await send()
        advance(seconds)
        let before = sent
        respond("two")
        try await send("/a", request)
        return sent > before
    }
}

extension Response {
    /// The text of a whole body.
    var text: String? { if case .whole(let rawData) = body { rawData.text } else { nil } }
}
