import HTTPTypes

/// The target of an `http` or `https` URI (RFC 9110 §4.2), in the parts that the head of a request has.
package struct HTTPTarget: Sendable, Equatable {
    /// The reason why a URI can't be requested.
    package enum Problem: Error {
        /// The URI has no scheme or no authority.
        case relative
        /// The scheme, in lower case, is neither `http` nor `https`.
        case scheme(String)
        /// The authority names no server.
        case authority(URIAuthority.Problem)
    }

    /// `http` or `https`.
    package let scheme: String
    /// Host and port.
    package let authority: URIAuthority
    /// Path and query, beginning with a slash. Every octet that is not allowed there is `%XX`; all other octets and
    /// escapes are unchanged. The fragment, which is never sent, is missing (RFC 9110 §7.1).
    package var path: String

    /// Reads an absolute URI.
    package init(_ uri: URIReference) throws(Problem) {
        guard let scheme = uri.scheme, let authority = uri.authority else { throw .relative }
        self.scheme = String(decoding: scheme, as: UTF8.self).lowercased()
        guard self.scheme == "https" || self.scheme == "http" else { throw .scheme(self.scheme) }
        do throws(URIAuthority.Problem) { self.authority = try URIAuthority(authority) } catch {
            throw .authority(error)
        }
        let path = uri.path.isEmpty ? [UInt8(ascii: "/")] : uri.path
        self.path = PercentEncoding.target(uri.query.map { path + [UInt8(ascii: "?")] + $0 } ?? path)
    }

    /// Resolves a reference in a field of the response to `head` (RFC 9110 §4.1).
    init(_ reference: URIReference, from head: HTTPRequest) throws(Problem) {
        try self.init(reference.resolved(against: URIReference(head)))
    }
}

extension HTTPRequest {
    /// Replaces scheme, authority and path.
    mutating func point(to target: HTTPTarget) {
        scheme = target.scheme
        authority = target.authority.text
        path = target.path
    }
}
