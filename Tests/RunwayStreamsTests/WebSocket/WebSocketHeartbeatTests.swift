import Runway
import RunwayTesting
import StreamFixtures
import Testing

@testable import RunwayStreams

/// How long a WebSocket may be silent before it is pinged, as its layer learns it.
@Suite(.timeLimit(.minutes(10)))
struct WebSocketHeartbeatTests {
    @Test func sleepOfTheDeviceHidesNoSilence() async throws {
        let clock = ManualClock()
        let sockets = FakeWebSockets(clock)
        let network = NetworkLayer(transport: sockets, pipeline: .tested, clock: LayerClock(clock))
        let chat = network.webSocket(ChatRoom(), randomness: SeededGenerator(seed: 1))
        let reading = Task { for try await _ in chat {} }
        defer { reading.cancel() }
        try await waitUntil("the first deadline") { clock.nextDeadline?.offset == .seconds(30) }
        let connection = sockets.connections[0]
        connection.measureSilence(.milliseconds(1))
        clock.advance(by: .seconds(3600))
        try await waitUntil("the ping") { connection.pingCount == 1 }
    }

    @Test func clockThatWakesEarlyHidesNoSilence() async throws {
        let clock = ManualClock()
        let sockets = FakeWebSockets(clock)
        let network = NetworkLayer(transport: sockets, pipeline: .tested, clock: LayerClock(EarlyClock(clock)))
        let chat = network.webSocket(ChatRoom(), randomness: SeededGenerator(seed: 1))
        let reading = Task { for try await _ in chat {} }
        defer { reading.cancel() }
        for seconds in [29, 30] {
            try await waitUntil("the deadline") { clock.nextDeadline?.offset == .seconds(seconds) }
            clock.advance(to: ManualClock.Instant(offset: .seconds(seconds)))
        }
        try await waitUntil("the ping") { sockets.connections.first?.pingCount == 1 }
    }

    @Test func expiredGracePausesTheWebSocket() async throws {
        let (clock, gate, grace) = (ManualClock(), ScriptedGate(), ScriptedGrace())
        let sockets = FakeWebSockets(clock)
        let network = NetworkLayer(transport: sockets, pipeline: .tested, clock: LayerClock(clock), grace: grace)
        let chat = network.webSocket(ChatRoom(), randomness: SeededGenerator(seed: 1))
        let reading = Task { for try await _ in chat {} }
        defer { reading.cancel() }
        try await waitUntil("the first connection") { chat.state == .open }
        sockets.hold(at: gate)
        let limit = clock.now.advanced(by: .seconds(5))
        sockets.connections[0].lose()
        try await waitUntil("the next handshake") {
            gate.arrivalCount == 1
        } meanwhile: {
            clock.advanceToDeadline(upTo: limit)
        }
        grace.expire()
        try await waitUntil("the pause") { chat.state == .paused }
        gate.open()
        chat.resume()
        try await waitUntil("the second connection") { chat.state == .open && sockets.connections.count == 2 }
    }

    @Test func silencesEndedByPingsLengthenTheNextInterval() async throws {
        let clock = ManualClock()
        let sockets = FakeWebSockets(clock)
        let network = NetworkLayer(transport: sockets, pipeline: .tested, clock: LayerClock(clock))
        let chat = network.webSocket(ChatRoom(), randomness: SeededGenerator(seed: 1))
        let reading = Task { for try await _ in chat {} }
        defer { reading.cancel() }
        try await waitUntil("the first connection") { chat.state == .open && sockets.connections.count == 1 }
        // An interval of 25 s and a margin of 5 s.
        try await waitUntil("the first deadline") { clock.nextDeadline?.offset == .seconds(30) }
        let first = sockets.connections[0]
        first.respondToPings()
        for count in 1...4 {
            try await waitUntil("ping \(count)") {
                first.pingCount >= count
            } meanwhile: {
                clock.advanceToDeadline(upTo: clock.now.advanced(by: .seconds(31)))
            }
        }
        // Before the deadline of the last ping.
        let limit = clock.now.advanced(by: .seconds(5))
        first.lose()
        try await waitUntil("the second connection") {
            chat.state == .open && sockets.connections.count == 2
        } meanwhile: {
            clock.advanceToDeadline(upTo: limit)
        }
        let deadline = clock.now.offset + .seconds(35)
        try await waitUntil("the second deadline") { clock.nextDeadline?.offset == deadline }
    }
}
