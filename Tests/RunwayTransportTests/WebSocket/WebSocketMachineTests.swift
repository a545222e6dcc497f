import NIOCore
import NIOWebSocket
import Runway
import Testing

@testable import RunwayTransport

/// The rules of RFC 6455 §5 to §7, frame by frame.
struct WebSocketMachineTests {
    private typealias Action = WebSocketMachine.Action

    private static func frame(
        _ opcode: WebSocketOpcode, _ payload: [UInt8] = [], fin: Bool = true, rsv1: Bool = false, rsv2: Bool = false,
        rsv3: Bool = false, mask: WebSocketMaskingKey? = nil
    ) -> WebSocketFrame {
        var frame = WebSocketFrame(
            fin: fin, rsv1: rsv1, opcode: opcode, maskKey: mask, data: ByteBuffer(bytes: payload))
        frame.rsv2 = rsv2
        frame.rsv3 = rsv3
        return frame
    }

    /// A frame of a type that no standard defines.
    private static func unknown(_ type: UInt8) -> WebSocketFrame {
        frame(WebSocketOpcode(encodedWebSocketOpcode: type) ?? .text)
    }

    private static func text(_ text: String, fin: Bool = true) -> WebSocketFrame {
        frame(.text, Array(text.utf8), fin: fin)
    }

    private static func machine(_ maximumByteCount: Int = 100, inflater: MessageInflater? = nil) -> WebSocketMachine {
        WebSocketMachine(maximumMessageByteCount: maximumByteCount, inflater: inflater)
    }

    /// The code that the server is sent; `nil` if the actions fail nothing.
    private static func failure(_ actions: [Action]) -> UInt16? {
        guard actions.count == 3, case .sendClose(let close) = actions[0],
            case .end(.violation(let code, _)?) = actions[1],
            actions[2] == .awaitClose, close.code == code
        else { return nil }
        return code
    }

    @Test func deliversWholeMessages() {
        var machine = Self.machine()
        #expect(machine.receive(Self.text("é")) == [.deliver(.text("é"))])
        #expect(machine.receive(Self.frame(.binary, [0, 255])) == [.deliver(.binary([0, 255]))])
        #expect(machine.receive(Self.text("")) == [.deliver(.text(""))])
    }

    @Test func joinsFragmentsAroundControlFrames() {
        var machine = Self.machine()
        #expect(machine.receive(Self.text("on", fin: false)) == [])
        #expect(machine.receive(Self.frame(.ping, [1])) == [.pong(ByteBuffer(bytes: [1]))])
        #expect(machine.receive(Self.frame(.continuation, [], fin: false)) == [])
        #expect(machine.receive(Self.frame(.pong, [9])) == [])
        #expect(machine.receive(Self.frame(.continuation, Array("e".utf8))) == [.deliver(.text("one"))])
    }

    @Test func charactersMayBeCutByFragments() {
        var machine = Self.machine()
        let bytes = Array("𝄞".utf8)
        for byte in bytes.dropLast() {
            let opcode: WebSocketOpcode = byte == bytes[0] ? .text : .continuation
            #expect(machine.receive(Self.frame(opcode, [byte], fin: false)) == [])
        }
        #expect(machine.receive(Self.frame(.continuation, bytes.suffix(1))) == [.deliver(.text("𝄞"))])
    }

    private static let brokenFrames: [(WebSocketFrame, UInt16)] = [
        // RFC 6455 §5.1: the server does not mask.
        (frame(.text, [65], mask: [1, 2, 3, 4]), 1002), (frame(.ping, mask: [1, 2, 3, 4]), 1002),
        // §5.2: reserved bits without an extension, reserved types.
        (frame(.text, rsv1: true), 1002), (frame(.text, rsv2: true), 1002), (frame(.binary, rsv3: true), 1002),
        (frame(.ping, rsv1: true), 1002), (frame(.connectionClose, rsv1: true), 1002),
        (unknown(3), 1002),
        (unknown(7), 1002),
        (unknown(0xB), 1002),
        (unknown(0xF), 1002),
        // §5.4: a continuation of nothing.
        (frame(.continuation), 1002), (frame(.continuation, [65], fin: false), 1002),
        // §5.5: control frames are whole and small.
        (frame(.ping, fin: false), 1002), (frame(.pong, fin: false), 1002), (frame(.connectionClose, fin: false), 1002),
        (frame(.ping, [UInt8](repeating: 0, count: 126)), 1002),
        // §5.5.1: half a code, an invalid reason.
        (frame(.connectionClose, [3]), 1002), (frame(.connectionClose, [3, 232, 0xFF]), 1007),
        (frame(.connectionClose, [3, 232, 0xE2, 0x82]), 1007),
        // §8.1: text is UTF-8.
        (frame(.text, [0xC0, 0x80]), 1007), (frame(.text, [0xED, 0xA0, 0x80]), 1007),
        (frame(.text, [0xE2, 0x82]), 1007),
        (frame(.text, [0x41, 0xFF], fin: false), 1007),
        // The limit of the client.
        (frame(.binary, [UInt8](repeating: 0, count: 101)), 1009),
    ]

    @Test(arguments: brokenFrames)
    func refusesBrokenFrames(_ frame: WebSocketFrame, _ code: UInt16) {
        var machine = Self.machine()
        #expect(Self.failure(machine.receive(frame)) == code)
        // Nothing that follows matters, and nothing is sent any more.
        #expect(machine.receive(Self.frame(.ping)) == [])
        #expect(machine.receive(Self.text("late")) == [])
        #expect(!machine.isOpen)
    }

    @Test func refusesMessageWithinAnother() {
        var machine = Self.machine()
        _ = machine.receive(Self.text("a", fin: false))
        #expect(Self.failure(machine.receive(Self.text("b"))) == 1002)
    }

    @Test func refusesMessageThatGrowsBeyondLimit() {
        var machine = Self.machine(10)
        #expect(machine.receive(Self.frame(.binary, [UInt8](repeating: 0, count: 10), fin: false)) == [])
        #expect(Self.failure(machine.receive(Self.frame(.continuation, [1], fin: false))) == 1009)
    }

    @Test func refusesEndlessEmptyFrames() {
        var machine = Self.machine()
        _ = machine.receive(Self.frame(.binary, fin: false))
        var count = 1
        while count < 10_000, machine.receive(Self.frame(.continuation, fin: false)) == [] { count += 1 }
        #expect(count == MessageAssembly.maximumEmptyFrameCount)
        #expect(!machine.isOpen)
    }

    @Test func refusesWhatIsNoFrame() {
        for (error, code) in [
            (NIOWebSocketError.invalidFrameLength, 1009), (.fragmentedControlFrame, 1002),
            (.multiByteControlFrameLength, 1002),
        ] as [(NIOWebSocketError, UInt16)] {
            var machine = Self.machine()
            #expect(Self.failure(machine.receive(error)) == code)
        }
    }

    @Test func compressedMessagesNeedAnAgreement() throws {
        let hello: [UInt8] = [0xF2, 0x48, 0xCD, 0xC9, 0xC9, 0x07, 0x00]
        var machine = Self.machine(inflater: MessageInflater(resetsContext: false))
        #expect(machine.receive(Self.frame(.text, hello, rsv1: true)) == [.deliver(.text("Hello"))])
        // In fragments, of which only the first is marked, between plain messages.
        #expect(machine.receive(Self.text("plain")) == [.deliver(.text("plain"))])
        #expect(machine.receive(Self.frame(.text, Array(hello[..<3]), fin: false, rsv1: true)) == [])
        #expect(machine.receive(Self.frame(.continuation, Array(hello[3...]))) == [.deliver(.text("Hello"))])
        #expect(machine.receive(Self.frame(.text, Array(hello[..<3]), fin: false, rsv1: true)) == [])
        #expect(Self.failure(machine.receive(Self.frame(.continuation, Array(hello[3...]), rsv1: true))) == 1002)
    }

    @Test func brokenCompressionAndInvalidInflatedTextEndConnections() throws {
        var machine = Self.machine(inflater: MessageInflater(resetsContext: false))
        #expect(Self.failure(machine.receive(Self.frame(.text, [0xFF, 0xFF], rsv1: true))) == 1007)
        let deflater = try #require(MessageDeflater(windowBits: 15, resetsContext: false))
        machine = Self.machine(inflater: MessageInflater(resetsContext: false))
        #expect(Self.failure(machine.receive(Self.frame(.text, deflater.compress([0xC0, 0x80]), rsv1: true))) == 1007)
    }

    @Test func compressedBombEndsWithTooLarge() throws {
        let deflater = try #require(MessageDeflater(windowBits: 15, resetsContext: false))
        let bomb = deflater.compress([UInt8](repeating: 0, count: 1 << 20))
        var machine = Self.machine(1000, inflater: MessageInflater(resetsContext: false))
        #expect(Self.failure(machine.receive(Self.frame(.binary, bomb, rsv1: true))) == 1009)
    }

    @Test func closingFrameOfTheServerGetsAResponse() {
        var machine = Self.machine()
        let actions = machine.receive(Self.frame(.connectionClose, [3, 233] + Array("bye".utf8)))
        #expect(actions == [.sendClose(WebSocketClose(1001)), .end(nil), .awaitClose])
        #expect(machine.received == WebSocketClose(1001, "bye"))
        #expect(!machine.isOpen)
        #expect(machine.closeTimedOut() == [.cut])
        #expect(machine.channelClosed() == [])
    }

    @Test func closingFrameMayBeEmpty() {
        var machine = Self.machine()
        #expect(
            machine.receive(Self.frame(.connectionClose)) == [.sendClose(WebSocketClose(nil)), .end(nil), .awaitClose])
        #expect(WebSocketClose(nil).payload.readableBytes == 0)
    }

    @Test func clientClosesInOrder() {
        var machine = Self.machine()
        #expect(machine.close(WebSocketClose(1000)) == [.sendClose(WebSocketClose(1000)), .awaitClose])
        #expect(machine.close(WebSocketClose(1001)) == [])
        // What the server sent before it saw the close frame still comes; a ping gets no response after it.
        #expect(machine.receive(Self.text("last")) == [.deliver(.text("last"))])
        #expect(machine.receive(Self.frame(.ping)) == [])
        #expect(machine.receive(Self.frame(.connectionClose, [3, 232])) == [.end(nil), .awaitClose])
    }

    @Test func serverThatDoesNotCloseIsCut() {
        var machine = Self.machine()
        _ = machine.close(WebSocketClose(1000))
        #expect(machine.closeTimedOut() == [.end(.closeTimedOut), .cut])
    }

    @Test func lossWithoutCloseFrameIsReported() {
        var machine = Self.machine()
        #expect(machine.channelClosed() == [.end(.lost)])
        #expect(machine.channelClosed() == [])
    }

    @Test func codesOfCloseFramesAreValidated() {
        let valid: [UInt16] = [
            1000, 1001, 1002, 1003, 1007, 1008, 1009, 1010, 1011, 1012, 1013, 1014, 3000, 3999, 4000, 4999,
        ]
        for code in UInt16.min ... .max {
            let isValid = valid.contains(code) || (3000...4999).contains(code)
            #expect(WebSocketClose.isValid(code) == isValid)
            guard [0, 999, 1004, 1005, 1006, 1015, 1016, 1100, 2000, 2999, 5000, 65535].contains(code) else { continue }
            var machine = Self.machine()
            let payload = [UInt8(code >> 8), UInt8(code & 0xFF)]
            #expect(Self.failure(machine.receive(Self.frame(.connectionClose, payload))) == 1002, "\(code)")
        }
    }

    @Test func reasonsAreCutBetweenCharacters() {
        let payload = WebSocketClose(1000, String(repeating: "é", count: 100)).payload
        #expect(payload.readableBytes == 2 + 122)
        #expect(String(validating: payload.readableBytesView.dropFirst(2), as: UTF8.self) != nil)
    }
}
