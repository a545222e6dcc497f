import HTTPTypes

/// The method, URL and items of a command line. The method may be absent.
struct CallLine: Equatable {
    /// The method; `nil` if the command line names none. A request without a named method is a POST if it has a body,
    /// and otherwise a GET.
    let method: HTTPRequest.Method?
    let url: String
    let items: [String]

    /// The methods that are recognised in capital and small letters, and that shells complete.
    static let knownMethods: [HTTPRequest.Method] = [.get, .post, .put, .patch, .delete, .head, .options, .trace]

    /// Parses the words of a command line. The first word is a method if it has the form of one or if the second word
    /// is a URL.
    ///
    /// - Throws: ``CommandFailure`` that names the problem.
    init(_ words: [String]) throws(CommandFailure) {
        guard let first = words.first else { throw Self.missingURL }
        if first.contains("://"), words.count > 1, Self.known(words[1]) != nil {
            throw CommandFailure("The method comes before the URL, as in: runway call \(words[1]) \(first).")
        }
        let isMethod =
            Self.known(first) != nil || Self.hasFormOfMethod(first) || (words.count > 1 && words[1].beginsWithScheme)
        guard isMethod else {
            self.init(method: nil, url: first, items: Array(words.dropFirst()))
            return
        }
        let method = try Self.method(first)
        guard words.count > 1 else { throw Self.missingURL }
        self.init(method: method, url: words[1], items: Array(words.dropFirst(2)))
    }

    init(method: HTTPRequest.Method?, url: String, items: [String]) {
        self.method = method
        self.url = url
        self.items = items
    }

    private static let missingURL = CommandFailure("The <url> is missing. See \"runway call --help\".")

    private static func known(_ text: String) -> HTTPRequest.Method? {
        let name = text.uppercased()
        return (knownMethods + [.connect]).first { $0.rawValue == name }
    }

    /// Whether a word could be a method that ``knownMethods`` does not list: it has only capital letters and hyphens.
    private static func hasFormOfMethod(_ text: String) -> Bool {
        !text.isEmpty && text.utf8.allSatisfy { (0x41...0x5A).contains($0) || $0 == 0x2D }
    }

    private static func method(_ text: String) throws(CommandFailure) -> HTTPRequest.Method {
        let method = known(text) ?? HTTPRequest.Method(text)
        guard method != .connect else {
            throw CommandFailure("CONNECT requests a tunnel, which this command does not support.")
        }
        guard let method else { throw CommandFailure("\"\(text)\" is not an HTTP method.") }
        return method
    }
}
