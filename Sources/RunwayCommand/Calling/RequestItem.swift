import HTTPTypes
import RunwayJSON

/// One part of a request as it is written on the command line: a name, a sign that states its kind, and a value.
///
/// | sign | meaning |
/// |---|---|
/// | `name==value` | a query parameter |
/// | `name=value` | a string member of the JSON body, or a field of a form |
/// | `name:=json` | a member of the JSON body, as JSON |
/// | `name:value` | a header field |
/// | `name@file` | a file of a form (multipart/form-data) |
///
/// An `@` after one of the first four signs reads the value from a file. The first sign in the text counts. If several
/// signs begin at the same position, the longest counts.
///
/// In the name, a backslash escapes the next character. The value is everything after the sign, unchanged, except that
/// `\@` at its start means `@`.
enum RequestItem: Equatable {
    case query(name: String, value: String)
    case member(name: String, value: String)
    case json(name: String, bytes: [UInt8])
    case header(HTTPField)
    case file(name: String, FormFile)

    private enum Sign: String, CaseIterable {
        case jsonFile = ":=@"
        case queryFile = "==@"
        case query = "=="
        case json = ":="
        case memberFile = "=@"
        case headerFile = ":@"
        case member = "="
        case header = ":"
        case file = "@"

        /// The corresponding sign that takes the value from the command line; `nil` if this sign reads no file.
        var withoutFile: Sign? {
            switch self {
            case .jsonFile: .json
            case .queryFile: .query
            case .memberFile: .member
            case .headerFile: .header
            default: nil
            }
        }
    }

    private static let form = "use name=value, name:=json, name==value, name:value or name@file."

    /// Parses one item. Reads its value from a file if the sign asks for it.
    ///
    /// - Throws: ``CommandFailure`` that names the problem.
    init(_ text: String) throws(CommandFailure) {
        guard !text.isEmpty else { throw CommandFailure("An item is empty; \(Self.form)") }
        guard let (name, sign, rest) = Self.split(text) else {
            throw CommandFailure("The item \"\(text)\" has no sign; \(Self.form)")
        }
        guard !name.isEmpty else {
            let hint = sign == .file ? " To send a file as the body, use --body FILE." : ""
            throw CommandFailure("The item \"\(text)\" has no name before \"\(sign.rawValue)\".\(hint)")
        }
        if sign == .file {
            self = .file(name: name, try FormFile(rest))
        } else if let plain = sign.withoutFile {
            var value = try WholeFile.text(rest)
            // A final line feed belongs to the file, and not to a parameter or header field.
            if plain != .member, value.utf8.last == 0x0A { value.unicodeScalars.removeLast() }
            self = try Self.item(name, plain, value, written: text)
        } else {
            self = try Self.item(name, sign, rest.hasPrefix("\\@") ? String(rest.dropFirst()) : rest, written: text)
        }
    }

    private static func item(
        _ name: String, _ sign: Sign, _ value: String, written text: String
    ) throws(CommandFailure) -> RequestItem {
        switch sign {
        case .query: return .query(name: name, value: value)
        case .json:
            do {
                return .json(name: name, bytes: try JSONDocument(value).root.canonicalBytes(sortsKeys: false))
            } catch {
                throw CommandFailure(
                    "The value of the item \"\(text)\" is not JSON: \(error.place); a string is written name=value.")
            }
        case .header: return .header(try field(name: name, value: value))
        default: return .member(name: name, value: value)
        }
    }

    /// Splits a text into name, sign and value. Returns `nil` if it has no sign.
    private static func split(_ text: String) -> (name: String, sign: Sign, value: String)? {
        var name = ""
        var rest = text[...]
        while let character = rest.first {
            if let sign = Sign.allCases.first(where: { rest.hasPrefix($0.rawValue) }) {
                return (name, sign, String(rest.dropFirst(sign.rawValue.count)))
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
        // In a header field, RFC 9110 §5.5 allows no control character except the tab. The error does not show the
        // value, which may be a secret.
        let trimmed = value.drop { $0 == " " || $0 == "\t" }
        let hasControls = trimmed.utf8.contains { $0 < 0x20 && $0 != 0x09 || $0 == 0x7F }
        guard HTTPField.isValidValue(String(trimmed)), !hasControls else {
            throw CommandFailure("The value of the header field \"\(name)\" has a character that is not allowed in it.")
        }
        return HTTPField(name: fieldName, value: String(trimmed))
    }
}

extension JSONError {
    /// The position and the reason of the error. The message omits the start of the body, since the user has typed it.
    fileprivate var place: String {
        var text = column.map { "at character \($0) " } ?? ""
        if let expected { text += "it expects \(expected)" }
        if let found { text += "\(expected == nil ? "" : ", ")found \(found)" }
        return text.isEmpty ? "\(kind.rawValue)" : text
    }
}
