import HTTPTypes
import NIOCore
public import Runway

#if !Transport
    #error("RunwayTransport needs the package trait Transport.")
#endif

/// Sends requests over HTTP/1.1 and HTTP/2 with SwiftNIO, over TLS, and decodes gzip and deflate.
///
/// ```swift
/// let network = NetworkLayer(transport: try NIOTransport())
/// ```
///
/// Each origin has a pool: one connection of HTTP/2, or up to ``TransportConfiguration/maximumConnectionsPerOrigin``
/// connections of HTTP/1.1. Connections stay open for ``TransportConfiguration/keepAlive`` after their last use. TLS
/// sessions are not resumed, so only an open connection saves a handshake.
///
/// These requests are sent again on another connection: a request that the server certainly did not process, and an
/// idempotent request on a reused connection that the server was closing (RFC 9112 §9.3.1). If a server refuses a
/// request over HTTP/2 because it requires HTTP/1.1 (RFC 9113 §7), this request and later ones to the origin use
/// HTTP/1.1.
///
/// The layer decides on every other retry, for example after any other reset of the stream, or after an error with
/// which the server closed the connection.
///
/// When a transport is released, it closes its connections at once. ``shutdown(waitingAtMost:)`` waits for the requests
/// in flight.
///
/// Don't use this transport on watchOS, where only apps that stream audio or make calls can open sockets. Use
/// `URLSessionTransport` there.
public final class NIOTransport: Transport {
    let pools: OriginPools
    let arrival: NetworkArrival
    private let selector: HostSelector
    private let isTransparent: Bool
    let configuration: TransportConfiguration
    let http1: HTTP1Origins
    let upgraded: UpgradedConnections
    let gauge = RequestGauge()

    /// Creates a transport with its own connections, which are opened when requests need them.
    ///
    /// - Throws: `NetworkError.Kind.invalidConfiguration` for certificates that cannot be read.
    public convenience init(
        configuration: TransportConfiguration = TransportConfiguration()
    ) throws(NetworkError) {
        FirstUse.preload()
        self.init(configuration: configuration, dialer: try Dialer(configuration))
    }

    init(configuration: TransportConfiguration, dialer: Dialer) {
        isTransparent = configuration.isTransparent
        self.configuration = configuration
        upgraded = UpgradedConnections(configuration, dialer)
        http1 = HTTP1Origins(configuration, dialer)
        pools = OriginPools(configuration, dialer: dialer, http1)
        arrival = NetworkArrival(dialer)
        selector = dialer.selector
    }

    deinit {
        arrival.cancel()
        pools.shutDown()
    }

    /// Returns whether the transport itself ends the request at its deadline: `true` unless the request body or the
    /// response body is a stream.
    public func endsInTime(_ request: Request) -> Bool {
        switch (request.delivery, request.body) {
        case (.streamed, _), (_, .stream): false
        default: true
        }
    }

    /// Sends a request and returns the response.
    ///
    /// - Throws: A `NetworkError` of the step `FlightStep.transporting`.
    public func send(_ request: Request, in flight: Flight) async throws(NetworkError) -> Response {
        if let offer = request.webSocket { return try await openWebSocket(request, offer, in: flight) }
        do {
            let head = try WireRequestHead(request, isTransparent: isTransparent)
            // The second attempt of a hedged request must use another address than the first attempt.
            let isSpare = request.hedgedAttempt?.contender == .second
            guard let lease = PoolLease(to: Origin(request.head), of: pools, isSpare: isSpare, countedBy: gauge) else {
                throw ExchangeFailure(WireError.shutDown)
            }
            let exchange = Exchange(request, head, in: lease.pool, isLongLived: flight.options.isLongLived) {
                flight.noteHTTPVersion($0, of: request)
            }
            exchange.startUpload()
            let (response, wire) = await Self.outcome(of: exchange, in: flight)
            flight.noteWire(wire, of: request)
            return Response(try response.get(), to: exchange, in: flight, holding: lease)
        } catch {
            throw NetworkError(transport: error, from: request.head.authority)
        }
    }

    private static func outcome(of exchange: Exchange, in flight: Flight) async -> Exchange.Outcome {
        await flight.withDeadlineHandler {
            await withTaskCancellationHandler {
                await withCheckedContinuation { exchange.begin($0) }
            } onCancel: {
                exchange.cancel(CancellationError())
            }
        } onDeadline: {
            exchange.cancel(WireError.deadlineExceeded)
        }
    }

    /// Connects to the origin of a URL, unless a connection is open, so that the first request need not wait. Returns
    /// immediately, and reports no failure.
    ///
    /// - Parameter url: An absolute URL with the scheme `http` or `https`, such as a service's base URL. Anything else
    ///   is ignored.
    public func warmUp(_ url: String) {
        guard let target = try? HTTPTarget(URIReference(url.utf8)) else { return }
        warmUp(
            Origin(HTTPRequest(method: .head, scheme: target.scheme, authority: target.authority.text, path: "/")))
    }

    private func warmUp(_ origin: Origin) { PoolLease(to: origin, of: pools, countedBy: gauge)?.pool.warm() }

    /// Prepares for another network. A layer calls the function when its status reports a change. Returns immediately.
    ///
    /// The function stores the measurements of addresses on the last network, and retires all connections (see
    /// ``retireConnections()``). It then measures the addresses of the ``maximumRenewedOrigins`` most recently used
    /// origins, and connects to them.
    public func networkDidChange(to status: NetworkStatus) {
        selector.follow(status)
        retireConnections()
        guard status.isReachable else { return }
        let origins = pools.recentOrigins(Self.maximumRenewedOrigins)
        arrival.renew(origins) { [weak self] in self?.warmUp($0) }
    }

    /// The maximum number of origins that ``networkDidChange(to:)`` connects to: 8.
    public static let maximumRenewedOrigins = 8

    /// Makes later requests use new connections. A connection from an address that the device no longer has is closed
    /// immediately. On other connections, requests in flight may complete.
    ///
    /// Other HTTP/2 connections with requests in flight are sent a PING, and closed if the server does not acknowledge
    /// it within 10 s. WebSockets are checked in the same way; any received byte counts as an acknowledgement.
    public func retireConnections() {
        pools.drainAll()
        upgraded.check()
    }

    /// Shuts the transport down. Later requests fail as `NetworkError.Kind.noNetwork`. A second call has no effect.
    ///
    /// - Parameter limit: The maximum time to wait for requests in flight. Then their connections are closed, and they
    ///   fail as `NetworkError.Kind.noNetwork`. The default is ten seconds; zero closes all connections immediately.
    public func shutdown(waitingAtMost limit: Duration = .seconds(10)) async {
        arrival.cancel()
        upgraded.shutDown()
        await gauge.close(waitingAtMost: limit)
        pools.shutDown()
    }
}

/// A request's use of an origin's pool. It ends when the lease is released.
final class PoolLease: Sendable {
    let pool: OriginPool
    private let origin: Origin
    private let isSpare: Bool
    private let pools: OriginPools
    private let gauge: RequestGauge

    /// Starts to use a pool. Returns `nil` after the shutdown.
    ///
    /// - Parameters:
    ///   - isSpare: Whether to use the spare pool, which avoids the addresses of the origin's main pool. The default is
    ///     `false`.
    ///   - makesPool: Whether to create the pool if it does not exist; otherwise, the result is `nil`. The default is
    ///     `true`.
    init?(
        to origin: Origin, of pools: OriginPools, isSpare: Bool = false, makesPool: Bool = true,
        countedBy gauge: RequestGauge
    ) {
        guard gauge.begin() else { return nil }
        guard let pool = pools.enter(origin, isSpare: isSpare, makesPool: makesPool) else {
            gauge.end()
            return nil
        }
        self.pool = pool
        self.origin = origin
        self.isSpare = isSpare
        self.pools = pools
        self.gauge = gauge
    }

    deinit {
        pools.leave(origin, isSpare: isSpare)
        gauge.end()
    }
}
