/// A proxy that connections are made through.
public struct ProxyServer: Sendable, Hashable, CustomStringConvertible {
    /// What a proxy speaks.
    public enum Kind: String, Sendable, Hashable {
        /// HTTP's CONNECT (RFC 9110 §9.3.6), for `https` and plain `http` alike.
        case http
        /// SOCKS version 5 (RFC 1928); the proxy looks up the host's name.
        case socks5
    }

    /// Name and password, which a proxy may want; sent as they are, over a connection that nobody encrypts.
    public struct Credentials: Sendable, Hashable, CustomStringConvertible {
        /// The name.
        public var name: String
        /// The password.
        public var password: String

        /// Makes credentials.
        public init(name: String, password: String) {
            self.name = name
            self.password = password
        }

        /// Says nothing of them.
        public var description: String { "credentials" }
    }

    /// What it speaks.
    public var kind: Kind
    /// Its host, a name or an address.
    public var host: String
    /// Its port.
    public var port: Int
    /// What it wants to know of us, if anything.
    public var credentials: Credentials?

    /// Makes a proxy. The default is one that wants no credentials. Without a host and a port from 1 to 65535 calls through it fail as
    /// `NetworkError.Kind.invalidConfiguration`.
    public init(_ kind: Kind, host: String, port: Int, credentials: Credentials? = nil) {
        self.kind = kind
        self.host = host
        self.port = port
        self.credentials = credentials
    }

    /// Kind, host and port, without credentials.
    public var description: String { "\(kind.rawValue)://\(host):\(port)" }
}
