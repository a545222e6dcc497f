import HTTPTypes

/// The target of an `http` or `https` URI (RFC 9110 §4.2). It has the same parts as a request: scheme, authority and
/// path.
package struct HTTPTarget: Sendable, Equatable {
    /// The reason why a URI can't be requested.
    package enum Problem: Error {
        /// The URI has no scheme or no authority.
        case relative
        /// The scheme is neither `http` nor `https`. The associated value is in lower case.
        case scheme(String)
        /// The authority does not identify a server.
        case authority(URIAuthority.Problem)
    }

    package let scheme: String
    package let authority: URIAuthority
    /// The path and query, beginning with a slash. Invalid octets are percent-encoded; all others and existing escapes
    /// are unchanged. The fragment is omitted because it is never sent (RFC 9110 §7.1).
    package var path: String

    /// Creates the target of an absolute URI.
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

    /// Resolves a reference that a field of the response contains (RFC 9110 §4.1). `head` is the request.
    init(_ reference: URIReference, from head: HTTPRequest) throws(Problem) {
        try self.init(reference.resolved(against: URIReference(head)))
    }
}

extension HTTPRequest {
    /// Replaces the scheme, authority and path of the request.
    mutating func point(to target: HTTPTarget) {
        scheme = target.scheme
        authority = target.authority.text
        path = target.path
    }
}
