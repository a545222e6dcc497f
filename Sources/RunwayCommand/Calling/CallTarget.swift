import Runway

/// The URL of a call. Its path and query are not normalised.
struct CallTarget: Equatable {
    let scheme: String
    let authority: String
    /// The path and query, which begin with a slash. Only characters that are invalid in a request line are encoded.
    private(set) var path: String

    /// The port; the scheme's default if the URL names none.
    let port: Int
    let host: String

    /// Parses an absolute `http` or `https` URL.
    ///
    /// - Throws: ``CommandFailure`` that names the problem.
    init(_ text: String) throws(CommandFailure) {
        let target: HTTPTarget
        do throws(HTTPTarget.Problem) {
            target = try HTTPTarget(URIReference(text.utf8))
        } catch {
            throw CommandFailure(Self.text(of: error, in: text))
        }
        scheme = target.scheme
        authority = target.authority.text
        host = target.authority.host.lowercased()
        port = target.authority.port ?? (scheme == "https" ? 443 : 80)
        path = target.path
    }

    /// Parses a URL that may lack its scheme. It may also lack its host if it begins with a port or a path.
    ///
    /// `:8080/x` and `:/x` mean `http://localhost`. A URL without a scheme uses `http` for this machine, and `https`
    /// for every other host. A request is never sent in plain text to another host unless the URL says `http`.
    ///
    /// - Throws: ``CommandFailure`` that names the problem.
    init(shorthand text: String) throws(CommandFailure) {
        if text.isEmpty { throw CommandFailure("The URL is empty; it must have the form https://host[:port]/path.") }
        if text.beginsWithScheme {
            try self.init(text)
        } else if text.hasPrefix(":"), !text.hasPrefix("::") {
            let rest = text.dropFirst()
            guard rest.first.map({ $0.isNumber || "/?".contains($0) }) ?? true else {
                throw CommandFailure(
                    "The URL \"\(text)\" has no host; a port or a path follows \":\", as in :8080/path.")
            }
            try self.init("http://localhost" + (rest.first?.isNumber == true ? ":" : "") + rest)
        } else {
            let plain = try CallTarget(text, scheme: "http")
            if Origin(scheme: "http", host: plain.host, port: plain.port).isLoopback {
                self = plain
            } else {
                try self.init(text, scheme: "https")
            }
        }
    }

    /// Parses a URL without its scheme.
    ///
    /// - Throws: ``CommandFailure`` that names the problem. A colon without a port is an error: `http:/host`, which
    ///   lacks a slash, would otherwise call a host named `http`.
    init(_ text: String, scheme: String) throws(CommandFailure) {
        if text.prefix(while: { !"/?#\\".contains($0) }).hasSuffix(":") {
            throw CommandFailure(
                "The URL \"\(text)\" has no port after \":\"; a URL has the form https://host[:port]/path.")
        }
        try self.init("\(scheme)://\(text)")
    }

    private static func text(of problem: HTTPTarget.Problem, in text: String) -> String {
        switch problem {
        case .relative: "The URL \"\(text)\" is not absolute; it must have the form https://host[:port]/path."
        case .scheme(let scheme):
            "The URL \"\(text)\" has the scheme \"\(scheme)\"; only http and https can be called."
        case .authority(.userInfo):
            "The URL contains a user name. Pass name and password with --auth."
        case .authority(.internationalHost):
            "The host of \"\(text)\" can't be converted to ASCII (IDNA); write it as an A-label, such as xn--bcher-kva.example."
        case .authority(.port):
            "The URL \"\(text)\" has no host and port that can be called: ports are from 1 to 65535."
        case .authority(.host):
            "The URL \"\(text)\" has no host and port that can be called, such as example.com:8080 or [::1]."
        }
    }

    mutating func appendQuery(_ pairs: String) {
        if pairs.isEmpty { return }
        let separator = !path.contains("?") ? "?" : path.hasSuffix("?") || path.hasSuffix("&") ? "" : "&"
        path += separator + pairs
    }
}

extension String {
    /// Whether the text begins with a scheme and "://".
    var beginsWithScheme: Bool {
        let scheme = prefix { $0.isASCII && ($0.isLetter || $0.isNumber || "+-.".contains($0)) }
        return !scheme.isEmpty && self[scheme.endIndex...].hasPrefix("://")
    }
}
