import Foundation
import HTTPTypes
import NIOHTTP1
import Runway

/// Decides which requests are forwarded to the origin, and in which form (RFC 9112 §3, RFC 9110 §7).
struct RequestScreening: Sendable {
    /// The server of a reverse proxy; `nil` for a forward proxy, whose clients name a server in every request.
    let origin: CallTarget?
    let address: ListeningAddress
    /// The host names that clients may use for the proxy, in addition to its address.
    let allowedHosts: [String]
    /// The local address of the client's connection; `nil` if the system does not report it.
    let localAddress: String?
    let port: Int

    /// The name of the proxy in `Via` fields. The proxy recognises its own requests by this name.
    private var pseudonym: String { "runway-proxy-\(port)" }

    /// Returns the request to forward: in origin-form, with its `Host`, and with one more entry in `Via`.
    ///
    /// - Throws: The response to a request that is not forwarded.
    func screened(_ head: HTTPRequestHead) throws(Refusal) -> HTTPRequestHead {
        var head = head
        head.method = head.method.asReceived
        guard head.method != .CONNECT else {
            throw Refusal(
                .notImplemented,
                origin == nil
                    ? "CONNECT has to be the first request of its connection."
                    : "CONNECT requests a tunnel, which a proxy with --origin does not support.")
        }
        try checkFraming(&head)
        try checkExpectation(&head)
        let authority = try resolveTarget(&head)
        if let origin, !isOwn(authority, origin) {
            throw Refusal(
                .misdirectedRequest,
                "This proxy is for \(origin.authority) alone, and not for \(authority?.host ?? "no host").")
        }
        try countForward(&head)
        guard !ViaField.recipients(of: head.headers["via"]).contains(pseudonym) else {
            throw Refusal(
                .init(code: 508, reasonPhrase: "Loop Detected"), "The request came through this proxy before.")
        }
        // "An HTTP-to-HTTP gateway MUST send an appropriate Via header field in each inbound request message" (RFC 9110 §7.6.3).
        head.headers.add(name: "Via", value: "1.\(head.version.minor) \(pseudonym)")
        return head
    }

    /// Checks that the end of the body is unambiguous, and that the proxy does not have to decode a transfer coding
    /// (RFC 9112 §6.1). The length is forwarded in normalised form.
    private func checkFraming(_ head: inout HTTPRequestHead) throws(Refusal) {
        let codings = head.headers[canonicalForm: "transfer-encoding"].map { $0.lowercased() }
        let lengths = head.headers["content-length"]
        let isAmbiguous = !codings.isEmpty && (!head.isHTTP11 || !lengths.isEmpty)
        let length = ContentLength.understood(lengths)
        guard !isAmbiguous, lengths.isEmpty || length != nil else {
            throw Refusal(.badRequest, "The end of the request's body is ambiguous.")
        }
        if let length { head.headers.replaceOrAdd(name: "Content-Length", value: "\(length)") }
        if codings.isEmpty { return }
        // If `chunked` is not the last coding, the length of the body is unknown (RFC 9112 §6.3).
        guard codings.last == "chunked" else {
            throw Refusal(.badRequest, "The end of the request's body is ambiguous.")
        }
        guard codings == ["chunked"] else {
            throw Refusal(
                .notImplemented, "The transfer coding \"\(codings.joined(separator: ", "))\" is not undone here.")
        }
    }

    /// Accepts only the expectation `100-continue`, and none in HTTP/1.0 (RFC 9110 §10.1.1).
    private func checkExpectation(_ head: inout HTTPRequestHead) throws(Refusal) {
        if !head.isHTTP11 { head.headers.remove(name: "expect") }
        let expected = head.headers[canonicalForm: "expect"]
        guard expected.allSatisfy({ $0.lowercased() == "100-continue" }) else {
            throw Refusal(
                .expectationFailed,
                "This proxy does not support the expectation \"\(expected.joined(separator: ", "))\".")
        }
    }

    /// Converts the target to origin-form, and returns its authority.
    ///
    /// An invalid `Host` field is refused for every form of the target (RFC 9112 §3.2).
    private func resolveTarget(_ head: inout HTTPRequestHead) throws(Refusal) -> RequestAuthority? {
        let hosts = head.headers["host"]
        guard hosts.count == 1 || hosts.isEmpty && !head.isHTTP11 else {
            throw Refusal(.badRequest, "A request has one Host field (RFC 9112 §3.2), and this one has \(hosts.count).")
        }
        let named: RequestAuthority? = if let host = hosts.first { try RequestAuthority(host) } else { nil }
        guard head.uri.mayBeTarget else {
            throw Refusal(
                .badRequest, "The target of the request has a character that no target may have (RFC 9112 §3.2).")
        }
        if head.uri.hasPrefix("/") {
            guard origin == nil else { return named }
            throw Refusal(.badRequest, "A forward proxy needs a target in absolute form (RFC 9112 §3.2.2).")
        }
        if head.uri == "*" {
            throw Refusal(.notImplemented, "The target \"*\" is the proxy itself, which has no resources of its own.")
        }
        guard let mark = head.uri.firstRange(of: "://"),
            ["http", "https"].contains(head.uri[..<mark.lowerBound].lowercased())
        else {
            throw Refusal(.badRequest, "The target of the request has none of the forms of RFC 9112 §3.2.")
        }
        guard origin != nil || head.uri[..<mark.lowerBound].lowercased() == "http" else {
            throw Refusal(.badRequest, "A request over TLS goes through a tunnel; this proxy forwards http alone.")
        }
        // In absolute-form, the host of the target counts, and not the `Host` field (RFC 9112 §3.2.2).
        let rest = head.uri[mark.upperBound...]
        let authority = String(rest.prefix { $0 != "/" && $0 != "?" })
        let path = rest.dropFirst(authority.count)
        head.uri = path.hasPrefix("/") ? String(path) : "/\(path)"
        head.headers.replaceOrAdd(name: "Host", value: authority)
        return try RequestAuthority(authority)
    }

    /// Whether a request names this proxy or its origin, on any port. Without this check, a web page could reach the
    /// proxy under a host name that the page's owner controls. Web pages can't send a request without an authority.
    private func isOwn(_ authority: RequestAuthority?, _ origin: CallTarget) -> Bool {
        guard let authority else { return true }
        let own = [address.host, origin.host, localAddress].compactMap(\.self) + allowedHosts
        return own.contains(where: authority.isHost) || authority.host.isLoopbackHost
    }

    /// Decrements `Max-Forwards`, if the client set it (RFC 9110 §7.6.2).
    private func countForward(_ head: inout HTTPRequestHead) throws(Refusal) {
        guard head.method == .OPTIONS || head.method == .TRACE,
            let text = head.headers.first(name: "max-forwards"), let maximum = UInt32(text)
        else { return }
        guard maximum > 0 else {
            throw Refusal(
                .notImplemented, "Max-Forwards ends the request at this proxy, which has no resources of its own.")
        }
        head.headers.replaceOrAdd(name: "Max-Forwards", value: "\(maximum - 1)")
    }
}

extension String {
    /// Whether the text may be a request target (RFC 9112 §3.2). All characters that a target may not contain have to
    /// be percent-encoded.
    ///
    /// Some characters are allowed although RFC 3986 requires percent-encoding, since browsers send them: `[]{}|^`, the
    /// backtick, a percent sign that begins no escape, and the backslash in a query.
    fileprivate var mayBeTarget: Bool {
        let path = utf8.prefix { $0 != UInt8(ascii: "?") }
        return !path.contains(UInt8(ascii: "\\"))
            && utf8.allSatisfy { (0x21...0x7E).contains($0) && !"\"#<>".utf8.contains($0) }
    }
}

extension HTTPRequestHead {
    /// Whether the version is HTTP/1.1 and not HTTP/1.0. The parser accepts no other version.
    var isHTTP11: Bool { version != .http1_0 }
}

/// Parses `Content-Length` (RFC 9110 §8.6).
enum ContentLength {
    /// Returns the length if all values and list elements are the same digits; otherwise `nil` (RFC 9112 §6.3).
    static func understood(_ values: [some StringProtocol]) -> Int? {
        let lengths = Set(
            values.flatMap { $0.split(separator: ",", omittingEmptySubsequences: false) }.map { element -> Int? in
                let words = element.split { $0 == " " || $0 == "\t" }
                guard words.count == 1, words[0].utf8.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
                return Int(words[0])
            })
        return lengths.count == 1 ? lengths.first ?? nil : nil
    }
}

/// Parses `Via`, which names the intermediaries of a message (RFC 9110 §7.6.3).
enum ViaField {
    /// Returns the recipient of each element in lower case: a host, which may have a port, or a pseudonym.
    ///
    /// An element is a protocol, a recipient, and optionally a comment, with any blanks between them.
    static func recipients(of values: [String]) -> [String] {
        values.flatMap { withoutComments($0).split(separator: ",") }.compactMap { element in
            let words = element.split { $0 == " " || $0 == "\t" }
            return words.count > 1 ? words[1].lowercased() : nil
        }
    }

    /// Returns the value with each comment replaced by a blank. Comments may be nested, and contain escaped parentheses
    /// (RFC 9110 §5.6.5). An unclosed parenthesis does not begin a comment.
    private static func withoutComments(_ value: String) -> String {
        var outer: [UInt8] = []
        /// The bytes since the start of the outermost comment.
        var comment: [UInt8] = []
        var depth = 0
        var isEscaped = false
        for byte in value.utf8 {
            if depth == 0, byte != UInt8(ascii: "(") {
                outer.append(byte)
                continue
            }
            comment.append(byte)
            if isEscaped {
                isEscaped = false
            } else if byte == UInt8(ascii: "\\") {
                isEscaped = true
            } else if byte == UInt8(ascii: "(") {
                depth += 1
            } else if byte == UInt8(ascii: ")") {
                depth -= 1
                guard depth == 0 else { continue }
                outer.append(0x20)
                comment = []
            }
        }
        return String(decoding: outer + comment, as: UTF8.self)
    }
}
