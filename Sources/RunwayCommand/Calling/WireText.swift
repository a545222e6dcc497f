import HTTPTypes
import Runway

/// The heads of a request and its response as they were sent, with secrets redacted.
struct WireText {
    let attempt: FlightRecord.Attempt

    /// The HTTP version of the response. Without a response, the oldest version that is offered.
    private var version: String { attempt.httpVersion ?? "HTTP/1.1" }
    /// The HTTP version of the request. It is HTTP/1.1 even if the server responds with HTTP/1.0.
    private var requestVersion: String { version.hasPrefix("HTTP/1.") ? "HTTP/1.1" : version }

    /// The request line and every header field, including those that frame the message.
    ///
    /// For HTTP/2, the request line and `Host` show the content of the pseudo-header fields (RFC 9113 §8.3.1).
    var requestLines: [String] {
        let (authority, target) = attempt.url.authorityAndTarget
        var lines = ["\(attempt.method.rawValue) \(target) \(requestVersion)"]
        let fields = attempt.headerFields
        if !fields.contains(where: { $0.name.canonicalName == "host" }) { lines.append("Host: \(authority)") }
        lines += fields.filter { ![.contentLength, .transferEncoding].contains($0.name) }.map(\.line)
        switch attempt.requestByteCount {
        case nil where requestVersion == "HTTP/1.1": lines.append("Transfer-Encoding: chunked")
        case nil: break
        // RFC 9110 §8.6 asks for `Content-Length: 0` if these methods have no content.
        case 0?: if [.post, .put, .patch].contains(attempt.method) { lines.append("Content-Length: 0") }
        case let count?: lines.append("Content-Length: \(count)")
        }
        return lines
    }

    /// The status line and header fields of the response; empty if there was no response.
    var responseLines: [String] {
        guard let status = attempt.status else { return [] }
        return ["\(version) \(status.code) \(status.reasonPhrase)"] + (attempt.responseHeaderFields ?? [:]).map(\.line)
    }

    /// The heads of the request and the response, in the format of `curl -v`.
    var exchange: String {
        (requestLines.map { "> \($0)" } + responseLines.map { "< \($0)" }).joined(separator: "\n")
    }
}

extension HTTPField {
    fileprivate var line: String { "\(name.rawName): \(value)" }
}

extension String {
    fileprivate var authorityAndTarget: (authority: String, target: String) {
        let rest = firstRange(of: "://").map { self[$0.upperBound...] } ?? self[...]
        let authority = rest.prefix { $0 != "/" && $0 != "?" }
        return (String(authority), String(rest[authority.endIndex...]))
    }
}
