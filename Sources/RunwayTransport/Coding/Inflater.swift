import NIOCore
import RunwayZlib

/// Decodes gzip and deflate with zlib.
final class Inflater: CodingReader {
    /// The frame around the compressed bytes.
    enum Format {
        case gzip
        /// A zlib frame or no frame, as the first two bytes show.
        case zlibOrRaw
    }

    private let format: Format
    /// zlib's decoder; `nil` until the frame is known.
    private var inflater: OpaquePointer?
    /// The first byte, if the second byte is needed to determine the frame.
    private var firstByte: UInt8?

    init(_ format: Format) throws(ContentDecoder.Failure) {
        self.format = format
        // 15 is the largest window size; adding 16 selects the gzip format.
        if format == .gzip { inflater = try Self.inflater(windowBits: 15 + 16) }
    }

    deinit {
        if let inflater { runway_inflater_destroy(inflater) }
    }

    private static func inflater(windowBits: CInt) throws(ContentDecoder.Failure) -> OpaquePointer {
        guard let inflater = runway_inflater_create(windowBits) else { throw .outOfMemory }
        return inflater
    }

    /// gzip data may have several members (RFC 1952 §2.2). Each begins with two fixed bytes and the method, which is
    /// always 8.
    func beginAnother(_ input: ByteBuffer) throws(ContentDecoder.Failure) -> Bool? {
        let start = input.readableBytesView.prefix(3)
        guard format == .gzip, let inflater, zip(start, [0x1F, 0x8B, 8]).allSatisfy(==) else { return false }
        guard start.count == 3 else { return nil }
        guard runway_inflater_reset(inflater) != 0 else { throw .malformed }
        return true
    }

    func read(
        _ input: inout ByteBuffer, upTo room: Int
    ) throws(ContentDecoder.Failure) -> (part: [UInt8], isAtEnd: Bool) {
        if inflater == nil { try seeFrame(&input) }
        guard let inflater else { return ([], false) }
        var status = RUNWAY_INFLATE_FAILED
        var used = 0
        let part = [UInt8](unsafeUninitializedCapacity: room) { output, count in
            guard let target = output.baseAddress else { return }
            input.withUnsafeReadableBytes { bytes in
                let source = bytes.bindMemory(to: UInt8.self)
                status = runway_inflater_run(
                    inflater, source.baseAddress, source.count, &used, target, room, &count)
            }
        }
        input.moveReaderIndex(forwardBy: used)
        switch status {
        case RUNWAY_INFLATE_ENDED: return (part, true)
        case RUNWAY_INFLATE_GOES_ON: return (part, false)
        default: throw .malformed
        }
    }

    /// Decides by the first bytes whether a body with the coding deflate has a zlib frame (RFC 1950 §2.2), which some
    /// servers omit.
    private func seeFrame(_ input: inout ByteBuffer) throws(ContentDecoder.Failure) {
        guard let first = firstByte ?? input.readInteger(as: UInt8.self) else { return }
        firstByte = first
        guard let second = input.getInteger(at: input.readerIndex, as: UInt8.self) else { return }
        // In a zlib header, the method is 8, the window size is valid, and the two bytes are a multiple of 31.
        let isFramed = first & 0x0F == 8 && first >> 4 <= 7 && (Int(first) << 8 | Int(second)) % 31 == 0
        inflater = try Self.inflater(windowBits: isFramed ? 15 : -15)
        var whole = ByteBuffer(integer: first)
        whole.writeBuffer(&input)
        input = whole
    }
}
