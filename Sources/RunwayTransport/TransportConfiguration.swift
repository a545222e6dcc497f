public import Runway

/// The configuration of a transport: the servers that it trusts, its timeouts, and the number of its connections.
///
/// ```swift
/// var configuration = TransportConfiguration(connectTimeout: .seconds(5), maximumConnectionsPerOrigin: 4)
/// configuration.trustPolicy.requiresTLS13 = true
/// configuration.wire.pingInterval = .seconds(30)
/// let network = NetworkLayer(transport: try NIOTransport(configuration: configuration))
/// ```
public struct TransportConfiguration: Sendable {
    /// The trusted root certificates.
    public enum Trust: Sendable {
        /// The root certificates of the operating system.
        case system
        /// Only these certificate authorities. Each element is PEM text, which may contain several certificates.
        case certificates(pem: [String])
    }

    /// The roots, pins, client certificates and development exceptions of ``NIOTransport``. The default trusts only the
    /// operating system's roots. The initializer sets only the roots.
    public var trustPolicy: TrustPolicy
    /// Whether servers that support HTTP/2 over TLS are called over it. The default is `true`; otherwise all requests
    /// use HTTP/1.1.
    public var usesHTTP2: Bool
    /// The maximum time for establishing a connection, including TLS. The default is 10 s. If all connections are in
    /// use, a call over ``NIOTransport`` waits for one until its own deadline.
    public var connectTimeout: Duration
    /// The maximum time without a byte while a response is awaited or read. The default is 60 s.
    public var idleTimeout: Duration
    /// The time for which an idle connection stays open. The default is 60 s.
    public var keepAlive: Duration
    /// The maximum number of HTTP/1.1 connections to one origin; further requests wait. The default is 8. Retired
    /// connections with requests in flight do not count; there may be as many of these again.
    public var maximumConnectionsPerOrigin: Int
    /// Whether header fields and bodies pass unchanged, for use in proxies: nothing is added to a request, and no
    /// response is decoded. The default is `false`.
    public var isTransparent: Bool
    /// The settings of ``NIOTransport`` for HTTP/1.1 and HTTP/2. The initializer uses the defaults.
    public var wire = WireSettings()
    /// The known addresses of hosts, and the measurements that select the best one. Not a parameter of the initializer.
    /// The default, `nil`, has no known addresses; the transport then makes its own measurements.
    public var hosts: HostBook?
    /// The proxies that connections use. Not a parameter of the initializer. By default, no proxy is used.
    public var proxies = ProxySettings.none

    /// Creates a configuration. `trust` becomes the ``TrustPolicy/roots`` of ``trustPolicy``. Each other parameter has
    /// the default of its property.
    public init(
        trust: Trust = .system, usesHTTP2: Bool = true, connectTimeout: Duration = .seconds(10),
        idleTimeout: Duration = .seconds(60), keepAlive: Duration = .seconds(60), maximumConnectionsPerOrigin: Int = 8,
        isTransparent: Bool = false
    ) {
        trustPolicy = TrustPolicy(roots: trust)
        self.usesHTTP2 = usesHTTP2
        self.connectTimeout = connectTimeout
        self.idleTimeout = idleTimeout
        self.keepAlive = keepAlive
        self.maximumConnectionsPerOrigin = maximumConnectionsPerOrigin
        self.isTransparent = isTransparent
    }
}
