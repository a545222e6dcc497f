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
/// Each origin has a pool: one HTTP/2 connection, or up to ``TransportConfiguration/maximumConnectionsPerOrigin`` of
/// HTTP/1.1, which stay open for ``TransportConfiguration/keepAlive`` after their last use. TLS sessions are not
/// resumed, so that an open connection saves its whole handshake.
///
/// A request that the server certainly did not process, or an idempotent one on a reused connection that the server was
/// closing, is sent again on another connection (RFC 9112 §9.3.1). So is a request that the server refuses over HTTP/2
/// because it requires HTTP/1.1 (RFC 9113 §7); later requests to its origin use HTTP/1.1 as well. The layer decides on
/// every other retry, for example after any other reset of the stream or after an error with which the server closed
/// the connection.
///
/// A transport that is released closes its connections at once; ``shutdown(_:)`` waits for the requests in flight.
///
/// Don't use it on watchOS, which gives sockets only to apps that stream audio or make calls: use `URLSessionTransport`
/// there.
public final class NIOTransport: Transport {
    let pools: OriginPools
    let arrival: NetworkArrival
    private let selector: HostSelector
    private let isTransparent: Bool
    let configuration: TransportConfiguration
    let http1: HTTP1Origins
    let upgraded: UpgradedConnections
    let gauge = RequestGauge()

    /// Sends requests over connections of its own, which it opens when a request needs them.
    ///
    /// - Throws: `NetworkError.Kind.invalidConfiguration` for certificates that can't be read.
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

    /// Whether neither body is a stream.
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
            // The second attempt of a hedged request uses another address than the first.
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
    /// at once, and reports no failure.
    ///
    /// - Parameter url: An absolute URL of `http` or `https`, such as a service's base URL. Anything else is ignored.
    public func warmUp(_ url: String) {
        guard let target = try? HTTPTarget(URIReference(url.utf8)) else { return }
        warmUp(
            Origin(HTTPRequest(method: .head, scheme: target.scheme, authority: target.authority.text, path: "/")))
    }

    private func warmUp(_ origin: Origin) { PoolLease(to: origin, of: pools, countedBy: gauge)?.pool.warm() }

    /// Prepares for another network: stores the measurements of addresses on the last network, retires all connections
    /// (see ``retireConnections()``), then measures the addresses of the ``maximumRenewedOrigins`` origins that were
    /// used last, and connects to them. Returns at once. A layer calls the function when its status reports another
    /// network.
    public func networkDidChange(to status: NetworkStatus) {
        selector.follow(status)
        retireConnections()
        guard status.isReachable else { return }
        let origins = pools.recentOrigins(Self.maximumRenewedOrigins)
        arrival.renew(origins) { [weak self] in self?.warmUp($0) }
    }

    /// The most origins that ``networkDidChange(to:)`` connects to: 8.
    public static let maximumRenewedOrigins = 8

    /// Sends further requests only over new connections. Requests in flight may complete, except on a connection from
    /// an address that the device no longer has, which is closed at once. Other HTTP/2 connections with requests in
    /// flight are sent a PING, and closed if the server does not acknowledge it within 10 s.
    /// WebSockets are checked in the same way; any byte counts as an acknowledgement.
    public func retireConnections() {
        pools.drainAll()
        upgraded.check()
    }

    /// Shuts the transport down. Later requests fail as `NetworkError.Kind.noNetwork`. A second call has no effect.
    public func shutdown(_ mode: ShutdownMode = .waiting(atMost: .seconds(10))) async {
        arrival.cancel()
        upgraded.shutDown()
        await gauge.close(waitingFor: mode)
        pools.shutDown()
    }
}

/// A request's use of the pool of an origin, which ends with the deinit.
final class PoolLease: Sendable {
    let pool: OriginPool
    private let origin: Origin
    private let isSpare: Bool
    private let pools: OriginPools
    private let gauge: RequestGauge

    /// Returns `nil` after the shutdown.
    ///
    /// - Parameters:
    ///   - isSpare: Whether to use the spare pool, which avoids the addresses of the origin's main pool. The default is
    ///     `false`.
    ///   - makesPool: Whether to create the pool if there is none; otherwise `nil` is returned. The default is `true`.
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
