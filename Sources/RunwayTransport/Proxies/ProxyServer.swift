import Foundation

/// A proxy that connections use.
public struct ProxyServer: Sendable, Hashable, CustomStringConvertible {
    /// The protocol for talking to a proxy.
    public enum Kind: String, Sendable, Hashable {
        /// An HTTP proxy. It forwards requests to plain `http` hosts (RFC 9112 §3.2.2), and opens a tunnel with CONNECT
        /// for `https` and for WebSockets (RFC 9110 §9.3.6).
        case http
        /// A SOCKS 5 proxy (RFC 1928), which looks up the host's name itself.
        case socks5
    }

    /// A name and a password for a proxy. They are sent unencrypted.
    public struct Credentials: Sendable, Hashable, CustomStringConvertible {
        /// The user name.
        public var name: String
        /// The password.
        public var password: String

        /// Creates credentials from a name and a password.
        public init(name: String, password: String) {
            self.name = name
            self.password = password
        }

        /// The value of `Proxy-Authorization` (RFC 7617).
        var authorization: String { "Basic \(Data("\(name):\(password)".utf8).base64EncodedString())" }

        /// A fixed text without name and password.
        public var description: String { "credentials" }
    }

    /// The protocol for talking to the proxy.
    public var kind: Kind
    /// The name or the address of the proxy.
    public var host: String
    /// The port of the proxy.
    public var port: Int
    /// The credentials for the proxy; `nil` if the proxy needs no credentials.
    public var credentials: Credentials?

    /// Creates a proxy, by default without credentials. With an empty host, or a port outside 1 to 65535, calls through
    /// the proxy fail as `NetworkError.Kind.invalidConfiguration`.
    public init(_ kind: Kind, host: String, port: Int, credentials: Credentials? = nil) {
        self.kind = kind
        self.host = host
        self.port = port
        self.credentials = credentials
    }

    /// Kind, host and port, without credentials.
    public var description: String { "\(kind.rawValue)://\(host):\(port)" }
}
