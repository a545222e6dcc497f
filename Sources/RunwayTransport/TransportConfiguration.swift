public import Runway

/// How a transport connects: whom it trusts, how long it waits, how many connections it keeps.
public struct TransportConfiguration: Sendable {
    /// Whose certificates are accepted.
    public enum Trust: Sendable {
        /// The roots of the operating system.
        case system
        /// These certificate authorities and no others, each as PEM text that may hold several certificates.
        case certificates(pem: [String])
    }

    /// Which versions of HTTP are offered to servers.
    public enum HTTPVersions: Sendable {
        /// HTTP/2 where the server takes it over TLS, and HTTP/1.1.
        case automatic
        /// HTTP/1.1 alone.
        case http1Only
    }

    /// Whom ``NIOTransport`` trusts: roots, pins, client certificates, exceptions for developers. By default
    /// the operating system's roots alone. All but the roots are set after making the configuration.
    public var trustPolicy: TrustPolicy
    /// Which versions of HTTP are offered. The default is ``HTTPVersions/automatic``.
    public var httpVersions: HTTPVersions
    /// The longest wait for a connection to be made, TLS included. The default is 10 s. Where all connections that may be are in use a
    /// call over ``NIOTransport`` waits for one as long as its own deadline lets it.
    public var connectTimeout: Duration
    /// The longest silence of a server while it is awaited or while it sends. The default is 60 s.
    public var idleTimeout: Duration
    /// How long an unused connection is kept. The default is 60 s.
    public var keepAlive: Duration
    /// The most HTTP/1.1 connections to one origin; further requests wait. The default is 8. Connections that were retired and still
    /// carry something do not count, as long as they are not more.
    public var maximumConnectionsPerOrigin: Int
    /// Whether header fields and bodies pass as they are: nothing is added to a request, and no content coding of an answer undone.
    /// For proxies. The default is `false`.
    public var isTransparent: Bool
    /// How ``NIOTransport`` speaks. Set it after making the configuration; see its properties for the defaults.
    public var wire = WireSettings()
    /// Addresses of hosts that are known without asking the system, and which of them is the best. Set it after making the
    /// configuration. The default, `nil`, knows none; what is learned of addresses is the transport's own then.
    public var hosts: HostBook?
    /// Which proxies connections are made through. Set it after making the configuration. The default is none.
    public var proxies = ProxySettings.none

    /// Makes a configuration whose ``TrustPolicy/roots`` are those of `trust`; see the properties for the defaults.
    public init(
        trust: Trust = .system, httpVersions: HTTPVersions = .automatic, connectTimeout: Duration = .seconds(10),
        idleTimeout: Duration = .seconds(60), keepAlive: Duration = .seconds(60), maximumConnectionsPerOrigin: Int = 8,
        isTransparent: Bool = false
    ) {
        trustPolicy = TrustPolicy(roots: trust)
        self.httpVersions = httpVersions
        self.connectTimeout = connectTimeout
        self.idleTimeout = idleTimeout
        self.keepAlive = keepAlive
        self.maximumConnectionsPerOrigin = maximumConnectionsPerOrigin
        self.isTransparent = isTransparent
    }
}
