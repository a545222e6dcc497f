import HTTPTypes
import RunwayTesting
import Synchronization
import Testing

@testable import Runway

/// The system's time in the background, held for calls in flight.
@Suite(.timeLimit(.minutes(10)))
struct BackgroundGraceTests {
    /// Records what the layer asks for, and expires what a test wants to.
    private final class Recorder: BackgroundGrace {
        private let state = Mutex<(log: [String], expiries: [@Sendable () -> Void])>(([], []))
        /// Whether the system gives none.
        let refuses = Atomic(false)
        /// Whether the time is over at once.
        let expiresAtOnce = Atomic(false)

        var log: [String] { state.withLock { $0.log } }
        func note(_ text: String) { state.withLock { $0.log.append(text) } }

        func begin(_ name: String, onExpiry: @escaping @Sendable () -> Void) -> Int? {
            let token = state.withLock { state in
                state.log.append("begin \(name)")
                state.expiries.append(onExpiry)
                return state.expiries.count
            }
            if expiresAtOnce.load(ordering: .relaxed) { onExpiry() }
            return refuses.load(ordering: .relaxed) ? nil : token
        }

        func end(_ token: Int) { note("end \(token)") }

        /// The system's time is over.
        func expire() { for expire in state.withLock({ $0.expiries }) { expire() } }
    }

    private static let begin = "begin library.BookSearch"
    private let grace = Recorder()
    private let gate = ScriptedGate()

    private func layer(_ respond: @escaping StubTransport.Respond) -> NetworkLayer {
        NetworkLayer(
            transport: StubTransport { [grace] request throws(NetworkError) in
                grace.note("request")
                return try await respond(request)
            },
            pipeline: .tested, limits: LayerLimits(admission: .none), grace: grace)
    }

    /// A layer whose requests wait at the gate.
    private func waitingLayer() -> NetworkLayer {
        layer { [gate] _ throws(NetworkError) in
            do { try await gate.pass() } catch { throw .cancelled(in: .transporting) }
            return .json("{}")
        }
    }

    @Test func graceIsTakenBeforeTheRequest() async throws {
        _ = try await layer { _ in .json("{}") }.call(BookSearch())
        #expect(grace.log == [Self.begin, "request", "end 1"])
    }

    @Test func aResponseThatStaysOpenHoldsNoGrace() async throws {
        let (parts, continuation) = AsyncStream<[UInt8]>.makeStream()
        let network = layer { _ in
            Response(head: HTTPResponse(status: .ok), body: .stream(BodyStream(parts)))
        }
        var options = CallOptions()
        options.isLongLived = true
        let response = try await network.stream(BookSearch(), options: options)
        #expect(grace.log == [Self.begin, "request", "end 1"])
        grace.expire()
        continuation.yield(Array("still open".utf8))
        continuation.finish()
        var bytes: [UInt8] = []
        for try await part in response.body { bytes += part }
        #expect(bytes == Array("still open".utf8))
        #expect(grace.log == [Self.begin, "request", "end 1"])
    }

    @Test func failureEndsTheGrace() async throws {
        let network = layer { _ throws(NetworkError) in throw NetworkError(.noNetwork, in: .transporting, "Lost.") }
        await #expect(throws: NetworkError.self) {
            try await network.call(BookSearch(), options: CallOptions(retry: .off))
        }
        #expect(grace.log == [Self.begin, "request", "end 1"])
    }

    @Test func retriesShareOneGrace() async throws {
        let count = Atomic(0)
        let network = layer { _ throws(NetworkError) in
            if count.add(1, ordering: .relaxed).oldValue == 0 {
                throw NetworkError(.noNetwork, in: .transporting, "Lost.", sending: .notSent)
            }
            return .json("{}")
        }
        _ = try await network.call(BookSearch())
        #expect(grace.log == [Self.begin, "request", "request", "end 1"])
    }

    @Test @MainActor func graceLastsUntilTheLanding() async throws {
        let delegate = LandingRecorder()
        let manager = APIManager<BookSearch>(on: layer { _ in .json("{}") }, delegate: delegate)
        delegate.onLanding = { [grace] _, _ in grace.note("landing") }
        manager.load(BookSearch())
        try await delegate.landings(count: 1)
        try await waitUntil("the grace is over") { grace.log.last == "end 1" }
        #expect(grace.log == [Self.begin, "request", "landing", "end 1"])
    }

    @Test func cachedResponseNeedsNoGrace() async throws {
        let network = layer { _ in .json("{}") }
        let options = CallOptions(cache: .timeToLive())
        _ = try await network.call(BookSearch(), options: options)
        _ = try await network.call(BookSearch(), options: options)
        #expect(grace.log == [Self.begin, "request", "end 1"])
    }

    @Test func expiryCancelsTheCallAndEndsOnce() async throws {
        let network = waitingLayer()
        let call = Task { try await network.call(BookSearch()) }
        try await gate.waitForArrivals()
        grace.expire()
        #expect(grace.log.last == "end 1")
        let error = await #expect(throws: NetworkError.self) { try await call.value }
        #expect(error?.kind == .cancelled && error?.detail.contains("in the background") == true)
        grace.expire()
        #expect(grace.log.filter { $0 == "end 1" }.count == 1)
    }

    @Test @MainActor func expiryNotifiesTheDelegate() async throws {
        let delegate = LandingRecorder()
        let manager = APIManager<BookSearch>(on: waitingLayer(), delegate: delegate)
        manager.load(BookSearch())
        try await gate.waitForArrivals()
        grace.expire()
        let landings = try await delegate.landings(count: 1)
        #expect(throws: NetworkError.self) { try landings[0].result.get() }
        #expect(grace.log == [Self.begin, "request", "end 1"])
    }

    @Test func expiryWithinBeginEndsOnce() async throws {
        grace.expiresAtOnce.store(true, ordering: .relaxed)
        let network = layer { _ in .json("{}") }
        let error = await #expect(throws: NetworkError.self) { try await network.call(BookSearch()) }
        #expect(error?.kind == .cancelled)
        #expect(grace.log == [Self.begin, "end 1"])
    }

    @Test func callIsMadeThoughGraceIsRefused() async throws {
        grace.refuses.store(true, ordering: .relaxed)
        _ = try await layer { _ in .json("{}") }.call(BookSearch())
        #expect(grace.log == [Self.begin, "request"])
    }

    @Test func expiryEndsTheReadingOfAStream() async throws {
        let network = layer { [gate] _ in
            let body = BodyStream {
                var isFirst = true
                return {
                    defer { isFirst = false }
                    if !isFirst { try await gate.pass() }
                    return [1]
                }
            }
            return Response(head: .init(status: .ok), body: .stream(body))
        }
        var parts = try await network.stream(BookSearch()).body.makeAsyncIterator()
        #expect(try await parts.next() == [1])
        #expect(grace.log == [Self.begin, "request"])
        let reading = Task { @concurrent [parts] in
            var parts = parts
            return try await parts.next()
        }
        try await gate.waitForArrivals()
        grace.expire()
        let error = await #expect(throws: NetworkError.self) { try await reading.value }
        #expect(error?.kind == .cancelled)
        #expect(grace.log == [Self.begin, "request", "end 1"])
    }

    @Test func waitersOfOneRequestHaveOneGraceEach() async throws {
        let network = waitingLayer()
        let first = Task { try await network.call(BookSearch()) }
        try await gate.waitForArrivals()
        let second = Task { try await network.call(BookSearch()) }
        try await waitUntil("the second call waits") { network.reads.waitingCount == 2 }
        gate.open()
        _ = try await (first.value, second.value)
        #expect(Set(grace.log) == [Self.begin, "request", "end 1", "end 2"])
        #expect(grace.log.count == 5)
    }
}
