import RawStructuredFieldValues

/// Serialises parts of structured fields (RFC 9651 §4.1).
enum StructuredFieldText {
    /// Returns a String in quotation marks, or `nil` if it has characters other than printable ASCII.
    static func quoted(_ string: String) -> String? {
        var text: [UInt8] = []
        return append(quoted: string, to: &text) ? String(decoding: text, as: UTF8.self) : nil
    }

    /// Appends a String in quotation marks. Returns `false` if it has characters other than printable ASCII.
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

    /// Returns whether a text is a valid key of a member or parameter (RFC 9651 §3.1.2).
    static func isKey(_ text: String) -> Bool {
        text.utf8.first.map(isFirstOfKey) == true && text.utf8.allSatisfy(isInKey)
    }

    /// Returns whether a key may begin with a byte.
    static func isFirstOfKey(_ byte: UInt8) -> Bool { (0x61...0x7A).contains(byte) || byte == UInt8(ascii: "*") }

    /// Returns whether a key may contain a byte.
    static func isInKey(_ byte: UInt8) -> Bool {
        isFirstOfKey(byte) || (0x30...0x39).contains(byte) || byte == UInt8(ascii: "_") || byte == UInt8(ascii: "-")
            || byte == UInt8(ascii: ".")
    }

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
