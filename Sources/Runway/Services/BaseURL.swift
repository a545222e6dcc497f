import HTTPTypes

/// The parsed base URL of a service: scheme, authority and path prefix.
struct BaseURL: Sendable, Equatable {
    let scheme: String
    let authority: String
    /// The path of the base URL: either empty, or a path that begins with a slash and does not end in one.
    let pathPrefix: String
    /// The request head (scheme, authority and path) from which all requests of the service are created. It is
    /// validated only once, here.
    let head: HTTPRequest

    /// Parses `https://host[:port][/path]`. Returns `nil` for anything else: user info, a query or fragment, `..`
    /// segments, or characters that no URI can contain. The host may be an internationalised name.
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
