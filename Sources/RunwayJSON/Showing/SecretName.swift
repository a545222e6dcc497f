/// The candidates for a name before a `:` or `=`, in bytes that need not be JSON.
struct SecretName {
    /// The texts that may be the name: the text in quotation marks, or the last word before the separator.
    private var candidates: [String] = []
    /// Whether the name is in a URL-encoded form: only name-value pairs precede it.
    private(set) var isForm = false
    /// Whether the name is in a form, or in the query or fragment of a URL.
    private var isParameter = false
    /// Whether the name begins a line without quotation marks, as a header field does.
    private(set) var isLine = false
    /// Whether the separator is a `:` followed by a quoted string.
    private var precedesString = false

    /// The number of bytes before the separator that are searched for a name. Secret names are much shorter.
    private static let maximumByteCount = 256

    /// - Parameter formEnd: The position of the first byte that cannot occur in a URL-encoded form.
    init(before separator: Int, in bytes: [UInt8], formEnd: Int) {
        var end = separator
        let first = max(0, separator - Self.maximumByteCount)
        precedesString =
            bytes[separator] == UInt8(ascii: ":")
            && bytes[(separator + 1)...].first { !$0.isBlank && $0 != UInt8(ascii: "\\") }?.isQuote == true
        while end > first, bytes[end - 1].isBlank { end -= 1 }
        guard end > first else { return }
        guard bytes[end - 1].isQuote else {
            let start = Self.startOfWord(endingAt: end, in: bytes, from: first)
            candidates = [Self.decoded(bytes[start..<end])]
            isForm = start <= formEnd && (start == 0 || bytes[start - 1] == UInt8(ascii: "&"))
            isParameter =
                bytes[separator] == UInt8(ascii: "=")
                && (isForm || (start > 0 && "?&#".utf8.contains(bytes[start - 1])))
            isLine = start == 0 || bytes[start - 1] == 0x0A
            return
        }
        let quote = bytes[end - 1]
        end -= 1
        // In a string that contains JSON, the quotation marks are escaped.
        while end > first, bytes[end - 1] == UInt8(ascii: "\\") { end -= 1 }
        let opening = bytes[first..<end].lastIndex(of: quote)
        let text = bytes[(opening.map { $0 + 1 } ?? first)..<end]
        candidates = [Self.unescaped(text)]
        // If no quotation mark opens the name, or the mark belongs to another string, the last word may be the name.
        if opening == nil || text.contains(where: { "{}[]<>:,=&".utf8.contains($0) }) {
            candidates.append(Self.decoded(bytes[Self.startOfWord(endingAt: end, in: bytes, from: first)..<end]))
        }
    }

    /// Returns whether a name is secret. Every part of `user[password]` is checked.
    func isSecret(by redaction: JSONRedaction) -> Bool {
        candidates.contains { name in
            if isParameter { return redaction.isSecretParameter(name) }
            return precedesString ? redaction.isSecretString(name) : redaction.isSecret(name)
        }
    }

    /// Returns the name in an XML tag that ends before a `>`, or `nil` if the tag opens no element with a secret name.
    static func tag(before end: Int, in bytes: [UInt8], by redaction: JSONRedaction) -> ArraySlice<UInt8>? {
        let first = max(0, end - maximumByteCount)
        guard let opening = bytes[first..<end].lastIndex(of: UInt8(ascii: "<")) else { return nil }
        let name = bytes[(opening + 1)..<end].prefix { !$0.isBlank }
        guard let initial = name.first, initial != UInt8(ascii: "/"), bytes[end - 1] != UInt8(ascii: "/") else {
            return nil
        }
        // The prefix of an XML namespace is not part of the name.
        let local = name.suffix(while: { $0 != UInt8(ascii: ":") })
        return redaction.isSecret(String(decoding: local, as: UTF8.self)) ? name : nil
    }

    private static func startOfWord(endingAt end: Int, in bytes: [UInt8], from first: Int) -> Int {
        let before = bytes[first..<end].lastIndex { $0.isBlank || $0.isQuote || "{}()<>:,;=&?#|\\".utf8.contains($0) }
        return before.map { $0 + 1 } ?? first
    }

    /// Returns the name of a form field with its percent-encoding decoded.
    private static func decoded(_ name: ArraySlice<UInt8>) -> String {
        var text: [UInt8] = []
        var rest = name
        while let byte = rest.popFirst() {
            let digits = rest.prefix(2).compactMap(StringText.hexValue)
            if byte == UInt8(ascii: "%"), digits.count == 2 {
                text.append(UInt8(truncatingIfNeeded: digits[0] << 4 | digits[1]))
                rest = rest.dropFirst(2)
            } else {
                text.append(byte)
            }
        }
        return String(decoding: text, as: UTF8.self)
    }

    /// Returns the name of a JSON member with `\u` escapes such as `\u0070` resolved.
    private static func unescaped(_ name: ArraySlice<UInt8>) -> String {
        let quote = [UInt8(ascii: "\"")]
        if name.contains(UInt8(ascii: "\\")), let text = try? JSONDocument(quote + name + quote).root.string {
            return text
        }
        return String(decoding: name, as: UTF8.self)
    }
}

extension ArraySlice<UInt8> {
    fileprivate func suffix(while isRight: (UInt8) -> Bool) -> ArraySlice<UInt8> {
        guard let last = lastIndex(where: { !isRight($0) }) else { return self }
        return self[(last + 1)...]
    }
}
