import AppleFoundation
import HTTPTypes
import RunwayTesting
import Security
import Testing

@testable import Runway
@testable import TransportSuites

/// WebSockets over the system's tasks.
@Suite(.timeLimit(.minutes(5)))
struct WebSocketTests {
    /// Opens a WebSocket to a fake host.
    private func open(
        sinks: [any EventSink] = [], headers: [String: String] = [:],
        offering change: (inout WebSocketOffer) -> Void = { _ in }, _ host: @escaping FakeNetwork.Host
    ) async throws -> WebSocketFlight {
        var offer = WebSocketOffer()
        change(&offer)
        return try await layer(sinks: sinks, host).openWebSocket(
            Get(headers: headers), offering: offer, options: .standard)
    }

    /// Opens every WebSocket, and confirms the client's close frame.
    private static let echo: FakeNetwork.Host = { exchange in
        exchange.open()
        for await event in exchange.events {
            switch event {
            case .message(let message): exchange.push(message)
            case .ping(let pong): pong(nil)
            case .close(let code, _): return await exchange.close(code)
            case .end: return
            }
        }
    }

    @Test func handshakeLeavesToTheSystemWhatIsItsOwn() async throws {
        let seen = Seen<URLRequest>()
        let sizes = Seen<Int>()
        let chat = try await open(headers: ["X-Own": "1", "Upgrade": "h2c", "Sec-WebSocket-Key": "mine"]) {
            $0.subprotocols = ["v1", "v2"]
            $0.maximumMessageByteCount = 5000
        } _: { exchange in
            seen.note(exchange.request)
            sizes.note(exchange.maximumMessageSize)
            exchange.open("v2")
        }
        #expect(chat.response.status.code == 101 && chat.connection.agreement.subprotocol == "v2")
        #expect(chat.connection.agreement.extensions == nil)
        let request = try #require(seen.all.first)
        #expect(request.url?.scheme == "wss" && sizes.all == [5000])
        #expect(request.value(forHTTPHeaderField: "X-Own") == "1")
        #expect(request.value(forHTTPHeaderField: "Sec-WebSocket-Protocol") == "v1, v2")
        for name in ["Upgrade", "Connection", "Sec-WebSocket-Key", "Sec-WebSocket-Version", "Sec-WebSocket-Extensions"] {
            #expect(request.value(forHTTPHeaderField: name) == nil, "\(name)")
        }
    }

    @Test func messagesComeBackInOrder() async throws {
        let chat = try await open(Self.echo)
        for round in 0..<20 {
            let payload: WebSocketPayload = round % 2 == 0 ? .text("é \(round)") : .binary([UInt8](repeating: 1, count: round))
            try await chat.connection.send(payload)
            #expect(try await chat.next() == payload)
        }
        #expect(chat.connection.status.receivedMessageCount == 20 && chat.connection.status.sentMessageCount == 20)
        chat.connection.close(WebSocketClose(1000))
        #expect(try await chat.next() == nil)
        await #expect(throws: NetworkError.self) { try await chat.connection.send(.text("late")) }
    }

    @Test func closeFrameOfTheServerEndsInOrder() async throws {
        let chat = try await open { exchange in
            exchange.open()
            exchange.push(.string("last"))
            await exchange.close(4001, "enough")
        }
        #expect(try await chat.next() == .text("last"))
        #expect(try await chat.next() == nil)
        #expect(chat.connection.status.received == WebSocketClose(4001, "enough"))
    }

    @Test func lostConnectionIsAnError() async throws {
        let chat = try await open { exchange in
            exchange.open()
            await exchange.lose()
        }
        let error = try await #require(throws: NetworkError.self) { _ = try await chat.next() }
        #expect(error.kind == .noNetwork)
    }

    @Test(arguments: [401, 302])
    func refusalIsTheErrorOfTheCall(status: Int) async throws {
        let error = try await #require(throws: NetworkError.self) {
            try await open { await $0.refuse(status, ["Location": ""]) }
        }
        #expect(error.status?.code == status)
    }

    @Test func serverWithoutAPinnedKeyIsRefused() async throws {
        let root = try TestAuthority()
        let chain = try root.server().chainDER + [root.der]
        let pins = try ["a", "b"].map { try PublicKeyPin(certificatePEM: TestAuthority($0).pem).description }
        let name = "\(UUID().uuidString.lowercased()).test"
        FakeNetwork.serve(name) { exchange in
            let space = URLProtectionSpace(
                fakeHost: name, method: NSURLAuthenticationMethodServerTrust,
                trust: SecTrust(fakeOf: chain, verified: chain))
            guard await exchange.challenge(space) == .cancelAuthenticationChallenge else { return exchange.open() }
            // What the session reports of a challenge that was cancelled.
            await exchange.complete(URLError(.cancelled))
        }
        let network = NetworkLayer(
            transport: try URLSessionTransport(pins: [PublicKeyPins(host: name, pins: pins)]),
            limits: LayerLimits(admission: .none, retrying: .none), status: SettableNetworkStatus())
        network.configure(FakeService.self) { $0.baseURLs = [.release: "https://\(name)"] }
        let error = try await #require(throws: NetworkError.self) {
            _ = try await network.openWebSocket(Get(), offering: WebSocketOffer(), options: .standard)
        }
        #expect(error.kind == .notTrusted && error.detail.contains(HostPins.refusal), "\(error)")
    }

    @Test func subprotocolThatWasNotOfferedIsRefused() async throws {
        let error = try await #require(throws: NetworkError.self) { try await open { $0.open("other") } }
        #expect(error.kind == .invalidResponse)
    }

    @Test func largeMessageEndsTheWebSocket() async throws {
        let closes = Seen<Int>()
        let chat = try await open { $0.maximumMessageByteCount = 10 } _: { exchange in
            exchange.open()
            exchange.push(.string("longer than that"))
            for await case .close(let code, _) in exchange.events {
                closes.note(code)
                return await exchange.complete(URLError(.networkConnectionLost))
            }
        }
        let error = try await #require(throws: NetworkError.self) { _ = try await chat.next() }
        #expect(error.kind == .invalidResponse && error.detail.contains("10 bytes"))
        #expect(closes.all == [1009])
    }

    @Test func pongCountsAsReceivedBytes() async throws {
        let chat = try await open(Self.echo)
        chat.connection.ping()
        try await waitUntil("the pong came") { chat.connection.status.receivedByteCount > 0 }
    }

    @Test func nothingIsReceivedBeforeARead() async throws {
        let chat = try await open(Self.echo)
        #expect(chat.connection.status.isHeldBack)
        let reading = Task { try await chat.connection.next() }
        try await waitUntil("it is read") { !chat.connection.status.isHeldBack }
        // The message that comes after the reader has left is that of the next one.
        reading.cancel()
        let error = try await #require(throws: NetworkError.self) { _ = try await reading.value }
        #expect(error.kind == .cancelled)
        try await chat.connection.send(.text("a"))
        #expect(try await chat.next() == .text("a"))
    }

    @Test func serverThatNeverClosesIsCutInTime() async throws {
        let chat = try await open { $0.closeTimeout = .milliseconds(20) } _: { $0.open() }
        chat.connection.close(WebSocketClose(1000))
        let error = try await #require(throws: NetworkError.self) { _ = try await chat.next() }
        #expect(error.kind == .timedOut)
    }

    @Test func releaseSendsACloseFrame() async throws {
        let closes = Seen<Int>()
        var chat: WebSocketFlight? = try await open { exchange in
            exchange.open()
            for await case .close(let code, _) in exchange.events {
                closes.note(code)
                return await exchange.close(code)
            }
        }
        #expect(chat?.connection.status.sent == nil)
        chat = nil
        try await waitUntil("it is closed") { closes.all == [1001] }
    }

    @Test func reasonIsCutBetweenCharacters() async throws {
        let reasons = Seen<[UInt8]>()
        let chat = try await open { exchange in
            exchange.open()
            for await case .close(let code, let reason) in exchange.events {
                reasons.note(Array(reason ?? Data()))
                return await exchange.close(code)
            }
        }
        chat.connection.close(WebSocketClose(1000, String(repeating: "é", count: 62)))
        #expect(try await chat.next() == nil)
        #expect(reasons.all == [Array(String(repeating: "é", count: 61).utf8)])
    }

    @Test func cancelledHandshakeCancelsItsTask() async throws {
        let seen = Seen<FakeExchange>()
        let opening = Task { try await open { seen.note($0) } }
        try await waitUntil("the task has begun") { seen.all.count == 1 }
        opening.cancel()
        let error = try await #require(throws: NetworkError.self) { _ = try await opening.value }
        #expect(error.kind == .cancelled)
        #expect(seen.all[0].isOver)
    }
}
