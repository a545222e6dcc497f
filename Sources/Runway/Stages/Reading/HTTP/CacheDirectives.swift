/// The directives of all `Cache-Control` fields of one message, as they were written (RFC 9111 §5.2).
///
/// Parsing never fails. If a sender broke the rules, the strictest meaning is assumed: an invalid lifetime is zero, the
/// smallest of several lifetimes counts, and directives in an unterminated quoted string are read, too.
struct CacheDirectives: Sendable {
    enum Argument: Sendable, Equatable {
        case none
        case text(String)
        case malformed
    }

    private var directives: [(name: String, argument: Argument)] = []

    /// Parses the values of all `Cache-Control` lines.
    init(_ values: [String]) {
        for value in values {
            for element in FieldList.elements(of: value) { append(element) }
        }
    }

    var isEmpty: Bool { directives.isEmpty }

    /// Returns whether a directive is present, with or without an argument.
    func has(_ name: String) -> Bool { directives.contains { $0.name == name } }

    /// Returns the arguments of a directive in order.
    func arguments(of name: String) -> [Argument] { directives.filter { $0.name == name }.map(\.argument) }

    /// Returns the smallest duration of a directive, or `nil` if the directive is absent. An invalid duration counts as
    /// zero.
    func duration(_ name: String) -> Duration? {
        arguments(of: name).map { Self.duration($0) ?? .zero }.min()
    }

    /// Returns the field names that a directive lists, in lower case, or `nil` if the directive is absent.
    ///
    /// The list is empty if the directive applies to the whole message, or if its list is invalid.
    func fieldNames(_ name: String) -> [String]? {
        let arguments = arguments(of: name)
        if arguments.isEmpty { return nil }
        var names: [String] = []
        for argument in arguments {
            guard case .text(let text) = argument else { return [] }
            let listed = FieldList.elements(of: text).map { $0.lowercased() }
            guard !listed.isEmpty, listed.allSatisfy({ $0.utf8.allSatisfy(\.isTokenByte) }) else { return [] }
            names += listed
        }
        return names
    }

    /// Returns the duration in an argument, or `nil` if the argument is not a number of seconds.
    static func duration(_ argument: Argument) -> Duration? {
        guard case .text(let text) = argument else { return nil }
        return FieldList.seconds(text)
    }

    private mutating func append(_ element: Substring) {
        // The search is by bytes. An "=" with a combining character would be another `Character`.
        guard let equals = element.utf8.firstIndex(of: 0x3D) else {
            directives.append((element.lowercased(), .none))
            return
        }
        let name = element[..<equals]
        let value = element[element.utf8.index(after: equals)...]
        let trimmed = name.trimmingWhitespace
        // RFC 9111 §5.2 allows no whitespace around the equals sign, so a directive with whitespace there has a
        // malformed value.
        guard trimmed.endIndex == name.endIndex, value.first != " ", value.first != "\t" else {
            directives.append((trimmed.lowercased(), .malformed))
            return
        }
        guard value.first == "\"" else {
            let isToken = !value.isEmpty && value.utf8.allSatisfy(\.isTokenByte)
            directives.append((trimmed.lowercased(), isToken ? .text(String(value)) : .malformed))
            return
        }
        directives.append((trimmed.lowercased(), FieldList.unquoted(value).map { .text($0) } ?? .malformed))
    }
}
