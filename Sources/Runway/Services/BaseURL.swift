import HTTPTypes

/// Scheme, authority and path prefix of a service, taken apart once.
struct BaseURL: Sendable, Equatable {
    let scheme: String
    let authority: String
    /// Empty, or begins with a slash and does not end in one.
    let pathPrefix: String
    /// The common part of the heads of all requests below it. Its texts are validated once, here.
    let head: HTTPRequest

    /// Parses `https://host[:port][/path]`; `nil` for anything else, also with user info, query or fragment, with a
    /// path with `..` segments, or with characters that no URI can have. The host may be an internationalised name.
    init?(_ text: String) {
        let uri = URIReference(text.utf8)
        guard let target = try? HTTPTarget(uri), uri.query == nil, uri.fragment == nil,
            uri.path.isEmpty || uri.path.elementsEqual(target.path.utf8),
            !target.path.split(separator: "/").contains(where: \.isDotSegment)
        else { return nil }
        scheme = target.scheme
        authority = target.authority.text
        var path = target.path
        while path.hasSuffix("/") { path.removeLast() }
        pathPrefix = path
        head = HTTPRequest(method: .get, scheme: scheme, authority: authority, path: "\(path)/")
    }

    /// Returns whether the target of a request is below this URL.
    func contains(_ request: HTTPRequest) -> Bool {
        request.scheme == scheme && request.authority == authority
            && request.path?.hasPrefix("\(pathPrefix)/") ?? false
    }
}
