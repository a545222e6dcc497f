import HTTPTypes
import NIOCore
import NIOWebSocket
import Runway
import RunwayTesting
import Testing

@testable import RunwayTransport

/// A WebSocket of the test service.
struct Chat: Endpoint {
    static let service = TestService.self
    var path: EndpointPath { "chat" }
    var headers: [String: String] = [:]
    func encode(to encoder: any Encoder) {}
}

extension NetworkLayer {
    /// A layer whose WebSockets lead to this machine.
    convenience init(toPort port: Int, sinks: [any EventSink] = []) throws {
        self.init(
            to: "http://127.0.0.1:\(port)",
            over: try NIOTransport(configuration: TransportConfiguration(connectTimeout: .seconds(300))), sinks: sinks)
    }

    func openChat(
        offering change: (inout WebSocketOffer) -> Void = { _ in }, headers: [String: String] = [:]
    ) async throws -> WebSocketFlight {
        var offer = WebSocketOffer()
        // A busy server may take long to close.
        offer.closeTimeout = .seconds(60)
        change(&offer)
        return try await openWebSocket(Chat(headers: headers), offering: offer, options: .standard)
    }
}

extension AsyncStream {
    /// The next element, which has to come.
    func next() async -> Element? {
        for await element in self { return element }
        return nil
    }
}

struct WebSocketWireTests {
    @Test func handshakeSendsWhatTheStandardAsksFor() async throws {
        try await withWebSocketPeer { peer in
            let chat = try await NetworkLayer(toPort: peer.port).openChat(
                headers: ["X-Own": "1", "Sec-WebSocket-Key": "mine", "Upgrade": "h2c"])
            #expect(chat.response.status.code == 101)
            let lines = try #require(peer.requests.first).lowercased().split(separator: "\r\n").map(String.init)
            #expect(lines.first == "get /chat http/1.1")
            for line in [
                "host: 127.0.0.1:\(peer.port)", "upgrade: websocket", "connection: upgrade",
                "sec-websocket-version: 13",
                "x-own: 1", "sec-websocket-extensions: permessage-deflate; client_max_window_bits",
            ] {
                #expect(lines.count { $0 == line } == 1, "\(line)")
            }
            #expect(lines.count { $0.hasPrefix("sec-websocket-key: ") && $0.count == 43 } == 1)
            #expect(!lines.contains { $0.hasPrefix("content-length") || $0.hasPrefix("sec-websocket-protocol") })
            chat.close(WebSocketClose(1000))
        }
    }

    @Test func acceptanceIsThatOfTheStandard() {
        #expect(WebSocketHandshake.acceptance(of: "dGhlIHNhbXBsZSBub25jZQ==") == "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=")
    }

    @Test func everyFrameOfTheClientIsMasked() async throws {
        try await withWebSocketPeer { peer in
            let chat = try await NetworkLayer(toPort: peer.port).openChat()
            try await chat.connection.send(.text("grüße"))
            chat.connection.ping()
            try await chat.connection.send(.binary([UInt8](repeating: 7, count: 70_000)))
            chat.close(WebSocketClose(1000, "done"))
            var frames: [WebSocketPeer.Frame] = []
            for await frame in peer.frames {
                frames.append(frame)
                if frames.count == 4 { break }
            }
            #expect(frames.map(\.isMasked) == [true, true, true, true])
            #expect(frames.map(\.opcode) == [.text, .ping, .binary, .connectionClose])
            #expect(frames[0].payload == Array("grüße".utf8))
            #expect(frames[2].payload == [UInt8](repeating: 7, count: 70_000))
            #expect(frames[3].payload == [3, 232] + Array("done".utf8))
            _ = await peer.ends.next()
        }
    }

    @Test func framesReadWithTheResponseAreDelivered() async throws {
        try await withWebSocketPeer(.init(first: [0x81, 2, 0x68, 0x69, 0x89, 1, 7, 0x88, 5, 3, 232, 0x62, 0x79, 0x65]))
        { peer in
            let chat = try await NetworkLayer(toPort: peer.port).openChat()
            #expect(try await chat.next() == .text("hi"))
            #expect(try await chat.next() == nil)
            #expect(chat.connection.status.received == WebSocketClose(1000, "bye"))
            let pong = await peer.frames.next()
            #expect(pong == .init(opcode: .pong, payload: [7], isMasked: true, isCompressed: false))
        }
    }

    @Test func messagesMayComeByteByByte() async throws {
        try await withWebSocketPeer { peer in
            let chat = try await NetworkLayer(toPort: peer.port).openChat()
            for byte in [0x01, 1, 0xC3, 0x80, 1, 0xA9] as [UInt8] { try await peer.send([byte]) }
            #expect(try await chat.next() == .text("é"))
        }
    }

    @Test func refusalIsTheErrorOfTheCall() async throws {
        let response = "HTTP/1.1 403 Forbidden\r\nContent-Length: 4\r\n\r\nno.."
        try await withWebSocketPeer(.init(responses: [response])) { peer in
            let network = try NetworkLayer(toPort: peer.port)
            let error = try await #require(throws: NetworkError.self) { try await network.openChat() }
            #expect(error.kind == .refused)
            #expect(error.status == .forbidden)
        }
    }

    @Test func pageOfAPortalIsNoWebSocket() async throws {
        let response = "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 5\r\n\r\nLogin"
        try await withWebSocketPeer(.init(responses: [response])) { peer in
            let network = try NetworkLayer(toPort: peer.port)
            let error = try await #require(throws: NetworkError.self) { try await network.openChat() }
            #expect(error.kind == .invalidResponse && error.status == .ok)
            #expect(error.rawData?.text == "Login" && error.rawData?.response.headerFields[.contentType] == "text/html")
        }
    }

    @Test(arguments: [
        // Without the acceptance, with another, with a wrong upgrade, with what was not offered.
        "Upgrade: websocket\r\nConnection: Upgrade\r\n",
        "Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: c3RyYW5nZXI=\r\n",
        "Upgrade: h2c\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: %\r\n",
        "Upgrade: websocket\r\nSec-WebSocket-Accept: %\r\n",
        "Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: %\r\nSec-WebSocket-Accept: %\r\n",
        "Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: %\r\nSec-WebSocket-Protocol: chat\r\n",
        "Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: %\r\nSec-WebSocket-Extensions: x-zip\r\n",
    ])
    func invalidHandshakeIsRefused(_ fields: String) async throws {
        try await withWebSocketPeer(.init(responses: ["HTTP/1.1 101 Switching Protocols\r\n\(fields)\r\n"])) { peer in
            let network = try NetworkLayer(toPort: peer.port)
            let error = try await #require(throws: NetworkError.self) { try await network.openChat() }
            #expect(error.kind == .invalidResponse)
            #expect(error.detail.contains("opens no WebSocket"))
            _ = await peer.ends.next()
        }
    }

    @Test func subprotocolIsChosenByTheServer() async throws {
        let response =
            "HTTP/1.1 101 Switching Protocols\r\nUpgrade: WebSocket\r\nConnection: keep-alive, Upgrade\r\n"
            + "Sec-WebSocket-Accept: %\r\nSec-WebSocket-Protocol: v2\r\n\r\n"
        try await withWebSocketPeer(.init(responses: [response])) { peer in
            let chat = try await NetworkLayer(toPort: peer.port).openChat { $0.subprotocols = ["v1", "v2"] }
            #expect(chat.connection.agreement.subprotocol == "v2")
            #expect(try #require(peer.requests.first).lowercased().contains("sec-websocket-protocol: v1, v2\r\n"))
        }
    }

    @Test func slowReaderHoldsTheServerBack() async throws {
        try await withWebSocketPeer { peer in
            let chat = try await NetworkLayer(toPort: peer.port).openChat { $0.maximumUnreadByteCount = 10_000 }
            // Far more than the buffers of the system take.
            let frame: [UInt8] = [0x82, 126, 0x27, 0x10] + [UInt8](repeating: 1, count: 10_000)
            let count = 3000
            let sending = Task { for _ in 0..<count { try await peer.send(frame) } }
            // The first read may bring several messages.
            try await waitUntil { chat.connection.status.isHeldBack }
            let before = chat.connection.status.receivedByteCount
            #expect(before < 4 << 20)
            for _ in 0..<count { #expect(try await chat.next()?.byteCount == 10_000) }
            try await sending.value
            #expect(chat.connection.status.receivedMessageCount == count)
        }
    }

    @Test func lostConnectionIsAnErrorAfterItsMessages() async throws {
        try await withWebSocketPeer(.init(first: [0x81, 1, 0x61])) { peer in
            let chat = try await NetworkLayer(toPort: peer.port).openChat()
            try await peer.cut()
            #expect(try await chat.next() == .text("a"))
            let error = try await #require(throws: NetworkError.self) { _ = try await chat.next() }
            #expect(error.kind == .noNetwork)
            await #expect(throws: NetworkError.self) { try await chat.connection.send(.text("late")) }
        }
    }

    @Test func serverThatNeverClosesIsCutInTime() async throws {
        try await withWebSocketPeer(.init(closes: false)) { peer in
            let chat = try await NetworkLayer(toPort: peer.port).openChat { $0.closeTimeout = .milliseconds(50) }
            chat.connection.close(WebSocketClose(1000))
            let error = try await #require(throws: NetworkError.self) { _ = try await chat.next() }
            #expect(error.kind == .timedOut)
            _ = await peer.ends.next()
        }
    }

    @Test func releaseClosesTheConnection() async throws {
        try await withWebSocketPeer { peer in
            var chat: WebSocketFlight? = try await NetworkLayer(toPort: peer.port).openChat()
            #expect(chat?.connection.status.sent == nil)
            chat = nil
            #expect(await peer.frames.next()?.payload == [3, 233])
            _ = await peer.ends.next()
        }
    }

    @Test func shutdownClosesOpenConnections() async throws {
        try await withWebSocketPeer { peer in
            let transport = try NIOTransport(configuration: TransportConfiguration(connectTimeout: .seconds(300)))
            let network = NetworkLayer(to: "http://127.0.0.1:\(peer.port)", over: transport)
            let chat = try await network.openChat()
            await transport.shutdown(waitingAtMost: .seconds(300))
            #expect(try await chat.next() == nil)
            #expect(await peer.frames.next()?.payload == [3, 233])
            let error = try await #require(throws: NetworkError.self) { try await network.openChat() }
            #expect(error.kind == .noNetwork)
        }
    }

    @Test func silentServerIsAbandonedAfterANetworkChange() async throws {
        try await withWebSocketPeer { peer in
            var configuration = TransportConfiguration(connectTimeout: .seconds(300))
            configuration.wire.pingTimeout = .milliseconds(50)
            let transport = try NIOTransport(configuration: configuration)
            let chat = try await NetworkLayer(to: "http://127.0.0.1:\(peer.port)", over: transport).openChat()
            // The peer responds to no ping.
            transport.retireConnections()
            let error = try await #require(throws: NetworkError.self) { _ = try await chat.next() }
            #expect(error.kind == .noNetwork)
            #expect(error.detail.contains("PING"))
        }
    }

    @Test func recordHasTheHandshakeAndTheEnd() async throws {
        let records = RecordCollector()
        try await withWebSocketPeer(.init(first: [0x81, 1, 0x61, 0x88, 2, 3, 233])) { peer in
            let network = try NetworkLayer(toPort: peer.port, sinks: [records])
            let chat = try await network.openChat()
            while try await chat.next() != nil {}
            await network.flushRecords()
            let record = try #require(records.records.first)
            #expect(record.outcome.kind == .succeeded)
            #expect(record.attempts.count == 1)
            #expect(record.attempts[0].status?.code == 101)
            #expect(record.attempts[0].wire?.tcp != nil)
            let decisions = record.decisions.map(\.name)
            #expect(decisions.contains("webSocketOpened") && decisions.last == "webSocketEnded")
            #expect(record.decisions.last?.fields["closeCode"] == "1001")
            #expect(record.decisions.last?.fields["messagesIn"] == "1")
        }
    }

    @Test func cancelledReaderLeavesTheConnectionOpen() async throws {
        try await withWebSocketPeer { peer in
            let chat = try await NetworkLayer(toPort: peer.port).openChat()
            let connection = chat.connection
            let reading = Task { try await connection.next() }
            reading.cancel()
            let error = try await #require(throws: NetworkError.self) { _ = try await reading.value }
            #expect(error.kind == .cancelled)
            try await peer.send([0x81, 1, 0x61])
            #expect(try await connection.next() == .text("a"))
        }
    }

    @Test func cancelledHandshakeClosesItsConnection() async throws {
        try await withScriptedPeer(.init()) { peer in
            // The peer never responds, so the handshake waits until its task is cancelled.
            let network = try NetworkLayer(toPort: peer.port)
            let opening = Task { try await network.openChat() }
            try await waitUntil { !peer.received.isEmpty }
            opening.cancel()
            let error = try await #require(throws: NetworkError.self) { _ = try await opening.value }
            #expect(error.kind == .cancelled)
            try await waitUntil { peer.isAbandoned }
        }
    }
}
