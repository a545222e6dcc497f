import RawStructuredFieldValues

/// The serialised parts of a structured field (RFC 9651 §4.1).
enum StructuredFieldText {
    /// A String in its quotes. Returns `nil` if it has other characters than printable ASCII.
    static func quoted(_ string: String) -> String? {
        let (quote, escape) = (UInt8(ascii: "\""), UInt8(ascii: "\\"))
        var isPlain = true
        for byte in string.utf8 {
            guard (0x20...0x7E).contains(byte) else { return nil }
            if byte == quote || byte == escape { isPlain = false }
        }
        if isPlain { return "\"\(string)\"" }
        let escaped = string.utf8.flatMap { $0 == quote || $0 == escape ? [escape, $0] : [$0] }
        return String(decoding: [quote] + escaped + [quote], as: UTF8.self)
    }

    /// Whether a text can be the key of a member or of a parameter (RFC 9651 §3.1.2).
    static func isKey(_ text: String) -> Bool {
        let isFirst = { (byte: UInt8) in (0x61...0x7A).contains(byte) || byte == UInt8(ascii: "*") }
        let isOther = { (byte: UInt8) in (0x30...0x39).contains(byte) || "_-.".utf8.contains(byte) }
        return text.utf8.first.map(isFirst) == true && text.utf8.allSatisfy { isFirst($0) || isOther($0) }
    }

    /// A bare item.
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
