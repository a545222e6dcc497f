import Foundation
import HTTPTypes

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif
#if canImport(Security)
    import Security
#endif

/// Sends requests with the platform's `URLSession`. On Apple's systems it is the default transport of a
/// ``NetworkLayer``, and the system decides about HTTP/3, the radio, the VPN and the proxy.
///
/// ```swift
/// let network = NetworkLayer(transport: URLSessionTransport())
/// ```
///
/// The layer handles redirects, cookies, caches, credentials and retries; the session decodes content codings. Header
/// fields with the same name are joined, and their order is lost; only `Set-Cookie` is split again.
///
/// On Apple's systems:
///
/// - A slow reader of a streamed response suspends its task.
/// - The system decides which servers are trusted. ``PublicKeyPins`` restrict which of the trusted servers receive
///   requests.
/// - The system has the credentials of its proxies.
/// - The record contains the times that the system measured.
/// - WebSockets are opened with the system's `URLSessionWebSocketTask`, without compression.
///
/// On Linux, Foundation's `URLSession` uses libcurl and has the following limits. Use `NIOTransport` there.
///
/// - A running task can't be paused. If a reader of a streamed response falls further behind than
///   ``Configuration/maximumBufferedByteCount``, it receives an error.
/// - The body of a redirect is delivered as a whole, after its last byte.
/// - A streamed request body is read into memory first, up to 64 MiB, and sent when it is complete.
/// - Only HTTP/1.1 and only the system's certificate authorities are supported. There are no public-key pins,
///   WebSockets and measured times, and the record does not contain the HTTP version.
/// - libcurl reads proxies from environment variables such as `http_proxy`, and would also use them for this machine. A
///   call to a loopback name or address therefore fails unless `no_proxy` lists the host.
/// - A call fails if its response has a content coding that libcurl does not know.
/// - Time-outs are rounded up to whole seconds, at least one.
/// - If a server closes the connection in the middle of the header fields, Foundation crashes the process (seen with
///   Swift 6.3). Send requests only to servers that you know.
public final class URLSessionTransport: Transport {
    /// The settings of a transport's connections.
    public struct Configuration: Sendable {
        /// The maximum time without a byte while connecting, waiting for a response, or reading it. The default is 60
        /// s.
        public var idleTimeout: Duration
        /// The maximum number of HTTP/1.1 connections to one origin. Further requests wait. The default is 8. Lower it
        /// for servers that refuse so many.
        public var maximumConnectionsPerOrigin: Int
        /// The maximum number of unread bytes of one streamed response. The default is 4 MiB; at least 64 KiB.
        ///
        /// Bytes that the system has read but not yet passed on are not counted.
        public var maximumBufferedByteCount: Int
        /// The maximum size of one streamed request body on Linux, in bytes. There it is read into memory before it is
        /// sent.
        package var maximumStreamedRequestByteCount = 64 << 20

        /// Whether requests may use expensive networks, such as mobile networks and hotspots. The default is `true`. It
        /// has an effect only on Apple's systems. With `false`, a call that finds no other network fails as
        /// `NetworkError.Kind.noNetwork`.
        public var allowsExpensiveNetworkAccess = true
        /// Whether requests may use networks in Low Data Mode. The default is `true`. It has an effect only on Apple's
        /// systems, like ``allowsExpensiveNetworkAccess``.
        public var allowsConstrainedNetworkAccess = true
        /// Whether connections may move from Wi-Fi to the mobile network when Wi-Fi is poor (Multipath TCP,
        /// `handover`). The default is `false`. It has an effect only on iOS, in apps with the entitlement for
        /// multipath, and with servers that support it.
        public var allowsMultipathHandover = false

        /// Creates a configuration. The properties state the defaults.
        public init(
            idleTimeout: Duration = .seconds(60), maximumConnectionsPerOrigin: Int = 8,
            maximumBufferedByteCount: Int = 4 << 20
        ) {
            self.idleTimeout = idleTimeout
            self.maximumConnectionsPerOrigin = maximumConnectionsPerOrigin
            self.maximumBufferedByteCount = maximumBufferedByteCount
        }
    }

    private let configuration: Configuration
    let relay: URLSessionRelay
    let session: URLSession

    /// Creates a transport over the platform's own networking. It connects when a request needs a connection.
    public convenience init(configuration: Configuration = Configuration()) {
        self.init(configuration, pins: [], nil)
    }

    /// Creates a transport that sends requests only to servers whose public keys match the pins of their hosts.
    ///
    /// The system decides first whether it trusts a server. Then the keys of the chain that it verified are compared
    /// with the pins, before any byte of a request is sent. A call that is refused throws
    /// `NetworkError.Kind.notTrusted`.
    ///
    /// ```swift
    /// let transport = try URLSessionTransport(pins: [pins]) { report in print(report.host, report.outcome) }
    /// let network = NetworkLayer(transport: transport)
    /// ```
    ///
    /// - Parameters:
    ///   - configuration: The configuration of the connections.
    ///   - pins: The public keys of hosts. If several sets apply to one host, a chain must match each of them.
    ///   - onPinReport: Called with the result for each new connection to a host with pins, on any thread; it must
    ///     return soon. The default is `nil`.
    /// - Throws: `NetworkError.Kind.invalidConfiguration` if `pins` is not empty on Linux, where Foundation reports no
    ///   chain: use `NIOTransport` there.
    public convenience init(
        configuration: Configuration = Configuration(), pins: [PublicKeyPins],
        onPinReport: (@Sendable (PinReport) -> Void)? = nil
    ) throws(NetworkError) {
        #if canImport(FoundationNetworking)
            if let host = pins.first?.host {
                throw NetworkError(
                    .invalidConfiguration, in: .transporting,
                    "The public keys of \(host) can't be pinned here: Foundation's URLSession reports no chain on Linux. "
                        + "Use NIOTransport.")
            }
        #endif
        self.init(configuration, pins: pins, onPinReport)
    }

    private init(
        _ configuration: Configuration, pins: [PublicKeyPins], _ onPinReport: (@Sendable (PinReport) -> Void)?
    ) {
        self.configuration = configuration
        #if canImport(Darwin)
            relay = URLSessionRelay(PinnedTrust(pins: pins, onReport: onPinReport))
        #else
            relay = URLSessionRelay()
        #endif
        session = URLSession(
            configuration: configuration.sessionConfiguration, delegate: relay, delegateQueue: relay.queue)
    }

    deinit {
        session.invalidateAndCancel()
    }

    /// Returns whether a call ends at its deadline or cancellation: always, except for a streamed body on Linux.
    public func endsInTime(_ request: Request) -> Bool {
        #if canImport(FoundationNetworking)
            if case .stream = request.body { return false }
        #endif
        return true
    }

    /// Sends a request and returns the response.
    ///
    /// - Throws: A `NetworkError` of the step `FlightStep.transporting`.
    public func send(_ request: Request, in flight: Flight) async throws(NetworkError) -> Response {
        #if canImport(Darwin)
            if let offer = request.webSocket { return try await openWebSocket(request, offer, in: flight) }
        #endif
        do {
            let exchange = try await begin(request, in: flight)
            return try await flight.withDeadlineHandler {
                try await exchange.response()
            } onDeadline: {
                exchange.stop(URLError(.timedOut))
            }
        } catch {
            throw NetworkError(session: error, from: request.head.authority)
        }
    }

    private func begin(_ request: Request, in flight: Flight) async throws -> URLSessionExchange {
        #if canImport(FoundationNetworking)
            let origin = Origin(request.head)
            if origin.isLoopback,
                let variable = LoopbackProxy.variable(for: origin, in: ProcessInfo.processInfo.environment)
            {
                throw LoopbackProxy(variable: variable)
            }
        #endif
        var urlRequest = try request.urlRequest()
        urlRequest.timeoutInterval = configuration.idleSeconds
        guard case .stream(let stream, let byteCount, let isReplayable) = request.body else {
            return relay.start(session.dataTask(with: urlRequest), for: request, in: flight, configuration, nil)
        }
        #if canImport(FoundationNetworking)
            let upload = try await Upload(
                stream, byteCount: byteCount, upTo: configuration.maximumStreamedRequestByteCount)
            let task = session.uploadTask(with: urlRequest, from: upload.bytes)
        #else
            let upload = Upload(stream, byteCount: byteCount, isReplayable: isReplayable)
            let task = session.uploadTask(withStreamedRequest: urlRequest)
        #endif
        return relay.start(task, for: request, in: flight, configuration, upload)
    }
}

extension URLSessionTransport.Configuration {
    fileprivate var idleSeconds: TimeInterval { max(1, idleTimeout.seconds.rounded(.up)) }

    /// The configuration of a session that stores nothing and adds nothing.
    fileprivate var sessionConfiguration: URLSessionConfiguration {
        let configuration = URLSessionConfiguration.ephemeral
        configuration.applyCommonSettings()
        configuration.requestCachePolicy = .reloadIgnoringLocalCacheData
        configuration.timeoutIntervalForRequest = idleSeconds
        configuration.httpMaximumConnectionsPerHost = max(1, maximumConnectionsPerOrigin)
        #if canImport(Darwin)
            configuration.allowsExpensiveNetworkAccess = allowsExpensiveNetworkAccess
            configuration.allowsConstrainedNetworkAccess = allowsConstrainedNetworkAccess
        #endif
        MultipathHandover.set(allowsMultipathHandover, in: configuration)
        return configuration
    }
}

extension URLSessionConfiguration {
    /// Applies the settings of all sessions of the layer: they store no cookies, responses or credentials, and use TLS
    /// 1.2 or later.
    func applyCommonSettings() {
        httpCookieStorage = nil
        httpShouldSetCookies = false
        httpCookieAcceptPolicy = .never
        urlCache = nil
        urlCredentialStorage = nil
        #if canImport(Darwin)
            tlsMinimumSupportedProtocolVersion = .TLSv12
        #endif
    }
}
