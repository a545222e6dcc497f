#if Zstd
    import NIOCore
    import RunwayZstd

    /// Decodes zstd with its library, with windows of at most 8 MiB (RFC 9659 §3).
    final class ZstdReader: CodingReader {
        private let context: OpaquePointer

        init() throws(ContentDecoder.Failure) {
            guard let context = ZSTD_createDCtx() else { throw .outOfMemory }
            self.context = context
            ZSTD_DCtx_setParameter(context, ZSTD_d_windowLogMax, 23)
        }

        deinit { ZSTD_freeDCtx(context) }

        /// Another frame or a skippable frame may follow (RFC 8878 §3.1). Each begins with a magic number of four
        /// bytes.
        func beginAnother(_ input: ByteBuffer) -> Bool? {
            let start = input.readableBytesView.prefix(4)
            let isFrame = zip(start, [0x28, 0xB5, 0x2F, 0xFD]).allSatisfy(==)
            let isSkipped = zip(start, [0x50, 0x2A, 0x4D, 0x18]).enumerated().allSatisfy { index, pair in
                index == 0 ? pair.0 & 0xF0 == pair.1 : pair.0 == pair.1
            }
            guard isFrame || isSkipped else { return false }
            return start.count == 4 ? true : nil
        }

        func read(
            _ input: inout ByteBuffer, upTo room: Int
        ) throws(ContentDecoder.Failure) -> (part: [UInt8], isAtEnd: Bool) {
            var result = 0
            var consumed = 0
            let part = [UInt8](unsafeUninitializedCapacity: room) { output, count in
                input.withUnsafeReadableBytes { bytes in
                    var source = ZSTD_inBuffer(src: bytes.baseAddress, size: bytes.count, pos: 0)
                    var target = ZSTD_outBuffer(dst: output.baseAddress, size: room, pos: 0)
                    result = ZSTD_decompressStream(context, &target, &source)
                    consumed = source.pos
                    count = target.pos
                }
            }
            input.moveReaderIndex(forwardBy: consumed)
            if ZSTD_isError(result) != 0 { throw .malformed }
            // 0 means that a frame is complete.
            return (part, result == 0)
        }
    }
#endif
