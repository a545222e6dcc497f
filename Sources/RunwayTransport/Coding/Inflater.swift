import NIOCore
import RunwayZlib

/// gzip and deflate, read by zlib.
final class Inflater {
    /// What frames the compressed bytes.
    enum Format {
        case gzip
        /// zlib's frame, or none; which is seen at the first two bytes.
        case zlibOrRaw
    }

    /// zlib keeps a pointer to its stream, which so must not move.
    private let stream: UnsafeMutablePointer<z_stream>
    private let format: Format
    private var isInitialized = false
    /// The first byte, where the second has to be seen before the frame is known.
    private var firstByte: UInt8?

    init(_ format: Format) throws(ContentDecoder.Failure) {
        stream = .allocate(capacity: 1)
        stream.initialize(to: z_stream())
        self.format = format
        // 15 is the largest window, and 16 more ask for gzip's frame.
        if format == .gzip { try start(windowBits: 15 + 16) }
    }

    deinit {
        if isInitialized { inflateEnd(stream) }
        stream.deallocate()
    }

    private func start(windowBits: CInt) throws(ContentDecoder.Failure) {
        guard runway_inflate_init(stream, windowBits) == Z_OK else { throw .outOfMemory }
        isInitialized = true
    }

    /// Begins another member of gzip; gives whether there may be one.
    func beginMember() throws(ContentDecoder.Failure) -> Bool {
        guard format == .gzip else { return false }
        inflateReset(stream)
        return true
    }

    /// Decodes what fits into one part.
    func read(_ input: inout ByteBuffer) throws(ContentDecoder.Failure) -> (part: [UInt8], isAtEnd: Bool) {
        if !isInitialized {
            guard let first = firstByte ?? input.readInteger(as: UInt8.self) else { return ([], false) }
            firstByte = first
            guard let second = input.getInteger(at: input.readerIndex, as: UInt8.self) else { return ([], false) }
            // RFC 1950 §2.2: the method is 8, and the two bytes are a multiple of 31.
            let isFramed = first & 15 == 8 && (Int(first) << 8 | Int(second)) % 31 == 0
            try start(windowBits: isFramed ? 15 : -15)
            var whole = ByteBuffer(integer: first)
            whole.writeBuffer(&input)
            input = whole
        }
        var result = Z_OK
        var consumed = 0
        let part = [UInt8](unsafeUninitializedCapacity: ContentDecoder.partByteCount) { output, count in
            input.withUnsafeReadableBytes { bytes in
                let bytes = bytes.bindMemory(to: UInt8.self)
                // zlib reads through this pointer, and its field is only not declared so.
                stream.pointee.next_in = UnsafeMutablePointer(mutating: bytes.baseAddress)
                stream.pointee.avail_in = UInt32(clamping: bytes.count)
                stream.pointee.next_out = output.baseAddress
                stream.pointee.avail_out = UInt32(output.count)
                result = inflate(stream, Z_NO_FLUSH)
                consumed = Int(UInt32(clamping: bytes.count)) - Int(stream.pointee.avail_in)
                count = output.count - Int(stream.pointee.avail_out)
            }
        }
        input.moveReaderIndex(forwardBy: consumed)
        switch result {
        case Z_STREAM_END: return (part, true)
        // Without room or bytes nothing could be done, which is no error.
        case Z_OK, Z_BUF_ERROR: return (part, false)
        case Z_MEM_ERROR: throw .outOfMemory
        default: throw .malformed
        }
    }
}
