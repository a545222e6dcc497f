import NIOCore

extension ByteBuffer {
    /// Appends bytes to the unread ones, and releases bytes that were read.
    ///
    /// Slices that were read share the storage, so that a write copies it, with all that was ever read of it: a buffer
    /// that never becomes empty would grow with each part of a stream.
    mutating func append(_ bytes: ByteBuffer) {
        guard readableBytes > 0 else {
            self = bytes
            return
        }
        if readerIndex > 0 {
            var rest = ByteBufferAllocator().buffer(capacity: readableBytes + bytes.readableBytes)
            rest.writeImmutableBuffer(self)
            self = rest
        }
        writeImmutableBuffer(bytes)
    }
}
