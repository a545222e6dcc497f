import HTTPTypes
import RunwayJSON

extension RawData: CustomStringConvertible {
    /// The body as a person can read it: indented JSON, or the start of a text, cut off at 4096 bytes, with what
    /// `JSONRedaction.default` calls secret masked; of what is neither, the size.
    public var description: String {
        if json.exists { return json.description }
        if bytes.isEmpty { return "empty" }
        guard let text else { return "\(bytes.count) bytes" }
        return JSONRedaction.default.redactedText(of: text.utf8, maximumByteCount: 4096)
    }
}

extension RawData {
    /// What stands before the start of a body, in errors of the JSON, too.
    private static let startIntroduction = "the body starts with: "

    /// A sentence about this body with the start of the body at its end, where it does not show that itself.
    func withStart(_ sentence: String) -> String {
        if sentence.contains(Self.startIntroduction) { return sentence }
        return (sentence.hasSuffix(".") ? String(sentence.dropLast()) : sentence) + "; \(start)"
    }

    /// The start of the body in one line, as errors show it: at most 200 bytes, secrets masked.
    private var start: String {
        bytes.isEmpty
            ? "the body is empty"
            : Self.startIntroduction
                + JSONRedaction.default.redactedText(
                    of: (text ?? "\(bytes.count) bytes that are no text").utf8, maximumByteCount: 200)
    }
}

extension RawData: CustomDebugStringConvertible {
    /// The status, the media type, the size and the source, then what ``description`` says.
    public var debugDescription: String {
        let type = mediaType.map { ", \($0)" } ?? ""
        return "\(response.status.code)\(type), \(bytes.count) bytes, from \(source): \(description)"
    }
}

extension RawData: CustomReflectable {
    /// Without children, so that `dump` and the debugger show what can be read, and no secret.
    public var customMirror: Mirror { Mirror(self, children: [], displayStyle: .struct) }
}
