import RunwayZlib

/// Makes gzip (RFC 1952) of bytes that come part by part.
final class GzipEncoder {
    /// The most bytes that zlib gives at once.
    private static let partByteCount = 1 << 15
    /// zlib keeps a pointer to its stream, which so must not move.
    private let stream: UnsafeMutablePointer<z_stream>

    /// Makes an encoder; `nil` where there is no memory for it.
    init?(level: Int) {
        stream = .allocate(capacity: 1)
        stream.initialize(to: z_stream())
        // 15 is the largest window, and 16 more ask for gzip's frame.
        guard runway_deflate_init(stream, CInt(max(1, min(9, level))), 15 + 16) == Z_OK else {
            stream.deallocate()
            return nil
        }
    }

    deinit {
        deflateEnd(stream)
        stream.deallocate()
    }

    /// What can be sent of the bytes so far; after the last ones, all the rest.
    func encode(_ bytes: [UInt8], isLast: Bool) -> [UInt8] {
        var encoded: [UInt8] = []
        bytes.withUnsafeBufferPointer { input in
            // zlib reads through this pointer, and its field is only not declared so.
            stream.pointee.next_in = UnsafeMutablePointer(mutating: input.baseAddress)
            stream.pointee.avail_in = UInt32(input.count)
            repeat { encoded += deflated(isLast ? Z_FINISH : Z_NO_FLUSH) } while stream.pointee.avail_out == 0
        }
        return encoded
    }

    private func deflated(_ flush: CInt) -> [UInt8] {
        [UInt8](unsafeUninitializedCapacity: Self.partByteCount) { output, count in
            stream.pointee.next_out = output.baseAddress
            stream.pointee.avail_out = UInt32(output.count)
            _ = deflate(stream, flush)
            count = output.count - Int(stream.pointee.avail_out)
        }
    }
}
