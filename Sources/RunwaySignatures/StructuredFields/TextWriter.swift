/// Writes a text of ASCII characters into memory of a fixed size.
struct TextWriter {
    private let memory: UnsafeMutableBufferPointer<UInt8>
    private(set) var count = 0

    fileprivate init(_ memory: UnsafeMutableBufferPointer<UInt8>) { self.memory = memory }

    mutating func append(_ byte: UInt8) { append(count: 1) { $0[0] = byte } }

    mutating func append(_ text: String) {
        var text = text
        text.withUTF8 { bytes in append(count: bytes.count) { _ = $0.update(fromContentsOf: bytes) } }
    }

    /// Adds a number of bytes.
    ///
    /// - Parameter write: Writes all of them.
    mutating func append(count added: Int, _ write: (UnsafeMutableBufferPointer<UInt8>) -> Void) {
        precondition(added <= memory.count - count, "A text has no more bytes than it was made for")
        write(UnsafeMutableBufferPointer(rebasing: memory[count..<(count + added)]))
        count += added
    }
}

extension String {
    /// A text that is written at once.
    ///
    /// - Parameters:
    ///   - maximum: The greatest number of its bytes.
    ///   - write: Writes it.
    init(upTo maximum: Int, _ write: (inout TextWriter) -> Void) {
        self.init(unsafeUninitializedCapacity: maximum) { memory in
            var writer = TextWriter(memory)
            write(&writer)
            return writer.count
        }
    }
}

extension [UInt8] {
    /// Adds the UTF-8 of a text at once: `+=` adds it byte by byte.
    mutating func append(text: some StringProtocol) {
        let isAdded: Void? = text.utf8.withContiguousStorageIfAvailable { append(contentsOf: $0) }
        if isAdded == nil { append(contentsOf: text.utf8) }
    }
}
