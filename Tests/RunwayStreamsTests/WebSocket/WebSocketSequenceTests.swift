import HTTPTypes
import Runway
import RunwayTesting
import StreamFixtures
import Synchronization
import Testing

@testable import RunwayStreams

/// Reads a WebSocket to its end, in a task of its own.
private final class Listener: Sendable {
    /// Guards what came.
    private let collected = Mutex<[WebSocketElement]>([])
    private let task = Mutex<Task<Void, any Error>?>(nil)

    var elements: [WebSocketElement] { collected.withLock { $0 } }
    /// The numbers of the connections.
    var links: [Int] { elements.compactMap { if case .connected(let link) = $0 { link.number } else { nil } } }
    /// The texts.
    var texts: [String] { elements.compactMap { if case .message(.text(let text)) = $0 { text } else { nil } } }

    let sequence: WebSocketSequence

    init(_ sequence: WebSocketSequence) {
        self.sequence = sequence
        let task = Task { for try await element in sequence { self.collected.withLock { $0.append(element) } } }
        self.task.withLock { $0 = task }
    }

    /// Waits for the end.
    func end() async throws { try await task.withLock { $0 }?.value }
    func cancel() { task.withLock { $0?.cancel() } }
}

struct WebSocketSequenceTests {
    private let clock = ManualClock()
    private let sockets: FakeWebSockets
    private let network: NetworkLayer
    private let records = RecordCollector()

    init() {
        sockets = FakeWebSockets(clock)
        network = NetworkLayer(
            transport: sockets, pipeline: .tested, clock: LayerClock(clock), sinks: [records])
    }

    private func open(_ change: (inout WebSocketOptions) -> Void = { _ in }) -> WebSocketSequence {
        var options = WebSocketOptions()
        change(&options)
        return network.webSocket(ChatRoom(), options: options, randomness: SeededGenerator(seed: 1))
    }

    /// After the end of any wait of these tests between two connections, and before one that was just opened is suspected.
    private var waitLimit: ManualClock.Instant { clock.now.advanced(by: .seconds(10)) }

    /// Advances the clock to the end of the waits until the listener has seen a connection of this number, and returns it.
    private func connection(_ number: Int, _ listener: Listener) async throws -> FakeConnection {
        let limit = waitLimit
        try await waitUntil("connection \(number)") {
            listener.links.last == number && listener.sequence.state == .open
        } meanwhile: {
            clock.advanceToDeadline(upTo: limit)
        }
        return sockets.connections[number - 1]
    }

    @Test func messagesFollowTheirConnection() async throws {
        let chat = open()
        let listener = Listener(chat)
        let connection = try await connection(1, listener)
        connection.deliver("one")
        connection.deliver("two")
        try await waitUntil { listener.texts.count == 2 }
        #expect(
            listener.elements == [
                .connected(WebSocketLink(number: 1, subprotocol: "v1", extensions: nil, previousClose: nil)),
                .message(.text("one")),
                .message(.text("two")),
            ])
        #expect(chat.state == .open)
        try await chat.send(.binary([1]))
        #expect(connection.sent == [.binary([1])])
        chat.close(.normal, reason: "done")
        try await listener.end()
        #expect(connection.closes.first == WebSocketClose(1000, "done"))
        try await waitUntil { chat.state == .ended }
    }

    @Test func handshakeIsOfferedWithoutRetriesBelow() async throws {
        sockets.fail(NetworkError(.noNetwork, in: .transporting, "no"))
        let listener = Listener(open { $0.subprotocols = ["v1"] })
        _ = try await connection(1, listener)
        #expect(sockets.requests.count == 2)
        #expect(sockets.requests.last?.webSocket?.subprotocols == ["v1"])
        #expect(sockets.requests.last?.url == "https://chat.example.com/room")
        listener.cancel()
        try? await listener.end()
    }

    @Test func lossIsFollowedByAnotherConnection() async throws {
        let listener = Listener(open())
        let first = try await connection(1, listener)
        first.deliver("before")
        first.lose()
        let second = try await connection(2, listener)
        second.deliver("after")
        try await waitUntil { listener.texts == ["before", "after"] }
        #expect(listener.links == [1, 2])
        listener.cancel()
        try? await listener.end()
    }

    @Test(arguments: [nil, 1001, 1011, 1012, 1013, 1014] as [UInt16?])
    func serverThatComesBackIsReconnected(_ code: UInt16?) async throws {
        let listener = Listener(open())
        try await connection(1, listener).end(code)
        _ = try await connection(2, listener)
        listener.cancel()
        try? await listener.end()
    }

    @Test func anotherAccountDoesNotContinueTheWebSocket() async throws {
        try await network.signIn(AccessToken("t1", account: "anna"), to: ChatService.self)
        let chat = open()
        let listener = Listener(chat)
        _ = try await connection(1, listener)
        chat.pause()
        try await waitUntil("the pause") { chat.state == .paused }
        try await network.signOut(of: ChatService.self)
        try await network.signIn(AccessToken("t2", account: "ben"), to: ChatService.self)
        chat.resume()
        let error = await #expect(throws: NetworkError.self) { try await listener.end() }
        #expect(error?.kind == .cancelled && sockets.requests.count == 1)
    }

    @Test func signOutDuringTheHandshakeEndsTheSequence() async throws {
        try await network.signIn(AccessToken("t1", account: "anna"), to: ChatService.self)
        let gate = ScriptedGate()
        sockets.hold(at: gate)
        let listener = Listener(open())
        try await gate.waitForArrivals()
        try await network.signOut(of: ChatService.self)
        try await waitUntil("the end") { [.ended, .paused].contains(listener.sequence.state) }
        listener.cancel()
        let error = await #expect(throws: NetworkError.self) { try await listener.end() }
        #expect(error?.kind == .cancelled && sockets.connections.isEmpty)
    }

    @Test func connectionThatOpensForAnotherAccountIsClosed() async throws {
        try await network.signIn(AccessToken("t1", account: "anna"), to: ChatService.self)
        let (gate, options) = (ScriptedGate(), WebSocketOptions())
        let account = StreamAccount("WebSocket", of: ChatService.self, on: network)
        let driver = WebSocketDriver(
            of: account, on: network, options, random: SeededGenerator(seed: 1), onState: { _ in }
        ) { [network] () async throws(NetworkError) in
            // The account changes after the driver has seen that it is signed in, and before the call is made.
            try? await gate.pass()
            return try await network.openWebSocket(ChatRoom(), offering: options.offer, options: .standard)
        }
        let listener = Listener(WebSocketSequence(driver))
        try await gate.waitForArrivals()
        try await network.signOut(of: ChatService.self)
        try await network.signIn(AccessToken("t2", account: "ben"), to: ChatService.self)
        gate.open()
        try await waitUntil("the end") { listener.sequence.state == .ended || !listener.elements.isEmpty }
        listener.cancel()
        let error = await #expect(throws: NetworkError.self) { try await listener.end() }
        #expect(error?.kind == .cancelled && listener.elements.isEmpty)
        #expect(sockets.connections.map(\.closes.first) == [WebSocketClose(1001)])
    }

    @Test func normalCloseEndsWithoutError() async throws {
        let listener = Listener(open())
        try await connection(1, listener).end(1000)
        try await listener.end()
        #expect(sockets.connections.count == 1)
    }

    @Test(arguments: [1002, 1003, 1007, 1008, 1009, 1010, 3000, 4000, 4999] as [UInt16])
    func otherCodesEndWithAnError(_ code: UInt16) async throws {
        let listener = Listener(open())
        try await connection(1, listener).end(code)
        let error = try await #require(throws: NetworkError.self) { try await listener.end() }
        #expect(error.kind == .refused)
        #expect(error.detail.contains("\(code)"))
    }

    @Test func closeFrameReachesTheApp() async throws {
        let listener = Listener(open())
        try await connection(1, listener).end(1012, "back at noon")
        try await connection(2, listener).end(4401, "plan\nexpired")
        let error = try await #require(throws: NetworkError.self) { try await listener.end() }
        #expect(error.detail.contains(#"code 4401, "plan\u{A}expired""#))
        let frame = try #require(error.underlying as? WebSocketCloseFrame)
        #expect(frame.code == WebSocketCloseCode(4401) && frame.reason == "plan\nexpired")
        #expect(listener.sequence.closeFrame == frame)
        let links = listener.elements.compactMap { if case .connected(let link) = $0 { link } else { nil } }
        #expect(links.map(\.previousClose?.reason) == [nil, "back at noon"])
        try await waitUntil { records.records.count == 2 }
        #expect(records.records[1].decisions.last?.fields["closeReason"] == #"plan\u{A}expired"#)
    }

    @Test func lossHasNoCloseFrame() async throws {
        let listener = Listener(open())
        try await connection(1, listener).end(1012, "back at noon")
        try await connection(2, listener).lose()
        _ = try await connection(3, listener)
        try await waitUntil { listener.elements.count == 3 }
        #expect(
            listener.elements.last
                == .connected(
                    WebSocketLink(
                        number: 3, subprotocol: "v1", extensions: nil, previousClose: nil)))
        listener.cancel()
        try? await listener.end()
    }

    @Test func codesOfTheAppMayReconnect() async throws {
        let listener = Listener(open { $0.reconnectingCodes = [WebSocketCloseCode(4000)] })
        try await connection(1, listener).end(4000)
        try await connection(2, listener).end(1012)
        await #expect(throws: NetworkError.self) { try await listener.end() }
    }

    @Test func refusalEndsAndOverloadWaits() async throws {
        sockets.refuse(.serviceUnavailable)
        sockets.refuse(.forbidden)
        let (listener, limit) = (Listener(open()), waitLimit)
        try await waitUntil {
            sockets.requests.count == 2
        } meanwhile: {
            clock.advanceToDeadline(upTo: limit)
        }
        let error = try await #require(throws: NetworkError.self) { try await listener.end() }
        #expect(error.kind == .refused && error.status == .forbidden)
        #expect(sockets.requests.count == 2)
    }

    @Test func pageOfAPortalIsRetried() async throws {
        sockets.refuse(.ok, type: "text/html; charset=utf-8")
        let listener = Listener(open { $0.reconnection.untrustedBackoff = .seconds(5) })
        _ = try await connection(1, listener)
        #expect(clock.now.offset >= .seconds(5) && sockets.requests.count == 2)
        let error = try #require(try await records.records(count: 1).first?.outcome.error)
        #expect(error.kind == .invalidResponse && error.detail.contains("text/html"))
        listener.cancel()
        try? await listener.end()
    }

    @Test func otherResponseEndsAndNamesItsStatus() async throws {
        sockets.refuse(.ok)
        let error = try await #require(throws: NetworkError.self) { try await Listener(open()).end() }
        #expect(error.kind == .invalidResponse && error.status == .ok)
        #expect(error.detail.contains("status 200") && sockets.requests.count == 1)
    }

    @Test func silentServerIsPingedAndThenReplaced() async throws {
        let listener = Listener(open())
        let first = try await connection(1, listener)
        let limit = clock.now.advanced(by: .seconds(40))
        try await waitUntil {
            first.pingCount == 1
        } meanwhile: {
            clock.advanceToDeadline(upTo: limit)
        }
        #expect(first.status.silence >= .seconds(30))
        try await waitUntil {
            !first.errors.isEmpty
        } meanwhile: {
            clock.advanceToDeadline(upTo: limit)
        }
        #expect(first.errors.first?.kind == .noNetwork)
        _ = try await connection(2, listener)
        listener.cancel()
        try? await listener.end()
    }

    @Test func pongKeepsTheConnectionOpen() async throws {
        let chat = open()
        let listener = Listener(chat)
        let connection = try await connection(1, listener)
        connection.respondToPings()
        for count in 1...5 {
            let limit = clock.now.advanced(by: .seconds(40))
            try await waitUntil {
                connection.pingCount >= count
            } meanwhile: {
                clock.advanceToDeadline(upTo: limit)
            }
        }
        #expect(sockets.connections.count == 1)
        #expect(connection.errors.isEmpty)
        listener.cancel()
        try? await listener.end()
    }

    @Test func pongCountsWhenTheDriverIsPreempted() async throws {
        let listener = Listener(open())
        let connection = try await connection(1, listener)
        connection.respondToPings()
        for count in 1...2 {
            try await waitUntil("ping \(count)") {
                connection.pingCount >= count || !connection.errors.isEmpty
            } meanwhile: {
                clock.advanceToDeadline(upTo: clock.now.advanced(by: .seconds(40)))
            }
            connection.delayStatus(by: .seconds(1))
        }
        #expect(connection.pingCount >= 2)
        #expect(connection.errors.isEmpty)
        listener.cancel()
        try? await listener.end()
    }

    @Test func pausedWebSocketOpensWhenResumed() async throws {
        let chat = open()
        let listener = Listener(chat)
        let first = try await connection(1, listener)
        chat.pause()
        try await waitUntil { chat.state == .paused }
        #expect(first.closes.first == WebSocketClose(1001))
        let error = try await #require(throws: NetworkError.self) { try await chat.send(.text("nobody")) }
        #expect(error.kind == .noNetwork && error.sending == .notSent)
        chat.resume()
        _ = try await connection(2, listener)
        listener.cancel()
        try? await listener.end()
    }

    @Test func socketPausedBeforeItsStartOpensNoConnection() async throws {
        let chat = open()
        chat.pause()
        let listener = Listener(chat)
        try await waitUntil { chat.state == .paused }
        chat.resume()
        try await connection(1, listener).end(1000)
        try await listener.end()
        // An attempt that the pause ended would have a record of its own.
        try await waitUntil { records.records.contains { $0.outcome.kind == .succeeded } }
        #expect(records.records.count == 1)
    }

    @Test func everyConnectionHasItsRecord() async throws {
        let listener = Listener(open())
        try await connection(1, listener).lose()
        try await connection(2, listener).end(1000)
        try await listener.end()
        try await waitUntil { records.records.count == 2 }
        for record in records.records {
            let names = record.decisions.map(\.name)
            #expect(names.contains("webSocketOpened") && names.last == "webSocketEnded")
            #expect(record.attempts.first?.status == .switchingProtocols)
        }
        #expect(records.records[1].outcome.kind == .succeeded)
        #expect(records.records[1].decisions.last?.fields["closeCode"] == "1000")
    }

    @Test func cancelledReaderClosesTheConnection() async throws {
        let listener = Listener(open())
        let connection = try await connection(1, listener)
        listener.cancel()
        try? await listener.end()
        try await waitUntil { !connection.closes.isEmpty }
        #expect(connection.closes.first == WebSocketClose(1001))
    }

    @Test func secondIterationEndsAtOnce() async throws {
        let chat = open()
        let listener = Listener(chat)
        _ = try await connection(1, listener)
        var second = chat.makeAsyncIterator()
        #expect(try await second.next() == nil)
        listener.cancel()
        try? await listener.end()
    }
}
