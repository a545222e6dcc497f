import Foundation

/// A proxy that connections are made through.
public struct ProxyServer: Sendable, Hashable, CustomStringConvertible {
    /// The protocol of a proxy.
    public enum Kind: String, Sendable, Hashable {
        /// HTTP: it forwards requests of plain `http` (RFC 9112 §3.2.2), and opens a tunnel by CONNECT for `https` and
        /// for WebSockets (RFC 9110 §9.3.6).
        case http
        /// SOCKS version 5 (RFC 1928); the proxy looks up the host's name.
        case socks5
    }

    /// Name and password, which are sent unencrypted.
    public struct Credentials: Sendable, Hashable, CustomStringConvertible {
        /// The name.
        public var name: String
        /// The password.
        public var password: String

        /// Authenticates to the proxy by a name and a password.
        public init(name: String, password: String) {
            self.name = name
            self.password = password
        }

        /// The value of `Proxy-Authorization` (RFC 7617).
        var authorization: String { "Basic \(Data("\(name):\(password)".utf8).base64EncodedString())" }

        /// A constant, without name and password.
        public var description: String { "credentials" }
    }

    /// The protocol of the proxy.
    public var kind: Kind
    /// The host of the proxy, a name or an address.
    public var host: String
    /// The port of the proxy.
    public var port: Int
    /// Name and password for the proxy; `nil` for none.
    public var credentials: Credentials?

    /// Sends requests through a proxy, by default without credentials. Without a host and a port from 1 to 65535 calls
    /// through it fail as `NetworkError.Kind.invalidConfiguration`.
    public init(_ kind: Kind, host: String, port: Int, credentials: Credentials? = nil) {
        self.kind = kind
        self.host = host
        self.port = port
        self.credentials = credentials
    }

    /// Kind, host and port, without credentials.
    public var description: String { "\(kind.rawValue)://\(host):\(port)" }
}
