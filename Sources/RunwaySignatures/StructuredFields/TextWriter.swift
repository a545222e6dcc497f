/// Writes ASCII text into memory of a fixed size.
struct TextWriter {
    private let memory: UnsafeMutableBufferPointer<UInt8>
    private(set) var count = 0

    fileprivate init(_ memory: UnsafeMutableBufferPointer<UInt8>) { self.memory = memory }

    mutating func append(_ byte: UInt8) { append(count: 1) { $0[0] = byte } }

    mutating func append(_ text: String) {
        var text = text
        text.withUTF8 { bytes in append(count: bytes.count) { _ = $0.update(fromContentsOf: bytes) } }
    }

    /// Appends `added` bytes.
    ///
    /// - Parameter write: Writes all bytes to the passed memory.
    mutating func append(count added: Int, _ write: (UnsafeMutableBufferPointer<UInt8>) -> Void) {
        precondition(added <= memory.count - count, "A text has no more bytes than it was made for")
        write(UnsafeMutableBufferPointer(rebasing: memory[count..<(count + added)]))
        count += added
    }
}

extension String {
    /// Creates a text with a single allocation.
    ///
    /// - Parameters:
    ///   - maximum: The maximum number of bytes.
    ///   - write: Writes the text.
    init(upTo maximum: Int, _ write: (inout TextWriter) -> Void) {
        self.init(unsafeUninitializedCapacity: maximum) { memory in
            var writer = TextWriter(memory)
            write(&writer)
            return writer.count
        }
    }
}

extension [UInt8] {
    /// Appends a whole text; `+=` would append it byte by byte.
    mutating func append(text: some StringProtocol) {
        let isAdded: Void? = text.utf8.withContiguousStorageIfAvailable { append(contentsOf: $0) }
        if isAdded == nil { append(contentsOf: text.utf8) }
    }
}
