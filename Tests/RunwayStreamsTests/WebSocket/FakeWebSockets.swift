import HTTPTypes
import Runway
import RunwayTesting
import Synchronization

@testable import RunwayStreams
@testable import RunwayTransport

/// The service of these tests.
enum ChatService: APIService {
    static let name = "chat"
    static let environments: [ServiceEnvironment: String] = [.release: "https://chat.example.com"]
}

/// A WebSocket of it.
struct ChatRoom: Endpoint {
    static let service = ChatService.self
    var path: EndpointPath { "room" }
    func encode(to encoder: any Encoder) {}
}

/// A transport whose WebSockets a test plays.
final class FakeWebSockets: Transport {
    private struct State {
        var requests: [Request] = []
        var connections: [FakeConnection] = []
        var refusals: [HTTPResponse] = []
        var failures: [NetworkError] = []
        var gate: ScriptedGate?
    }

    private let clock: ManualClock
    /// Guards what was opened, and what the next requests end in.
    private let state = Mutex(State())

    init(_ clock: ManualClock) { self.clock = clock }

    var requests: [Request] { state.withLock { $0.requests } }
    var connections: [FakeConnection] { state.withLock { $0.connections } }

    /// The next request is refused with a status, and a body of a type.
    func refuse(_ status: HTTPResponse.Status, type: String = "application/json") {
        state.withLock { $0.refusals.append(HTTPResponse(status: status, headerFields: [.contentType: type])) }
    }

    /// The next request fails.
    func fail(_ error: NetworkError) { state.withLock { $0.failures.append(error) } }

    /// Connections are opened when the gate is.
    func hold(at gate: ScriptedGate) { state.withLock { $0.gate = gate } }

    func send(_ request: Request, in flight: Flight) async throws(NetworkError) -> Response {
        let clock = clock
        do { try await state.withLock({ $0.gate })?.pass() } catch {
            throw NetworkError(.cancelled, in: .transporting, "The call was cancelled.")
        }
        let result: Result<Response, NetworkError> = state.withLock { state in
            state.requests.append(request)
            if !state.failures.isEmpty { return .failure(state.failures.removeFirst()) }
            if !state.refusals.isEmpty {
                let head = state.refusals.removeFirst()
                var response = Response(head: head, body: .whole(RawData([], response: head)))
                response.refusesWebSocket = true
                return .success(response)
            }
            let head = HTTPResponse(status: .switchingProtocols)
            var response = Response(head: head, body: .whole(RawData([], response: head)))
            let connection = FakeConnection(clock)
            state.connections.append(connection)
            response.webSocket = connection
            return .success(response)
        }
        return try result.get()
    }
}

/// A connection that a test plays the server of.
final class FakeConnection: WebSocketConnection {
    private struct State {
        var lastByte: ManualClock.Instant
        var pingCount = 0
        var respondsToPings = false
        var closes: [WebSocketClose] = []
        var errors: [NetworkError] = []
        var sent: [WebSocketPayload] = []
        var received: WebSocketClose?
        var silence: Duration?
        var delay = Duration.zero
    }

    let agreement = WebSocketAgreement(subprotocol: "v1")
    private let clock: ManualClock
    private let inbox = WebSocketInbox(maximumUnreadByteCount: 1 << 20)
    /// Guards what the client did.
    private let state: Mutex<State>

    init(_ clock: ManualClock) {
        self.clock = clock
        state = Mutex(State(lastByte: clock.now))
    }

    var pingCount: Int { state.withLock { $0.pingCount } }
    var closes: [WebSocketClose] { state.withLock { $0.closes } }
    var errors: [NetworkError] { state.withLock { $0.errors } }
    var sent: [WebSocketPayload] { state.withLock { $0.sent } }

    /// From now on the server sends a pong a millisecond after each ping.
    func respondToPings() { state.withLock { $0.respondsToPings = true } }

    /// A byte of the server arrives.
    private func receiveByte() {
        state.withLock { $0.lastByte = clock.now }
        inbox.received(byteCount: 1)
    }

    /// The connection measures this silence from now on, as one whose clock stands still while the device sleeps.
    func measureSilence(_ silence: Duration) { state.withLock { $0.silence = silence } }

    /// From now on the clock advances by this time in each request for the status, before the silence is measured.
    func delayStatus(by delay: Duration) { state.withLock { $0.delay = delay } }

    /// The server sends a message.
    func deliver(_ text: String) {
        receiveByte()
        _ = inbox.append(.text(text))
    }

    /// The server closes the connection.
    func end(_ code: UInt16?, _ reason: String = "") {
        state.withLock { $0.received = WebSocketClose(code, reason) }
        inbox.finish(nil)
    }

    /// The connection is lost.
    func lose() { inbox.finish(NetworkError(.noNetwork, in: .transporting, "The connection was lost.")) }

    var status: WebSocketStatus {
        var status = inbox.status
        let delay = state.withLock { $0.delay }
        if delay > .zero { clock.advance(by: delay) }
        state.withLock { state in
            status.silence = state.silence ?? state.lastByte.duration(to: clock.now)
            status.received = state.received
        }
        return status
    }

    func next() async throws(NetworkError) -> WebSocketPayload? { try await inbox.next {} }

    func send(_ payload: WebSocketPayload) async throws(NetworkError) { state.withLock { $0.sent.append(payload) } }

    func ping() {
        let responds = state.withLock { state in
            state.pingCount += 1
            return state.respondsToPings
        }
        if responds {
            clock.advance(by: .milliseconds(1))
            receiveByte()
        }
    }

    func close(_ close: WebSocketClose) {
        state.withLock { $0.closes.append(close) }
        inbox.finish(nil)
    }

    func abandon(_ error: NetworkError) {
        state.withLock { $0.errors.append(error) }
        inbox.finish(error)
    }
}
