import HTTPTypes
import RunwayJSON

/// One part of a request as it is written on the command line: a name, a sign for its kind, and a value.
///
/// | sign | meaning |
/// |---|---|
/// | `name==value` | a query parameter |
/// | `name=value` | a member of the JSON body, a string; with `--form` a field of the form |
/// | `name:=json` | a member of the JSON body, as JSON |
/// | `name:value` | a header field |
///
/// The first sign in the text counts, and of two that begin at the same position the longer. In the name a backslash escapes
/// the character after it; the value is everything after the sign, unchanged.
enum RequestItem: Equatable {
    case query(name: String, value: String)
    case member(name: String, value: String)
    case json(name: String, bytes: [UInt8])
    case header(HTTPField)

    private static let form = "use name=value, name:=json, name==value or name:value."

    /// Reads one item.
    ///
    /// - Throws: ``CommandFailure`` that names the problem.
    init(_ text: String) throws(CommandFailure) {
        guard !text.isEmpty else {
            throw CommandFailure("An item is empty; \(Self.form)")
        }
        guard let (name, sign, value) = Self.split(text) else {
            throw CommandFailure("The item \"\(text)\" has no sign; \(Self.form)")
        }
        guard !name.isEmpty else { throw CommandFailure("The item \"\(text)\" has no name before \"\(sign)\".") }
        switch sign {
        case "==": self = .query(name: name, value: value)
        case "=": self = .member(name: name, value: value)
        case ":=":
            do {
                self = .json(name: name, bytes: try JSONDocument(value).root.canonicalBytes(sortsKeys: false))
            } catch {
                throw CommandFailure(
                    "The value of the item \"\(text)\" is not JSON: \(error.place); a string is written name=value.")
            }
        default: self = .header(try Self.field(name: name, value: value))
        }
    }

    /// Name, sign and value; `nil` for a text without a sign.
    private static func split(_ text: String) -> (name: String, sign: String, value: String)? {
        var name = ""
        var rest = text[...]
        while let character = rest.first {
            if let sign = ["==", ":=", "=", ":"].first(where: { rest.hasPrefix($0) }) {
                return (name, sign, String(rest.dropFirst(sign.count)))
            }
            rest.removeFirst()
            if character == "\\", let escaped = rest.popFirst() {
                name.append(escaped)
            } else {
                name.append(character)
            }
        }
        return nil
    }

    private static func field(name: String, value: String) throws(CommandFailure) -> HTTPField {
        guard let fieldName = HTTPField.Name(name) else {
            throw CommandFailure("\"\(name)\" is not the name of a header field.")
        }
        // The value may be a secret, so that it is not shown. RFC 9110 §5.5 allows no control characters besides the tab.
        let trimmed = value.drop { $0 == " " || $0 == "\t" }
        let hasControls = trimmed.utf8.contains { $0 < 0x20 && $0 != 0x09 || $0 == 0x7F }
        guard HTTPField.isValidValue(String(trimmed)), !hasControls else {
            throw CommandFailure("The value of the header field \"\(name)\" has a character that is not allowed in it.")
        }
        return HTTPField(name: fieldName, value: String(trimmed))
    }
}

extension JSONError {
    /// The place and the reason, without the start of the body, which the command line contains anyway.
    fileprivate var place: String {
        var text = column.map { "at character \($0) " } ?? ""
        if let expected { text += "it expects \(expected)" }
        if let found { text += "\(expected == nil ? "" : ", ")found \(found)" }
        return text.isEmpty ? "\(kind.rawValue)" : text
    }
}
