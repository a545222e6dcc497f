import Foundation
import HTTPTypes
import Runway
import RunwayTestServer
import RunwayTesting
import Synchronization
import Testing

@testable import RunwayTransport

/// Connections in use that end under many calls: each call gets its own response or one clear error, and nothing arrives twice that
/// must not.
@Suite(.timeLimit(.minutes(10)))
struct DyingConnectionTests {
    private typealias Ending = (path: String, isRead: Bool, result: Result<String?, NetworkError>)

    /// How many bytes the response to one call has: a head, and its path.
    private static let bytesPerResponse = RawFrame.headers(1).bytes.count + RawFrame.data(1, "/1000/10").bytes.count

    /// After how many bytes the connection is cut: every eleventh, from a random one, so that each byte of a response is
    /// covered in turn; with `RUNWAY_EVERY_BYTE` every one.
    private static let cuts: [Int] = {
        let last = 20 * bytesPerResponse
        if ProcessInfo.processInfo.environment["RUNWAY_EVERY_BYTE"] != nil { return Array(0...last) }
        return [0] + stride(from: Int.random(in: 1...11), to: last, by: 11) + [last]
    }()

    /// The connection that carried a call for `warm` ends when twenty more have come, after so many bytes of their responses. In
    /// the thousands of the calls is a number, and below it are the bytes. With `twice` the next connection ends at its first
    /// request.
    private static func script(twice: Bool) -> RawHTTP2Server.Script {
        let ended = EndedOnes()
        return { connection, frame in
            guard let frame else { return connection.write(.settings(), .settingsAck) }
            guard frame.is(.headers), let path = connection.paths[frame.stream] else { return }
            let group = path.dropFirst().prefix { $0 != "/" }
            if connection.paths[1]?.hasSuffix("warm") == true, frame.stream > 1 {
                guard connection.streams.count == 21, let number = Int(group) else { return }
                let responses = connection.streams.dropFirst().flatMap { stream in
                    RawFrame.headers(stream).bytes + RawFrame.data(stream, connection.paths[stream] ?? "").bytes
                }
                connection.write(Array(responses.prefix(number - 1000)))
                connection.close()
            } else if twice, !path.hasSuffix("warm"), ended.insert(String(group)) {
                connection.close()
            } else {
                connection.write(.headers(frame.stream), .data(frame.stream, path))
            }
        }
    }

    /// Which groups of calls have had their second connection ended.
    private final class EndedOnes: Sendable {
        private let groups = Mutex<Set<String>>([])

        func insert(_ group: String) -> Bool { groups.withLock { $0.insert(group).inserted } }
    }

    /// Makes calls at once, every other one a read, each of its own path.
    private func endings(
        of count: Int, below group: Int, over network: NetworkLayer, _ options: CallOptions = CallOptions()
    ) async -> [Ending] {
        await withTaskGroup(of: Ending.self) { tasks in
            for index in 0..<count {
                tasks.addTask {
                    let path = "/\(group)/\(index + 10)"
                    do throws(NetworkError) {
                        let raw =
                            index.isMultiple(of: 2)
                            ? try await network.call(Fetch<GET>("\(group)/\(index + 10)"), options: options)
                            : try await network.call(Fetch<POST>("\(group)/\(index + 10)"), options: options)
                        return (path, index.isMultiple(of: 2), .success(raw.text))
                    } catch {
                        return (path, index.isMultiple(of: 2), .failure(error))
                    }
                }
            }
            return await tasks.reduce(into: []) { $0.append($1) }
        }
    }

    /// Checks that each call got its own response, and arrived no more often than it may.
    private func check(_ endings: [Ending], arrivals: [String], mostArrivals: Int, sourceLocation: SourceLocation) {
        for (path, isRead, result) in endings {
            let count = arrivals.count { $0 == path }
            #expect(count <= (isRead ? mostArrivals : 1), "\(path) came \(count) times", sourceLocation: sourceLocation)
            if case .success(let text) = result { #expect(text == path, sourceLocation: sourceLocation) }
        }
    }

    @Test func http2ConnectionThatEndsUnderItsResponses() async throws {
        try await RawHTTP2Server.run(Self.script(twice: false)) { server in
            for cut in Self.cuts {
                let network = try server.layer()
                _ = try await network.call(Fetch<GET>("\(1000 + cut)/warm"))
                let before = server.requests.count
                let endings = await endings(of: 20, below: 1000 + cut, over: network)
                check(
                    endings, arrivals: server.requests.dropFirst(before).map(\.path), mostArrivals: 2,
                    sourceLocation: #_sourceLocation)
                for case (_, let isRead, .failure(let error)) in endings {
                    #expect(error.kind == .noNetwork || error.kind == .invalidResponse, "cut at \(cut)")
                    // A read fails only in the middle of its response.
                    if isRead { #expect(error.sending == .sent, "cut at \(cut): \(error)") }
                }
                let successCount = endings.count { (try? $0.result.get()) != nil && !$0.isRead }
                // What came whole before the end is a response, whichever call it was for.
                #expect(successCount <= min(10, cut / Self.bytesPerResponse), "cut at \(cut)")
            }
        }
    }

    @Test func retriesCompleteEveryReadThoughTwoConnectionsEnd() async throws {
        try await RawHTTP2Server.run(Self.script(twice: true)) { server in
            for responseCount in stride(from: 0, through: 20, by: 4) {
                let group = 1000 + responseCount * Self.bytesPerResponse
                let network = NetworkLayer(
                    transport: try NIOTransport(configuration: server.configuration()),
                    limits: LayerLimits(admission: .none, retrying: AttemptLimits(callsPerAttempt: 10, reserve: 100)))
                network.configure(TestService.self) { $0.baseURLs = [.release: server.baseURL] }
                _ = try await network.call(Fetch<GET>("\(group)/warm"))
                let before = server.requests.count
                let endings = await endings(
                    of: 20, below: group, over: network, CallOptions(retry: RetryPolicy(baseWait: .zero)))
                check(
                    endings, arrivals: server.requests.dropFirst(before).map(\.path), mostArrivals: 3,
                    sourceLocation: #_sourceLocation)
                for case (let path, true, .failure(let error)) in endings { Issue.record(error, "\(path)") }
            }
        }
    }

    /// A layer with four connections to an origin, each of which has carried a call.
    private func layer(to origin: ScriptedOrigin, retrying: AttemptLimits) async throws -> NetworkLayer {
        let gate = ScriptedGate()
        origin.on("/first", respond: .text("first").held(by: gate))
        let configuration = TransportConfiguration(connectTimeout: .seconds(300), maximumConnectionsPerOrigin: 4)
        let network = NetworkLayer(
            transport: try NIOTransport(configuration: configuration),
            limits: LayerLimits(admission: .none, retrying: retrying))
        network.configure(TestService.self) { $0.baseURLs = [.release: origin.baseURL] }
        try await withThrowingTaskGroup { group in
            for _ in 0..<4 { group.addTask { _ = try await network.call(Fetch<GET>("first")) } }
            try await gate.waitForArrivals(count: 4)
            gate.open()
            try await group.waitForAll()
        }
        return network
    }

    private static func http1Response(to path: String) -> [UInt8] {
        Array("HTTP/1.1 200 OK\r\nContent-Length: \(path.utf8.count)\r\n\r\n\(path)".utf8)
    }

    /// After how many bytes of a response over HTTP/1.1 its connection is cut: every fourth, from one that chance picks; with
    /// `RUNWAY_EVERY_BYTE` every one.
    private static let http1Cuts: [Int] = {
        let last = http1Response(to: "/1000/10").count
        if ProcessInfo.processInfo.environment["RUNWAY_EVERY_BYTE"] != nil { return Array(0...last) }
        return [0] + stride(from: Int.random(in: 1...4), to: last, by: 4) + [last]
    }()

    @Test(arguments: [ScriptedResponse.Ending.close, .reset])
    func fourHTTP1ConnectionsEndUnderTheirResponses(by ending: ScriptedResponse.Ending) async throws {
        for cut in Self.http1Cuts {
            try await withScriptedOrigin { origin in
                origin.otherwise { request in
                    if request.connection > 4 { return .text(request.path) }
                    return .raw(Array(Self.http1Response(to: request.path).prefix(cut))).ending(ending)
                }
                let network = try await layer(to: origin, retrying: .none)
                let endings = await endings(of: 20, below: 1000, over: network)
                check(endings, arrivals: origin.requests.map(\.path), mostArrivals: 2, sourceLocation: #_sourceLocation)
                for case (_, let isRead, .failure(let error)) in endings {
                    #expect(error.kind == .noNetwork || error.kind == .invalidResponse, "cut at \(cut): \(error)")
                    // A read fails only in the middle of its response.
                    if isRead { #expect(error.sending == .sent, "cut at \(cut): \(error)") }
                }
                // Each connection takes one call with it at most.
                #expect(endings.count { (try? $0.result.get()) == nil } <= 4, "cut at \(cut)")
            }
        }
    }

    /// A change that may be made twice is lost on a connection that was in use before, and never gets another one: because it is
    /// cancelled while the handshake lasts, or because there is none.
    @Test(arguments: [true, false])
    func changeLostOnStaleConnectionIsNotUnsent(_ isCancelled: Bool) async throws {
        let certificate = try TestCertificate()
        try await withScriptedOrigin(tls: certificate.tls) { origin in
            origin.onConnections([.serve, isCancelled ? .ignore : .close])
            origin.on(.get, "/warm", respond: .text("warm"))
            origin.on(.put, "/change", respond: .closing)
            let configuration = TransportConfiguration(
                trust: .certificates(pem: [certificate.certificatePEM]), usesHTTP2: false,
                connectTimeout: .seconds(300))
            let network = NetworkLayer(to: origin.baseURL, over: try NIOTransport(configuration: configuration))
            _ = try await network.call(Fetch<GET>("warm"))
            let call = Task { try await network.call(Fetch<PUT>("change", .bytes([1]))) }
            try await origin.waitForConnections(count: 2)
            if isCancelled { call.cancel() }
            let error = try await #require(throws: NetworkError.self) { try await call.value }
            #expect(error.kind == (isCancelled ? .cancelled : .noNetwork))
            #expect(error.sending != .notSent)
            #expect(origin.requests.count { $0.method == .put } == 1)
        }
    }

    @Test(arguments: [ScriptedResponse.closing, .resetting])
    func retriesCompleteReadsThoughHTTP1ConnectionsEnd(ending: ScriptedResponse) async throws {
        try await withScriptedOrigin { origin in
            origin.otherwise { request in request.connection <= 4 ? ending : .text(request.path) }
            let network = try await layer(to: origin, retrying: AttemptLimits(callsPerAttempt: 10, reserve: 100))
            let endings = await endings(
                of: 20, below: 1000, over: network, CallOptions(retry: RetryPolicy(baseWait: .zero)))
            check(endings, arrivals: origin.requests.map(\.path), mostArrivals: 2, sourceLocation: #_sourceLocation)
            for case (let path, true, .failure(let error)) in endings { Issue.record(error, "\(path)") }
        }
    }
}
