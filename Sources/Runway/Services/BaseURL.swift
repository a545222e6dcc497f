import Foundation
import HTTPTypes

/// Scheme, authority and path prefix of a service, taken apart once.
struct BaseURL: Sendable, Equatable {
    let scheme: String
    let authority: String
    /// Empty, or begins with a slash and does not end in one.
    let pathPrefix: String
    /// What the heads of all requests below it have in common. Its texts are looked through once, here.
    let head: HTTPRequest

    /// Takes `https://host[:port][/path]` apart; `nil` for anything else, also with user info, query or fragment, or
    /// with a path that leads upwards.
    init?(_ text: String) {
        guard let components = URLComponents(string: text, encodingInvalidCharacters: false),
            text.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F }),
            let scheme = components.scheme?.lowercased(), scheme == "https" || scheme == "http",
            let host = components.encodedHost, !host.isEmpty,
            components.user == nil, components.password == nil, components.query == nil, components.fragment == nil,
            components.hasUsablePort,
            !components.percentEncodedPath.split(separator: "/").contains(where: \.isDotSegment)
        else { return nil }
        self.scheme = scheme
        authority = components.port.map { "\(host):\($0)" } ?? host
        var path = components.percentEncodedPath
        while path.hasSuffix("/") { path.removeLast() }
        pathPrefix = path
        head = HTTPRequest(method: .get, scheme: scheme, authority: authority, path: "\(path)/")
    }
}

extension URLComponents {
    /// Whether the port is one that can be dialled, or none is given.
    var hasUsablePort: Bool {
        // A port of more digits than a number holds is `nil`, though it is there.
        guard let port else { return rangeOfPort?.isEmpty ?? true }
        return (1...65535).contains(port)
    }
}
