import Foundation
import HTTPTypes
import Runway

/// The request of a curl command line.
///
/// Options that affect the request are interpreted as in curl 8. Options for the connection and the output are skipped.
/// All other options are refused, so that the command only signs a request that curl would send. Header fields that
/// curl adds by itself, such as `User-Agent`, are not added.
struct CurlLine {
    let request: RequestInput

    /// - Parameter words: The words after `curl`.
    /// - Throws: ``CommandFailure`` if the command line, or a file that it names, can't be used.
    init(_ words: [String]) throws(CommandFailure) {
        var reader = CurlReader(words: words[...])
        try reader.read()
        request = try reader.request()
    }
}

private struct CurlReader {
    var words: ArraySlice<String>
    private var method: HTTPRequest.Method?
    private var url: String?
    private var fields: [(name: String, value: String?)] = []
    private var data: [UInt8]?
    private var isQuery = false
    private var isHead = false
    private var isJSON = false
    private var isPathAsIs = false
    private var user: String?

    /// Short options, and the long options with the same meaning.
    private static let longForms: [Character: String] = [
        "X": "request", "H": "header", "d": "data", "G": "get", "I": "head", "u": "user", "A": "user-agent",
        "e": "referer", "b": "cookie", "s": "silent", "S": "show-error", "v": "verbose", "k": "insecure",
        "i": "include",
        "L": "location", "f": "fail", "o": "output", "m": "max-time", "x": "proxy", "w": "write-out", "E": "cert",
        "g": "globoff", "N": "no-buffer", "#": "progress-bar", "O": "remote-name", "F": "form", "T": "upload-file",
        "4": "ipv4", "6": "ipv6",
    ]
    /// Options that do not change the request.
    private static let skippedFlags: Set<String> = [
        "silent", "show-error", "verbose", "insecure", "include", "location", "fail", "fail-with-body", "globoff",
        "no-buffer", "progress-bar", "remote-name", "ipv4", "ipv6", "compressed", "http1.1", "http2", "http3",
    ]
    /// Options with a value that do not change the request.
    private static let skippedOptions: Set<String> = [
        "output", "max-time", "connect-timeout", "proxy", "proxy-user", "noproxy", "write-out", "cert", "key", "cacert",
        "retry", "resolve", "connect-to",
    ]

    init(words: ArraySlice<String>) { self.words = words }

    mutating func read() throws(CommandFailure) {
        while let word = words.popFirst() {
            if word.hasPrefix("--"), word.count > 2 {
                try apply(String(word.dropFirst(2)), attached: nil, written: word)
            } else if word.hasPrefix("-"), word.count > 1, word != "--" {
                try applyShort(word.dropFirst())
            } else if word != "--" {
                try setURL(word)
            }
        }
    }

    /// Applies a word of short options. The last option may be followed by its value: `-sXPOST`.
    private mutating func applyShort(_ letters: Substring) throws(CommandFailure) {
        var letters = letters
        while let letter = letters.popFirst() {
            guard let name = Self.longForms[letter] else { throw Self.unknown("-\(letter)") }
            let isFlag = Self.skippedFlags.contains(name) || ["get", "head"].contains(name)
            if isFlag {
                try apply(name, attached: nil, written: "-\(letter)")
            } else {
                return try apply(name, attached: letters.isEmpty ? nil : String(letters), written: "-\(letter)")
            }
        }
    }

    private mutating func apply(_ name: String, attached: String?, written: String) throws(CommandFailure) {
        if Self.skippedFlags.contains(name) { return }
        switch name {
        case "get": isQuery = true
        case "head": isHead = true
        case "path-as-is": isPathAsIs = true
        default:
            guard let value = attached ?? words.popFirst() else {
                throw CommandFailure("The option \(written) of the curl command has no value.")
            }
            if !Self.skippedOptions.contains(name) { try apply(name, value, written: written) }
        }
    }

    private mutating func apply(_ name: String, _ value: String, written: String) throws(CommandFailure) {
        switch name {
        case "request":
            guard let method = HTTPRequest.Method(value) else {
                throw CommandFailure("\"\(value)\" is not an HTTP method.")
            }
            self.method = method
        case "url": try setURL(value)
        case "header": try addField(value)
        case "user": user = value
        case "user-agent": fields.append(("User-Agent", value))
        case "referer": fields.append(("Referer", value))
        case "cookie":
            guard value.contains("=") else { throw Self.unsupported("--cookie with a file") }
            fields.append(("Cookie", value))
        case "data", "data-ascii": append(try Self.content(of: value, isText: true))
        case "data-binary": append(try Self.content(of: value, isText: false))
        case "data-raw": append(Array(value.utf8))
        case "data-urlencode": append(try Self.encoded(value))
        case "json":
            isJSON = true
            // curl joins the values of this option without a separator, unlike other data.
            data = (data ?? []) + (try Self.content(of: value, isText: false))
        case "form", "form-string":
            throw Self.unsupported("--form, whose boundary is another each time; write the request to a file")
        default: throw Self.unknown(written)
        }
    }

    private mutating func setURL(_ text: String) throws(CommandFailure) {
        guard url == nil else { throw CommandFailure("The curl command has several URLs; only one can be signed.") }
        url = text
    }

    private mutating func append(_ part: [UInt8]) {
        data = data.map { $0 + [UInt8(ascii: "&")] + part } ?? part
    }

    /// Adds a header field: `Name: value`. `Name;` adds an empty value, and `Name:` no field.
    private mutating func addField(_ text: String) throws(CommandFailure) {
        if text.hasPrefix("@") { throw Self.unsupported("--header with a file") }
        if let colon = text.firstIndex(of: ":") {
            let value = text[colon...].dropFirst().trimmingPrefix { $0 == " " || $0 == "\t" }
            fields.append((String(text[..<colon]), value.isEmpty ? nil : String(value)))
        } else if text.hasSuffix(";") {
            fields.append((String(text.dropLast()), ""))
        } else {
            throw CommandFailure("A header field of the curl command has no colon.")
        }
    }

    // MARK: - The request

    func request() throws(CommandFailure) -> RequestInput {
        guard let url else { throw CommandFailure("The curl command has no URL.") }
        // curl uses `http` for a URL without a scheme.
        var target = try url.beginsWithScheme ? CallTarget(url) : CallTarget(url, scheme: "http")
        try check(url, target)
        if isQuery, let data {
            guard data.allSatisfy({ (0x21...0x7E).contains($0) && $0 != 0x25 && $0 != 0x23 }) else {
                throw Self.unsupported("--get with data that its versions encode differently; write them in the URL")
            }
            target.appendQuery(String(decoding: data, as: UTF8.self))
        }
        let body = isQuery ? nil : data
        var head = HTTPRequest(
            method: method ?? (isHead ? .head : body == nil ? .get : .post), scheme: target.scheme,
            authority: target.authority, path: target.path)
        for field in fields where field.name.lowercased() == "host" { head.authority = field.value ?? head.authority }
        head.headerFields = try headerFields(hasBody: body != nil)
        return RequestInput(head: head, body: body ?? [])
    }

    /// Throws an error if any version of curl would change the URL before sending it.
    private func check(_ url: String, _ target: CallTarget) throws(CommandFailure) {
        let authorityAndTarget = url.firstRange(of: "://").map { url[$0.upperBound...] } ?? url[...]
        let written = authorityAndTarget.prefix { $0 != "#" }.drop { $0 != "/" && $0 != "?" }
        guard target.path == (written.hasPrefix("/") ? "\(written)" : "/\(written)") else {
            throw Self.unsupported(
                "a URL with characters that must be percent-encoded, which its versions do differently")
        }
        let segments = target.path.prefix { $0 != "?" }.split(separator: "/")
        if !isPathAsIs, segments.contains(".") || segments.contains("..") {
            throw Self.unsupported("a path with dot segments, which it removes without --path-as-is")
        }
    }

    private func headerFields(hasBody: Bool) throws(CommandFailure) -> HTTPFields {
        let names = Set(fields.map { $0.name.lowercased() })
        var all = fields
        if let user, !names.contains("authorization") {
            all.append(("Authorization", try CallAuthorization(user).fieldValueWithPassword()))
        }
        if hasBody, !names.contains("content-type") {
            all.append(("Content-Type", isJSON ? "application/json" : "application/x-www-form-urlencoded"))
        }
        if isJSON, !names.contains("accept") { all.append(("Accept", "application/json")) }
        var headerFields = HTTPFields()
        for (name, value) in all where name.lowercased() != "host" {
            guard let value else { continue }
            guard let fieldName = HTTPField.Name(name), HTTPField.isValidValue(value) else {
                throw CommandFailure(
                    "The header field \"\(name)\" of the curl command has a character that is not allowed.")
            }
            headerFields.append(HTTPField(name: fieldName, value: value))
        }
        return headerFields
    }

    // MARK: - Data

    /// Returns the value itself, or the content of the file that follows `@`. Line ends are removed from a text file.
    private static func content(of value: String, isText: Bool) throws(CommandFailure) -> [UInt8] {
        guard value.hasPrefix("@") else { return Array(value.utf8) }
        if value == "@-" { throw unsupported("standard input as a body; name a file") }
        let bytes = try WholeFile.bytes(String(value.dropFirst()))
        return isText ? bytes.filter { $0 != 0x0A && $0 != 0x0D && $0 != 0 } : bytes
    }

    /// Returns the value of `content`, `=content`, `name=content`, `@file` or `name@file`. Throws an error if curl
    /// would encode the value.
    private static func encoded(_ value: String) throws(CommandFailure) -> [UInt8] {
        guard let sign = value.firstIndex(where: { $0 == "=" || $0 == "@" }) else {
            return try encoded(Array(value.utf8))
        }
        let name = value[..<sign]
        let rest = String(value[sign...].dropFirst())
        let content = value[sign] == "=" ? Array(rest.utf8) : try WholeFile.bytes(rest)
        return Array((name.isEmpty ? "" : "\(name)=").utf8) + (try encoded(content))
    }

    private static func encoded(_ bytes: [UInt8]) throws(CommandFailure) -> [UInt8] {
        let isPlain = bytes.allSatisfy { byte in
            switch byte {
            case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x2D, 0x2E, 0x5F, 0x7E: true
            default: false
            }
        }
        guard isPlain else {
            throw unsupported(
                "--data-urlencode with a text that its versions encode differently; use --data with the encoded one")
        }
        return bytes
    }

    private static func unknown(_ option: String) -> CommandFailure {
        CommandFailure("The option \(option) of the curl command is not known here, and may change the request.")
    }

    private static func unsupported(_ what: String) -> CommandFailure {
        CommandFailure("The curl command uses \(what): that can't be read here.")
    }
}
