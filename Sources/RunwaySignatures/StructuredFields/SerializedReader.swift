/// Reads fields in their canonical serialisation (RFC 9651 §4.1), which nearly all signers send.
///
/// Every function returns `nil` for any other serialisation, for values of other types, and for malformed text.
/// `StructuredFieldParsing` then parses the field. It returns the same values as this reader, but takes many times as
/// long.
struct SerializedReader {
    private let bytes: UnsafeBufferPointer<UInt8>
    private var position = 0

    private init(_ bytes: UnsafeBufferPointer<UInt8>) { self.bytes = bytes }

    /// Reads a field that has one line.
    ///
    /// - Parameter maximum: The maximum length of the line in bytes.
    static func read<Value>(
        _ lines: [String], upTo maximum: Int, _ body: (inout SerializedReader) -> Value?
    ) -> Value? {
        guard lines.count == 1, lines[0].utf8.count <= maximum else { return nil }
        var line = lines[0]
        return line.withUTF8 { bytes in
            var reader = SerializedReader(bytes)
            guard let value = body(&reader), reader.position == bytes.count else { return nil }
            return value
        }
    }

    /// Reads a Dictionary with one member, which is a Byte Sequence without parameters.
    static func byteSequenceMember(of lines: [String], upTo maximum: Int) -> (key: String, value: [UInt8])? {
        read(lines, upTo: maximum) { reader in
            guard let key = reader.key(), reader.skip("=") else { return nil }
            return reader.byteSequence().map { (key, $0) }
        }
    }

    // MARK: - Parts of a field

    /// Skips `character` if it comes next. Returns whether it did.
    mutating func skip(_ character: Unicode.Scalar) -> Bool {
        guard position < bytes.count, bytes[position] == UInt8(ascii: character) else { return false }
        position += 1
        return true
    }

    /// Reads the key of a member or parameter (RFC 9651 §3.1.2).
    mutating func key() -> String? {
        guard position < bytes.count, StructuredFieldText.isFirstOfKey(bytes[position]) else { return nil }
        return text { StructuredFieldText.isInKey($0) }
    }

    /// Reads a String in quotation marks that contains no escape (RFC 9651 §3.3.3).
    mutating func string() -> String? {
        guard skip("\"") else { return nil }
        let content = text { (0x20...0x7E).contains($0) && $0 != UInt8(ascii: "\"") && $0 != UInt8(ascii: "\\") }
        return skip("\"") ? content : nil
    }

    /// Reads a non-negative Integer without leading zeros (RFC 9651 §3.3.1).
    mutating func integer() -> Int64? {
        let start = position
        var number: Int64 = 0
        while position < bytes.count, (0x30...0x39).contains(bytes[position]) {
            guard position - start < 15 else { return nil }
            number = number * 10 + Int64(bytes[position] - 0x30)
            position += 1
        }
        let isCanonical = position - start == 1 || position > start && bytes[start] != UInt8(ascii: "0")
        return isCanonical ? number : nil
    }

    /// Reads a Byte Sequence (RFC 9651 §3.3.5).
    private mutating func byteSequence() -> [UInt8]? {
        guard skip(":") else { return nil }
        let start = position
        while position < bytes.count, bytes[position] != UInt8(ascii: ":") { position += 1 }
        let end = position
        return skip(":") ? Base64.decoded(UnsafeBufferPointer(rebasing: bytes[start..<end])) : nil
    }

    /// Returns the value that `read` returns, and the text that it consumed.
    mutating func withText<Value>(_ read: (inout SerializedReader) -> Value?) -> (value: Value, text: String)? {
        let start = position
        guard let value = read(&self) else { return nil }
        return (value, String(decoding: bytes[start..<position], as: UTF8.self))
    }

    /// Reads a value that may occur only once. Returns `false` if `value` is already set or `read` returns `nil`.
    mutating func read<Value>(into value: inout Value?, _ read: (inout SerializedReader) -> Value?) -> Bool {
        guard value == nil, let found = read(&self) else { return false }
        value = found
        return true
    }

    private mutating func text(while isIncluded: (UInt8) -> Bool) -> String {
        let start = position
        while position < bytes.count, isIncluded(bytes[position]) { position += 1 }
        return String(decoding: bytes[start..<position], as: UTF8.self)
    }
}
