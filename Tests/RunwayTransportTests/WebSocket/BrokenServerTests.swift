import NIOWebSocket
import Runway
import RunwayTesting
import Testing

@testable import RunwayTransport

/// Servers that break the rules on a real socket: one clear outcome each, and the code that the server is sent.
struct BrokenServerTests {
    struct Case: Sendable, CustomTestStringConvertible {
        var name: String
        var bytes: [UInt8]
        var code: UInt16
        var extensions: String?

        var testDescription: String { name }
    }

    static let cases: [Case] = [
        Case(name: "masked text", bytes: [0x81, 0x81, 1, 2, 3, 4, 0x41], code: 1002),
        Case(name: "masked close", bytes: [0x88, 0x82, 0, 0, 0, 0, 3, 232], code: 1002),
        Case(name: "reserved bit 1", bytes: [0xC1, 1, 0x41], code: 1002),
        Case(name: "reserved bit 2", bytes: [0xA1, 1, 0x41], code: 1002),
        Case(name: "reserved bit 3", bytes: [0x91, 1, 0x41], code: 1002),
        Case(name: "reserved data type", bytes: [0x83, 0], code: 1002),
        Case(name: "reserved control type", bytes: [0x8B, 0], code: 1002),
        Case(name: "fragmented ping", bytes: [0x09, 0], code: 1002),
        Case(name: "fragmented close", bytes: [0x08, 2, 3, 232], code: 1002),
        Case(name: "ping of 126 bytes", bytes: [0x89, 126, 0, 126] + [UInt8](repeating: 0, count: 126), code: 1002),
        Case(name: "continuation of nothing", bytes: [0x80, 1, 0x41], code: 1002),
        Case(name: "message within a message", bytes: [0x01, 1, 0x41, 0x81, 1, 0x42], code: 1002),
        Case(name: "half a close code", bytes: [0x88, 1, 3], code: 1002),
        Case(name: "close code 1005", bytes: [0x88, 2, 3, 237], code: 1002),
        Case(name: "close reason not UTF-8", bytes: [0x88, 3, 3, 232, 0xFF], code: 1007),
        Case(name: "text not UTF-8", bytes: [0x81, 2, 0xC0, 0x80], code: 1007),
        Case(name: "text not UTF-8 before its end", bytes: [0x01, 1, 0xFF], code: 1007),
        Case(name: "text cut in a character", bytes: [0x01, 1, 0xC3, 0x80, 0], code: 1007),
        Case(name: "frame of 8 EiB", bytes: [0x82, 127, 0x7F] + [UInt8](repeating: 0xFF, count: 7), code: 1009),
        Case(name: "frame of a negative length", bytes: [0x82, 127] + [UInt8](repeating: 0xFF, count: 8), code: 1009),
        Case(
            name: "message beyond the limit",
            bytes: [0x02, 126, 3, 232] + [UInt8](repeating: 0, count: 1000) + [0x80, 1, 0], code: 1009),
        Case(
            name: "compressed message that is broken", bytes: [0xC2, 2, 0xFF, 0xFF], code: 1007,
            extensions: "permessage-deflate"),
        Case(
            name: "compressed control frame", bytes: [0xC9, 0], code: 1002, extensions: "permessage-deflate"),
    ]

    @Test(arguments: cases)
    func ruleIsEnforced(_ broken: Case) async throws {
        var script = WebSocketPeer.Script(first: broken.bytes)
        if let extensions = broken.extensions {
            script.responses = [
                "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: %\r\n"
                    + "Sec-WebSocket-Extensions: \(extensions)\r\n\r\n"
            ]
        }
        try await withWebSocketPeer(script) { peer in
            let chat = try await NetworkLayer(toPort: peer.port).openChat { $0.maximumMessageByteCount = 1000 }
            let error = try await #require(throws: NetworkError.self) {
                while try await chat.connection.next() != nil {}
            }
            #expect(error.kind == .invalidResponse)
            let frame = try #require(await peer.frames.next())
            #expect(frame.opcode == .connectionClose)
            #expect(frame.isMasked)
            #expect(frame.payload.prefix(2) == [UInt8(broken.code >> 8), UInt8(broken.code & 0xFF)])
            // A connection that failed sends nothing more.
            await #expect(throws: NetworkError.self) { try await chat.connection.send(.text("late")) }
        }
    }

    @Test func bombIsRefusedBeforeItIsInflated() async throws {
        let deflater = try #require(MessageDeflater(windowBits: 15, resetsContext: true))
        let bomb = deflater.compress([UInt8](repeating: 0, count: 32 << 20))
        let length = [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: bomb.count >> $0) }
        let response =
            "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: %\r\n"
            + "Sec-WebSocket-Extensions: permessage-deflate\r\n\r\n"
        let script = WebSocketPeer.Script(responses: [response], first: [0xC2, 127, 0, 0, 0, 0] + length + bomb)
        try await withWebSocketPeer(script) { peer in
            let chat = try await NetworkLayer(toPort: peer.port).openChat { $0.maximumMessageByteCount = 1 << 20 }
            let error = try await #require(throws: NetworkError.self) { _ = try await chat.connection.next() }
            #expect(error.kind == .invalidResponse)
            #expect(await peer.frames.next()?.payload.prefix(2) == [3, 241])
        }
    }

    @Test func responsesToEndlessPingsAreBounded() async throws {
        // Pings without end from a server that reads nothing: only the newest gets a response when there is room again.
        let ping: [UInt8] = [0x89, 125] + [UInt8](repeating: 0x70, count: 125)
        let burst = [UInt8]((0..<8192).map { _ in ping }.joined())
        try await withWebSocketPeer { peer in
            let chat = try await NetworkLayer(toPort: peer.port).openChat()
            for _ in 0..<8 { try await peer.send(burst) }
            try await peer.send([0x81, 1, 0x61])
            #expect(try await chat.next() == .text("a"))
            #expect(chat.connection.status.receivedByteCount == Int64(8 * burst.count + 3))
        }
    }
}
