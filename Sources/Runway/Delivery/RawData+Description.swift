import HTTPTypes
import RunwayJSON

extension RawData: CustomStringConvertible {
    /// The body in readable form: indented JSON or text, truncated at 4096 bytes, with the secrets of
    /// `JSONRedaction.default` masked. For any other body, its size.
    public var description: String {
        if json.exists { return json.description }
        if bytes.isEmpty { return "empty" }
        guard let text else { return "\(bytes.count) bytes" }
        return JSONRedaction.default.redactedText(of: text.utf8, maximumByteCount: 4096)
    }
}

extension RawData {
    /// Introduces an excerpt of the body. Errors of the JSON reader begin excerpts with the same words.
    private static let startIntroduction = "the body starts with: "

    /// Appends an excerpt of the body to a sentence, unless the sentence already contains one.
    func withStart(_ sentence: String) -> String {
        if sentence.contains(Self.startIntroduction) { return sentence }
        return (sentence.hasSuffix(".") ? String(sentence.dropLast()) : sentence) + "; \(start)"
    }

    /// An excerpt of the body for errors: one line with at most 200 bytes, secrets masked.
    private var start: String {
        bytes.isEmpty
            ? "the body is empty"
            : Self.startIntroduction
                + JSONRedaction.default.redactedText(
                    of: (text ?? "\(bytes.count) bytes that are not text").utf8, maximumByteCount: 200)
    }
}

extension RawData: CustomDebugStringConvertible {
    /// The status, the media type, the size and the source, followed by ``description``.
    public var debugDescription: String {
        let type = mediaType.map { ", \($0)" } ?? ""
        return "\(response.status.code)\(type), \(bytes.count) bytes, from \(source): \(description)"
    }
}

extension RawData: CustomReflectable {
    /// A mirror without children, so that `dump` and the debugger show the description and no secrets.
    public var customMirror: Mirror { Mirror(self, children: [], displayStyle: .struct) }
}
