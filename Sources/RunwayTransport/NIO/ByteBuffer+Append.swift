import NIOCore

extension ByteBuffer {
    /// Appends bytes after the unread ones, and releases bytes that were read.
    ///
    /// Slices that were read share the storage, so a write copies the storage, including the bytes that were already
    /// read. A buffer that is never empty would therefore grow with each part of a stream.
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
