#if Brotli
    import NIOCore
    import RunwayBrotli

    /// Decodes Brotli with its library, with windows of at most 16 MiB (RFC 7932 §9.1).
    final class BrotliReader: CodingReader {
        private let state: OpaquePointer

        init() throws(ContentDecoder.Failure) {
            guard let state = BrotliDecoderCreateInstance(nil, nil, nil) else { throw .outOfMemory }
            self.state = state
        }

        deinit { BrotliDecoderDestroyInstance(state) }

        func beginAnother(_ input: ByteBuffer) -> Bool? { false }

        func read(
            _ input: inout ByteBuffer, upTo room: Int
        ) throws(ContentDecoder.Failure) -> (part: [UInt8], isAtEnd: Bool) {
            var result = BROTLI_DECODER_RESULT_ERROR
            var consumed = 0
            let part = [UInt8](unsafeUninitializedCapacity: room) { output, count in
                input.withUnsafeReadableBytes { bytes in
                    let bytes = bytes.bindMemory(to: UInt8.self)
                    var (availableIn, nextIn) = (bytes.count, bytes.baseAddress)
                    var (availableOut, nextOut) = (room, output.baseAddress)
                    result = BrotliDecoderDecompressStream(
                        state, &availableIn, &nextIn, &availableOut, &nextOut, nil)
                    consumed = bytes.count - availableIn
                    count = room - availableOut
                }
            }
            input.moveReaderIndex(forwardBy: consumed)
            if result == BROTLI_DECODER_RESULT_ERROR { throw .malformed }
            return (part, result == BROTLI_DECODER_RESULT_SUCCESS)
        }
    }
#endif
