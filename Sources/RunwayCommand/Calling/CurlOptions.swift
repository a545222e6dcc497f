import HTTPTypes
import Runway
import RunwayJSON

/// The settings of a curl command line that do not belong to the request. The trust and connection settings match the
/// settings of the call.
struct CurlOptions {
    var connection: ConnectionOptions
    var certificateFile: String?
    var keyFile: String?
    var body: CallRequest.Body
    /// Whether curl decodes the content codings, as the call does. Otherwise curl prints the coded bytes.
    var decodes: Bool
    /// The redaction that names the form parts with secret values.
    var redaction: Redaction

    /// Returns the curl command line for a request.
    func command(for attempt: FlightRecord.Attempt) -> String {
        var attempt = attempt
        if case .form = body {
            // curl chooses its own boundary, so the media type is left out.
            attempt.headerFields[.contentType] = nil
        }
        var words: [String] = []
        if let file = connection.cacert { words.append("--cacert \(file.shellWord)") }
        if connection.insecure { words.append("--insecure") }
        if let file = certificateFile { words.append("--cert \(file.shellWord)") }
        if let file = keyFile { words.append("--key \(file.shellWord)") }
        if let proxy = connection.proxy { words.append(Self.proxyOption(proxy)) }
        if connection.http1 { words.append("--http1.1") }
        if decodes { words.append("--compressed") }
        let bodyWords = bodyOptions(attempt.method)
        return attempt.curlCommand(with: words + bodyWords, notesMissingBody: bodyWords.isEmpty)
    }

    private static func proxyOption(_ url: String) -> String {
        if url == "none" { return "--noproxy '*'" }
        guard let at = url.lastIndex(of: "@") else { return "--proxy \(url.shellWord)" }
        let scheme = url.firstRange(of: "://").map { String(url[..<$0.upperBound]) } ?? ""
        return "--proxy \((scheme + url[url.index(after: at)...]).shellWord) --proxy-user '\(Redaction.placeholder)'"
    }

    private func bodyOptions(_ method: HTTPRequest.Method) -> [String] {
        switch body {
        case .none, .bytes: return []
        case .file(let file):
            let words = ["--data-binary \("@\(file.path)".shellWord)"]
            return method == .get ? ["--request GET"] + words : words
        case .form(let members):
            return members.map { name, item in
                switch item {
                case .member where redaction.names.isSecretStringParameter(name):
                    "--form-string \("\(name)=\(Redaction.placeholder)".shellWord)"
                case .member(_, let value): "--form-string \("\(name)=\(value)".shellWord)"
                case .file(_, let file):
                    "--form \("\(name)=@\(file.path.quotedForCurl);type=\(file.contentType)".shellWord)"
                default: ""
                }
            }
        }
    }
}

extension String {
    private static let plainInShells = Set(
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._/:@+,".utf8)

    /// The text as one word for a POSIX shell, in quotes if needed.
    var shellWord: String {
        !isEmpty && utf8.allSatisfy(Self.plainInShells.contains) ? self : shellQuoted
    }

    /// The text as a path in curl's option `--form`. It is quoted, since a semicolon or a comma would end the path.
    fileprivate var quotedForCurl: String {
        "\"" + replacing("\\", with: "\\\\").replacing("\"", with: "\\\"") + "\""
    }
}

/// Suggests the right option to users who type an option of curl after `runway call`.
enum CurlHabits {
    /// Returns the option of `runway call` that replaces an option of curl; `nil` if the unknown option is not a common
    /// curl option.
    ///
    /// - Parameter message: The parser's message about the unknown option.
    static func advice(on message: String) -> String? {
        guard let option = message.prefixMatch(of: /Unknown option '(--[^']+|-\w)/)?.output.1,
            let replacement = replacement(of: option)
        else { return nil }
        return "There is no option \(option) as in curl: \(replacement)."
    }

    private static func replacement(of option: Substring) -> String? {
        switch option {
        case "-H", "--header": "a header field is an item, as in 'Name:value'"
        case "-d", "--data", "--data-raw", "--data-binary", "--data-urlencode":
            "items such as name=value make a body, and --body FILE sends a file as the body"
        case "-X", "--request": "the method comes before the URL, as in runway call PUT URL"
        case "-u", "--user": "name and password are passed by --auth user:password"
        case "-F": "--form makes a form of items such as name=value, and name@file adds a file to it"
        case "-L", "--location": "redirects are followed unless --no-follow is given"
        case "-s", "--silent": "progress is shown on a terminal alone"
        case "--head": "HEAD is a method, as in runway call HEAD URL"
        default: nil
        }
    }
}
