public import Runway

/// The configuration of a transport: the servers that it trusts, its time-outs, and its number of connections.
///
/// ```swift
/// var configuration = TransportConfiguration(connectTimeout: .seconds(5), maximumConnectionsPerOrigin: 4)
/// configuration.trustPolicy.minimumVersion = .tls13
/// configuration.wire.pingInterval = .seconds(30)
/// let network = NetworkLayer(transport: try NIOTransport(configuration: configuration))
/// ```
public struct TransportConfiguration: Sendable {
    /// The root certificates that are trusted.
    public enum Trust: Sendable {
        /// The roots of the operating system.
        case system
        /// These certificate authorities and no others, each as PEM text that may hold several certificates.
        case certificates(pem: [String])
    }

    /// Versions of HTTP that are offered to servers.
    public enum HTTPVersions: Sendable {
        /// HTTP/2 if the server accepts it over TLS, and HTTP/1.1.
        case automatic
        /// Only HTTP/1.1.
        case http1Only
    }

    /// The roots, pins, client certificates and development exceptions that ``NIOTransport`` trusts. The default trusts
    /// only the operating system's roots. All except the roots are set after the initializer.
    public var trustPolicy: TrustPolicy
    /// Versions of HTTP that are offered. The default is ``HTTPVersions/automatic``.
    public var httpVersions: HTTPVersions
    /// The longest time for making a connection, TLS included. The default is 10 s. If all connections are in use, a
    /// call over ``NIOTransport`` waits for one until its own deadline.
    public var connectTimeout: Duration
    /// The longest time without a byte while a response is awaited or read. The default is 60 s.
    public var idleTimeout: Duration
    /// The time for which an idle connection stays open. The default is 60 s.
    public var keepAlive: Duration
    /// The most HTTP/1.1 connections to one origin; further requests wait. The default is 8. Retired connections with
    /// requests in flight do not count, up to as many again.
    public var maximumConnectionsPerOrigin: Int
    /// Whether header fields and bodies pass unchanged, for proxies: nothing is added to a request, and no response is
    /// decoded. The default is `false`.
    public var isTransparent: Bool
    /// Settings of ``NIOTransport`` for HTTP/1.1 and HTTP/2. Set after the initializer; see its properties for the
    /// defaults.
    public var wire = WireSettings()
    /// The known addresses of hosts, and the measurements that select the best one. Set after the initializer. The
    /// default, `nil`, has no known addresses; the transport then measures by itself.
    public var hosts: HostBook?
    /// The proxies that connections are made through. Set after the initializer. By default no proxy is used.
    public var proxies = ProxySettings.none

    /// Configures a transport that trusts the ``TrustPolicy/roots`` of `trust`; see the properties for the defaults.
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
