import HTTPTypes
import NIOHPACK
import Runway
import RunwayTesting
import Synchronization
import Testing

@testable import RunwayTransport

/// WebSockets on streams of an HTTP/2 connection (RFC 8441).
@Suite(.timeLimit(.minutes(10)))
struct WebSocketStreamTests {
    /// A server that announces extended CONNECT and responds to requests. `onTunnel` is called for each frame of a stream that a
    /// CONNECT opened, the CONNECT included.
    private static func script(
        settings: [Int: Int] = [8: 1], _ onTunnel: @escaping RawHTTP2Server.Script = accept
    ) -> RawHTTP2Server.Script {
        { connection, frame in
            guard let frame else { return connection.write(.settings(settings)) }
            if frame.is(.settings), frame.flags & RawFrame.ack == 0 { connection.write(.settingsAck) }
            if frame.is(.ping), frame.flags & RawFrame.ack == 0 {
                connection.write(RawFrame(.ping, flags: RawFrame.ack, frame.payload))
            }
            guard let head = connection.heads[frame.stream] else { return }
            if head.first(name: ":method") == "CONNECT" { return onTunnel(connection, frame) }
            if frame.is(.headers) { connection.write(.headers(frame.stream), .data(frame.stream, "response")) }
        }
    }

    /// Opens every WebSocket, and confirms its close frame.
    private static let accept: RawHTTP2Server.Script = { connection, frame in
        guard let frame else { return }
        if frame.is(.headers) { connection.write(.headers(frame.stream)) }
        // The head of a masked frame with two bytes, which may come alone.
        if frame.is(.data), frame.payload.count >= 6, frame.payload.starts(with: [0x88, 0x82]) {
            connection.write(RawFrame(.data, flags: RawFrame.endStream, stream: frame.stream, [0x88, 2, 3, 232]))
        }
    }

    /// Opens a WebSocket beside a call that opened the shared connection.
    private func open(
        _ network: NetworkLayer, headers: [String: String] = [:], _ change: (inout WebSocketOffer) -> Void = { _ in }
    ) async throws -> WebSocketFlight {
        _ = try await network.call(Fetch<GET>("a"))
        return try await network.openChat(offering: change, headers: headers)
    }

    /// The frames of a kind on the stream of the WebSocket.
    private static func frames(_ kind: RawFrame.Kind, _ server: RawHTTP2Server) -> [RawFrame] {
        server.frames().filter { $0.is(kind) && $0.stream == 3 }
    }

    /// The bytes that the client sent on the stream of the WebSocket.
    private static func bytes(_ server: RawHTTP2Server) -> [UInt8] { frames(.data, server).flatMap(\.payload) }

    @Test func handshakeIsAnExtendedConnect() async throws {
        let heads = Heads()
        try await RawHTTP2Server.run(
            Self.script { connection, frame in
                if let frame, frame.is(.headers) { heads.note(connection.heads[frame.stream]) }
                Self.accept(connection, frame)
            }
        ) { server in
            let records = RecordCollector()
            let network = try server.layer(sinks: [records])
            let chat = try await open(network, headers: ["X-Own": "1", "Sec-WebSocket-Key": "mine", "Upgrade": "h2c"]) {
                $0.subprotocols = ["v1"]
            }
            #expect(chat.response.status == .ok)
            let head = try #require(heads.first)
            for (name, value) in [
                (":method", "CONNECT"), (":protocol", "websocket"), (":scheme", "https"), (":path", "/chat"),
                (":authority", "localhost:\(server.port)"), ("sec-websocket-version", "13"), ("x-own", "1"),
                ("sec-websocket-protocol", "v1"),
                ("sec-websocket-extensions", "permessage-deflate; client_max_window_bits"),
            ] {
                #expect(head[name] == [value], "\(name)")
            }
            for name in ["connection", "upgrade", "sec-websocket-key", "content-length", "host"] {
                #expect(head[name].isEmpty, "\(name)")
            }
            chat.connection.close(WebSocketClose(1000))
            #expect(try await chat.next() == nil)
            #expect(server.connectionCount == 1)
            await network.flushRecords()
            let record = try #require(records.records.last)
            #expect(record.attempts.map(\.httpVersion) == ["HTTP/2"])
            #expect(record.attempts[0].wire?.isReused == true && record.attempts[0].wire?.address != nil)
            #expect(record.decisions.last?.name == "webSocketEnded")
        }
    }

    @Test func messagesGoBothWaysInData() async throws {
        try await RawHTTP2Server.run(
            Self.script { connection, frame in
                Self.accept(connection, frame)
                guard let frame, frame.is(.headers) else { return }
                // A message in two frames of WebSocket and three of HTTP/2.
                for part in [[0x01, 1, 0x68], [0x80], [1, 0x69]] as [[UInt8]] {
                    connection.write(RawFrame(.data, stream: frame.stream, part))
                }
            }
        ) { server in
            let chat = try await open(try server.layer())
            #expect(try await chat.next() == .text("hi"))
            try await chat.connection.send(.text("ho"))
            await server.wait { Self.bytes($0).count == 8 }
            let frame = Self.bytes(server)
            // Masked, of 2 bytes.
            #expect(frame.starts(with: [0x81, 0x82]))
            #expect(zip(frame[6...], frame[2...]).map { $0 ^ $1 } == Array("ho".utf8))
            // Closed in order by both sides: no reset.
            chat.connection.close(WebSocketClose(1000))
            #expect(try await chat.next() == nil)
            await server.wait { Self.frames(.data, $0).last?.flags == RawFrame.endStream }
            #expect(Self.frames(.reset, server).isEmpty)
        }
    }

    @Test(arguments: [[:], [8: 0]])
    func serverWithoutTheSettingGetsAConnection(settings: [Int: Int]) async throws {
        try await RawHTTP2Server.run(Self.script(settings: settings)) { server in
            let network = try server.layer()
            let opening = Task { try await open(network) }
            // It does not speak HTTP/1.1, so nothing comes of the second connection.
            await server.wait { $0.connectionCount == 2 }
            opening.cancel()
            await #expect(throws: NetworkError.self) { try await opening.value }
            #expect(server.requests.count == 1)
        }
    }

    @Test(arguments: ["Signature-Input", "DPoP", "Runway-Digest"])
    func proofOfTheMethodGetsAConnection(field: String) async throws {
        try await RawHTTP2Server.run(Self.script()) { server in
            let network = try server.layer()
            let opening = Task { try await open(network, headers: [field: "a"]) }
            await server.wait { $0.connectionCount == 2 }
            opening.cancel()
            await #expect(throws: NetworkError.self) { try await opening.value }
            #expect(server.requests.count == 1)
        }
    }

    @Test func refusalFailsTheCallAndLeavesTheConnection() async throws {
        try await RawHTTP2Server.run(
            Self.script { connection, frame in
                guard let frame, frame.is(.headers) else { return }
                let block = rawBlock([(":status", "403"), ("content-length", "4")])
                connection.write(.headers(frame.stream, block), .data(frame.stream, "no.."))
            }
        ) { server in
            let network = try server.layer()
            let error = try await #require(throws: NetworkError.self) { try await open(network) }
            #expect(error.kind == .refused && error.status == .forbidden)
            _ = try await network.call(Fetch<GET>("b"))
            #expect(server.connectionCount == 1)
        }
    }

    @Test(arguments: [
        [("sec-websocket-extensions", "x-zip")], [("sec-websocket-protocol", "other")],
    ])
    func responseThatWasNotOfferedResetsTheStream(_ fields: [(String, String)]) async throws {
        try await RawHTTP2Server.run(
            Self.script { connection, frame in
                guard let frame, frame.is(.headers) else { return }
                connection.write(.headers(frame.stream, rawBlock([(":status", "200")] + fields)))
            }
        ) { server in
            let network = try server.layer()
            let error = try await #require(throws: NetworkError.self) { try await open(network) }
            #expect(error.kind == .invalidResponse && error.detail.contains("opens no WebSocket"))
            await server.wait { Self.frames(.reset, $0).count == 1 }
            #expect(Self.frames(.reset, server)[0].number == 8)
        }
    }

    /// How a server ends the stream of an open WebSocket, and the kind of error that follows; `nil` for an end in order.
    enum Ending: CaseIterable {
        case endOfStream, reset, closeFrame, brokenHead, connection, violation

        var kind: NetworkError.Kind? {
            switch self {
            case .closeFrame: nil
            case .brokenHead: .invalidResponse
            default: .noNetwork
            }
        }

        func perform(on connection: RawConnection, _ stream: Int) {
            let end = RawFrame.endStream
            switch self {
            case .endOfStream: connection.write(RawFrame(.data, flags: end, stream: stream))
            case .reset: connection.write(.reset(stream, 8))
            case .closeFrame: connection.write(RawFrame(.data, flags: end, stream: stream, [0x88, 2, 3, 233]))
            case .brokenHead: connection.write(.headers(stream, rawBlock([("Bad Name", "1")]), isLast: true))
            case .connection: connection.close()
            // The settings of the connection enable push, which is no fault of the stream.
            case .violation: connection.write(.settings([2: 1]))
            }
        }
    }

    @Test(arguments: Ending.allCases)
    func endOfTheStreamEndsTheWebSocket(_ ending: Ending) async throws {
        try await RawHTTP2Server.run(
            Self.script { connection, frame in
                guard let frame, frame.is(.headers) else { return }
                connection.write(.headers(frame.stream), RawFrame(.data, stream: frame.stream, [0x81, 1, 0x61]))
                ending.perform(on: connection, frame.stream)
            }
        ) { server in
            let network = try server.layer()
            // The end of a connection may overtake what was read before it.
            guard let chat = try? await open(network) else {
                #expect(ending == .connection)
                return
            }
            var end: NetworkError?
            do throws(NetworkError) {
                while try await chat.next() != nil {}
            } catch { end = error }
            #expect(end?.kind == ending.kind, "\(String(describing: end))")
            await #expect(throws: NetworkError.self) { try await chat.connection.send(.text("late")) }
            if ending == .connection || ending == .violation { return }
            _ = try await network.call(Fetch<GET>("b"))
            #expect(server.connectionCount == 1)
        }
    }

    @Test func serverThatNeverClosesIsResetInTime() async throws {
        try await RawHTTP2Server.run(
            Self.script { connection, frame in
                if let frame, frame.is(.headers) { connection.write(.headers(frame.stream)) }
            }
        ) { server in
            let chat = try await open(try server.layer()) { $0.closeTimeout = .milliseconds(50) }
            chat.connection.close(WebSocketClose(1000))
            let error = try await #require(throws: NetworkError.self) { _ = try await chat.next() }
            #expect(error.kind == .timedOut)
            await server.wait { Self.frames(.reset, $0).count == 1 }
            #expect(Self.frames(.reset, server)[0].number == 8)
        }
    }

    @Test func cancelledHandshakeResetsTheStreamAlone() async throws {
        try await RawHTTP2Server.run(Self.script { _, _ in }) { server in
            let network = try server.layer()
            let opening = Task { try await open(network) }
            await server.wait { $0.requests.count == 2 }
            opening.cancel()
            let error = try await #require(throws: NetworkError.self) { try await opening.value }
            #expect(error.kind == .cancelled)
            await server.wait { Self.frames(.reset, $0).count == 1 }
            _ = try await network.call(Fetch<GET>("b"))
            #expect(server.connectionCount == 1)
        }
    }

    @Test(arguments: [RawFrame.goAway(last: 1), .reset(3, 7)])
    func unprocessedHandshakeMovesToAnotherConnection(_ refusal: RawFrame) async throws {
        try await RawHTTP2Server.run(
            Self.script { connection, frame in
                if let frame, frame.is(.headers) { connection.write(refusal) }
            }
        ) { server in
            let network = try server.layer()
            let opening = Task { try await open(network) }
            await server.wait { $0.connectionCount == 2 }
            opening.cancel()
            await #expect(throws: NetworkError.self) { try await opening.value }
        }
    }

    @Test func slowReaderClosesTheWindowOfTheStream() async throws {
        let progress = Progress(left: 40, window: 65_535)
        try await RawHTTP2Server.run(Self.script(Self.sender(progress))) { server in
            var wire = WireSettings()
            wire.streamWindowByteCount = 65_535
            let network = try server.layer(wire)
            let chat = try await open(network) { $0.maximumUnreadByteCount = 10_000 }
            try await waitUntil { chat.connection.status.isHeldBack }
            // A call beside it is not held back.
            _ = try await network.call(Fetch<GET>("b"))
            // What fills the window, since it is not opened again before a read.
            #expect(progress.left == 36)
            for _ in 0..<40 { #expect(try await chat.next()?.byteCount == 16_000) }
            #expect(!Self.frames(.windowUpdate, server).isEmpty)
        }
    }

    /// Sends messages of 16,000 bytes within the window of the stream, as the client opens it again.
    private static func sender(_ progress: Progress) -> RawHTTP2Server.Script {
        { connection, frame in
            guard let frame else { return }
            if frame.is(.headers) { connection.write(.headers(frame.stream)) }
            let isUpdate = frame.is(.windowUpdate)
            for _ in 0..<progress.messages(isUpdate ? frame.number : 0) {
                let message = [0x82, 126, 0x3E, 0x80] + [UInt8](repeating: 1, count: 16_000)
                connection.write(RawFrame(.data, stream: 3, message))
            }
        }
    }

    @Test func largeMessageWaitsForTheServersWindow() async throws {
        try await RawHTTP2Server.run(
            Self.script { connection, frame in
                Self.accept(connection, frame)
                guard let frame, frame.is(.data), !frame.payload.isEmpty else { return }
                let credit = RawFrame.number(frame.payload.count)
                connection.write(RawFrame(.windowUpdate, credit), RawFrame(.windowUpdate, stream: 3, credit))
            }
        ) { server in
            let chat = try await open(try server.layer()) { $0.deflate = nil }
            try await chat.connection.send(.binary([UInt8](repeating: 7, count: 300_000)))
            await server.wait { Self.bytes($0).count == 300_000 + 14 }
            try await chat.connection.send(.text("after"))
        }
    }

    @Test func shutdownClosesTheStreamInOrder() async throws {
        try await RawHTTP2Server.run(Self.script()) { server in
            let transport = try NIOTransport(configuration: server.configuration())
            let chat = try await open(NetworkLayer(to: server.baseURL, over: transport))
            await transport.shutdown(waitingAtMost: .seconds(300))
            #expect(try await chat.next() == nil)
            #expect(Self.frames(.reset, server).isEmpty)
        }
    }
}

/// The heads of requests, for the test to read.
private final class Heads: Sendable {
    private let heads = Mutex<[HPACKHeaders]>([])
    var first: HPACKHeaders? { heads.withLock { $0.first } }
    func note(_ head: HPACKHeaders?) { heads.withLock { $0 += [head].compactMap(\.self) } }
}

/// How far a sender of messages is.
private final class Progress: Sendable {
    private let state: Mutex<(left: Int, window: Int)>
    var left: Int { state.withLock { $0.left } }

    init(left: Int, window: Int) { state = Mutex((left, window)) }

    /// How many messages may be sent after the window grew.
    func messages(_ credit: Int) -> Int {
        state.withLock { state in
            state.window += credit
            let count = min(state.left, state.window / 16_004)
            state.left -= count
            state.window -= count * 16_004
            return count
        }
    }
}
