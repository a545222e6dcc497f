/// The directives of all `Cache-Control` fields of one message, as they were written (RFC 9111 §5.2).
///
/// Reading never fails. If a sender broke the rules, the strictest meaning is assumed: an invalid lifetime is zero, of
/// several lifetimes the smallest counts, and the directives in a quoted string that never ends are read, too.
struct CacheDirectives: Sendable {
    /// The argument after a directive's name.
    enum Argument: Sendable, Equatable {
        case none
        case text(String)
        case malformed
    }

    private var directives: [(name: String, argument: Argument)] = []

    /// Reads field values, one for each line.
    init(_ values: [String]) {
        for value in values {
            for element in FieldList.elements(of: value) { append(element) }
        }
    }

    /// Whether there are no directives.
    var isEmpty: Bool { directives.isEmpty }

    /// Whether a directive is present, with or without an argument.
    func has(_ name: String) -> Bool { directives.contains { $0.name == name } }

    /// Returns the arguments of a directive, in their order.
    func arguments(of name: String) -> [Argument] { directives.filter { $0.name == name }.map(\.argument) }

    /// Returns the smallest of a directive's durations, where an invalid one counts as zero; `nil` if the directive is
    /// absent.
    func duration(_ name: String) -> Duration? {
        arguments(of: name).map { Self.duration($0) ?? .zero }.min()
    }

    /// Returns the field names that a directive lists, in lowercase; `nil` if the directive is absent.
    ///
    /// Empty if it applies to the whole message, and if its list is invalid.
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

    /// Returns the duration that an argument names; `nil` if it is not a number of seconds.
    static func duration(_ argument: Argument) -> Duration? {
        guard case .text(let text) = argument else { return nil }
        return FieldList.seconds(text)
    }

    private mutating func append(_ element: Substring) {
        // By bytes: a following combining character would form one character with it.
        guard let equals = element.utf8.firstIndex(of: 0x3D) else {
            directives.append((element.lowercased(), .none))
            return
        }
        let name = element[..<equals]
        let value = element[element.utf8.index(after: equals)...]
        let trimmed = name.trimmingWhitespace
        // RFC 9111 §5.2 allows no whitespace around the equals sign; such a directive is not trusted.
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
