import RawStructuredFieldValues

/// The serialised parts of a structured field (RFC 9651 §4.1).
enum StructuredFieldText {
    /// Returns a String in its quotes. Returns `nil` if it has other characters than printable ASCII.
    static func quoted(_ string: String) -> String? {
        var text: [UInt8] = []
        return append(quoted: string, to: &text) ? String(decoding: text, as: UTF8.self) : nil
    }

    /// Adds a String in its quotes to a text. Returns `false` if it has other characters than printable ASCII.
    static func append(quoted string: String, to text: inout [UInt8]) -> Bool {
        var string = string
        return string.withUTF8 { append(quoted: $0, to: &text) }
    }

    private static func append(quoted string: UnsafeBufferPointer<UInt8>, to text: inout [UInt8]) -> Bool {
        let (quote, escape) = (UInt8(ascii: "\""), UInt8(ascii: "\\"))
        text.append(quote)
        var written = 0
        for (index, byte) in string.enumerated() {
            guard (0x20...0x7E).contains(byte) else { return false }
            guard byte == quote || byte == escape else { continue }
            text += UnsafeBufferPointer(rebasing: string[written..<index])
            text.append(escape)
            written = index
        }
        text += UnsafeBufferPointer(rebasing: string[written...])
        text.append(quote)
        return true
    }

    /// Whether a text can be the key of a member or of a parameter (RFC 9651 §3.1.2).
    static func isKey(_ text: String) -> Bool {
        text.utf8.first.map(isFirstOfKey) == true && text.utf8.allSatisfy(isInKey)
    }

    /// Whether a byte can be the first of a key.
    static func isFirstOfKey(_ byte: UInt8) -> Bool { (0x61...0x7A).contains(byte) || byte == UInt8(ascii: "*") }

    /// Whether a byte can be in a key.
    static func isInKey(_ byte: UInt8) -> Bool {
        isFirstOfKey(byte) || (0x30...0x39).contains(byte) || byte == UInt8(ascii: "_") || byte == UInt8(ascii: "-")
            || byte == UInt8(ascii: ".")
    }

    /// Returns a bare item.
    static func bareItem(_ item: RFC9651BareItem, in subject: String) throws(SignatureError) -> String {
        do {
            var serializer = StructuredFieldValueSerializer()
            return String(
                decoding: try serializer.writeItemFieldValue(Item(bareItem: item, parameters: [:])), as: UTF8.self)
        } catch {
            throw SignatureError(.invalidValue, subject)
        }
    }
}
