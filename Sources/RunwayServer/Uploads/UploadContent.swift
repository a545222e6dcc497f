import Hummingbird
import NIOCore

/// The content of a complete upload, read in parts. The file is opened at the start, so it may be deleted while it is
/// read.
struct UploadContent: AsyncSequence, Sendable {
    typealias Element = ByteBuffer

    /// The size of a part: 256 KiB.
    private static let partByteCount = 256 << 10

    let file: UploadFile
    let byteCount: Int
    let store: UploadStore

    struct Iterator: AsyncIteratorProtocol {
        let content: UploadContent
        private var offset = 0

        init(_ content: UploadContent) { self.content = content }

        mutating func next() async throws -> ByteBuffer? {
            let count = Swift.min(UploadContent.partByteCount, content.byteCount - offset)
            guard count > 0 else { return nil }
            let (file, start) = (content.file, offset)
            let bytes = try await content.store.onDisk { try file.read(count, at: start) }
            guard !bytes.isEmpty else {
                throw UploadFile.Failure(operation: "the content is shorter than before", code: 0)
            }
            offset += bytes.count
            return ByteBuffer(bytes: bytes)
        }
    }

    func makeAsyncIterator() -> Iterator { Iterator(self) }
}
