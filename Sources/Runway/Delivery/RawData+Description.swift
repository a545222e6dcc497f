import HTTPTypes
import RunwayJSON

extension RawData: CustomStringConvertible {
    /// The body for people: indented JSON or text, truncated at 4096 bytes, with the secrets of `JSONRedaction.default`
    /// masked; the size of any other body.
    public var description: String {
        if json.exists { return json.description }
        if bytes.isEmpty { return "empty" }
        guard let text else { return "\(bytes.count) bytes" }
        return JSONRedaction.default.redactedText(of: text.utf8, maximumByteCount: 4096)
    }
}

extension RawData {
    /// The words before the start of a body; errors of the JSON reader use them, too.
    private static let startIntroduction = "the body starts with: "

    /// Appends the start of the body to a sentence about it, unless the sentence has that already.
    func withStart(_ sentence: String) -> String {
        if sentence.contains(Self.startIntroduction) { return sentence }
        return (sentence.hasSuffix(".") ? String(sentence.dropLast()) : sentence) + "; \(start)"
    }

    /// The start of the body in one line, for errors: at most 200 bytes, secrets masked.
    private var start: String {
        bytes.isEmpty
            ? "the body is empty"
            : Self.startIntroduction
                + JSONRedaction.default.redactedText(
                    of: (text ?? "\(bytes.count) bytes that are not text").utf8, maximumByteCount: 200)
    }
}

extension RawData: CustomDebugStringConvertible {
    /// The status, the media type, the size and the source, then ``description``.
    public var debugDescription: String {
        let type = mediaType.map { ", \($0)" } ?? ""
        return "\(response.status.code)\(type), \(bytes.count) bytes, from \(source): \(description)"
    }
}

extension RawData: CustomReflectable {
    /// Without children, so that `dump` and the debugger show the description, and no secret.
    public var customMirror: Mirror { Mirror(self, children: [], displayStyle: .struct) }
}
