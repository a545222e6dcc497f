import NIOCore
import RunwayTesting
import Testing

@testable import RunwayTransport

struct MessageDeflateTests {
    private static func inflated(
        _ message: [UInt8], by inflater: MessageInflater, upTo room: Int = 1 << 20
    ) throws -> String {
        String(decoding: try inflater.read(ByteBuffer(bytes: message), isLast: true, upTo: room), as: UTF8.self)
    }

    /// The examples of RFC 7692 §7.2.3.1, §7.2.3.3, §7.2.3.4 and §7.2.3.5, each after what it refers to.
    @Test func readsExamplesOfTheStandard() throws {
        let inflater = try #require(MessageInflater(resetsContext: false))
        #expect(try Self.inflated([0xF2, 0x48, 0xCD, 0xC9, 0xC9, 0x07, 0x00], by: inflater) == "Hello")
        // The second message refers to the first.
        #expect(try Self.inflated([0xF2, 0x00, 0x11, 0x00, 0x00], by: inflater) == "Hello")
        #expect(
            try Self.inflated([0x00, 0x05, 0x00, 0xFA, 0xFF, 0x48, 0x65, 0x6C, 0x6C, 0x6F, 0x00], by: inflater)
                == "Hello")
        #expect(try Self.inflated([0xF3, 0x48, 0xCD, 0xC9, 0xC9, 0x07, 0x00, 0x00], by: inflater) == "Hello")
        // A stream that ended leaves its window behind.
        #expect(try Self.inflated([0xF2, 0x00, 0x11, 0x00, 0x00], by: inflater) == "Hello")
        #expect(
            try Self.inflated(
                [0xF2, 0x48, 0x05, 0x00, 0x00, 0x00, 0xFF, 0xFF, 0xCA, 0xC9, 0xC9, 0x07, 0x00], by: inflater) == "Hello"
        )
        #expect(try Self.inflated([0x00], by: inflater) == "")
    }

    @Test func writesExampleOfTheStandard() throws {
        let deflater = try #require(MessageDeflater(windowBits: 15, resetsContext: false))
        #expect(deflater.compress(Array("Hello".utf8)) == [0xF2, 0x48, 0xCD, 0xC9, 0xC9, 0x07, 0x00])
    }

    @Test(arguments: [false, true], [9, 12, 15])
    func messagesSurviveBothModesAndAllWindows(_ resetsContext: Bool, _ windowBits: Int) throws {
        let deflater = try #require(MessageDeflater(windowBits: windowBits, resetsContext: resetsContext))
        let inflater = try #require(MessageInflater(resetsContext: resetsContext))
        var random = SeededGenerator(seed: 7)
        for count in [0, 1, 63, 64, 1000, 16 << 10, (16 << 10) + 1, 200_000] {
            let isNoise = Bool.random(using: &random)
            let message = (0..<count).map { isNoise ? UInt8.random(in: 0...255, using: &random) : UInt8($0 % 17) }
            let coded = deflater.compress(message)
            var read: [UInt8] = []
            // In parts, as frames bring it.
            let cut = Int.random(in: 0...coded.count, using: &random)
            read += try inflater.read(ByteBuffer(bytes: coded[..<cut]), isLast: false, upTo: count)
            read += try inflater.read(ByteBuffer(bytes: coded[cut...]), isLast: true, upTo: count - read.count)
            #expect(read == message, "\(count) bytes, cut at \(cut)")
        }
    }

    @Test func laterMessagesReferToEarlierOnes() throws {
        let text = Array("a text that comes twice, and is written once".utf8)
        let sharing = try #require(MessageDeflater(windowBits: 15, resetsContext: false))
        #expect(sharing.compress(text).count > 30)
        #expect(sharing.compress(text).count < 10)
        let resetting = try #require(MessageDeflater(windowBits: 15, resetsContext: true))
        #expect(resetting.compress(text) == resetting.compress(text))
    }

    @Test func bombIsRefusedAtItsLimit() throws {
        let deflater = try #require(MessageDeflater(windowBits: 15, resetsContext: true))
        let bomb = deflater.compress([UInt8](repeating: 0, count: 64 << 20))
        #expect(bomb.count < 1 << 20)
        let inflater = try #require(MessageInflater(resetsContext: true))
        #expect(throws: MessageInflater.Failure.tooLarge) {
            try inflater.read(ByteBuffer(bytes: bomb), isLast: true, upTo: 1 << 20)
        }
    }

    @Test func messageOfExactlyTheLimitPasses() throws {
        let deflater = try #require(MessageDeflater(windowBits: 15, resetsContext: true))
        let message = [UInt8](repeating: 7, count: 16 << 10)
        let inflater = try #require(MessageInflater(resetsContext: true))
        #expect(
            try inflater.read(ByteBuffer(bytes: deflater.compress(message)), isLast: true, upTo: message.count)
                == message)
    }

    @Test(arguments: [[0xFF, 0xFF, 0xFF], [0x06, 0x41], [0xF2, 0x48, 0xCD]] as [[UInt8]])
    func brokenMessageIsRefused(_ bytes: [UInt8]) throws {
        let inflater = try #require(MessageInflater(resetsContext: false))
        // The last one lacks its end, which the next message can't supply.
        let first = Result { try inflater.read(ByteBuffer(bytes: bytes), isLast: true, upTo: 1000) }
        let next = Result { try inflater.read(ByteBuffer(bytes: [0xFF, 0xFF]), isLast: true, upTo: 1000) }
        #expect(throws: MessageInflater.Failure.malformed) {
            _ = try first.get()
            _ = try next.get()
        }
    }

    @Test func smallestWindowHasNoCompressor() {
        // zlib has none of 8 bits for deflate without a frame; messages are sent as they are then.
        #expect(MessageDeflater(windowBits: 8, resetsContext: false) == nil)
    }
}
