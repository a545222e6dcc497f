import HTTPTypes
import NIOCore
public import Runway

#if !Transport
    #error("RunwayTransport needs the package trait Transport.")
#endif

/// Puts requests on the wire over connections of its own, made with SwiftNIO: HTTP/1.1 and HTTP/2, TLS, gzip and deflate.
///
/// ```swift
/// let network = NetworkLayer(transport: try NIOTransport())
/// ```
///
/// Each origin has a pool: one HTTP/2 connection, or up to ``TransportConfiguration/maximumConnectionsPerOrigin`` of HTTP/1.1, kept for
/// ``TransportConfiguration/keepAlive`` after their last use. TLS sessions are not resumed, so that a connection that is kept saves
/// its whole handshake. A request that the server certainly did not act on, or an idempotent one that met a connection which the
/// server was just closing, is sent once more on another connection; every other repetition is left to the layer, also of what the
/// server ended itself by resetting its stream or by ending the connection with an error. A transport that is let go cuts its
/// connections; ``shutdown(_:)`` is there for those who want to wait.
public final class NIOTransport: Transport {
    private let pools: OriginPools
    private let arrival: NetworkArrival
    private let selector: HostSelector
    private let isTransparent: Bool
    private let gauge = RequestGauge()

    /// Makes a transport. No connection is opened before it is needed.
    ///
    /// - Throws: `NetworkError.Kind.invalidConfiguration` for certificates that can't be read.
    public convenience init(
        configuration: TransportConfiguration = TransportConfiguration()
    ) throws(NetworkError) {
        FirstUse.anticipate()
        self.init(configuration: configuration, dialer: try Dialer(configuration))
    }

    init(configuration: TransportConfiguration, dialer: Dialer) {
        isTransparent = configuration.isTransparent
        pools = OriginPools(configuration, dialer: dialer)
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

    /// Sends a request and gives its answer.
    ///
    /// - Throws: A `NetworkError` of the step `FlightStep.transporting`.
    public func send(_ request: Request, in flight: Flight) async throws(NetworkError) -> Response {
        do {
            let head = try WireRequestHead(request, isTransparent: isTransparent)
            // The second attempt of a hedged request goes another way than the first.
            let isSpare = request.hedged?.contender == .second
            guard let pass = PoolLease(to: Origin(request.head), of: pools, isSpare: isSpare, countedBy: gauge) else {
                throw ExchangeFailure(WireError.shutDown)
            }
            let exchange = Exchange(request, head, in: pass.pool) { flight.noteHTTPVersion($0, of: request) }
            exchange.startUpload()
            let (answer, wire) = await Self.outcome(of: exchange, in: flight)
            flight.noteWire(wire, of: request)
            return Response(try answer.get(), to: exchange, in: flight, until: pass)
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

    /// Makes a connection to the origin of a URL, unless there is one, so that the first request need not wait for it. It returns at
    /// once; whether a connection was made shows when one is needed.
    ///
    /// - Parameter url: An absolute URL of `http` or `https`, such as a service's base URL. Of anything else nothing is made.
    public func warmUp(_ url: String) {
        guard let target = try? HTTPTarget(URIReference(url.utf8)) else { return }
        warmUp(
            Origin(HTTPRequest(method: .head, scheme: target.scheme, authority: target.authority.text, path: "/")))
    }

    private func warmUp(_ origin: Origin) { PoolLease(to: origin, of: pools, countedBy: gauge)?.pool.warm() }

    /// Takes what was learned of addresses on the last network for what it is, and retires all connections, see
    /// ``retireConnections()``; then measures the addresses of the hosts in use, and connects to them, so
    /// that the next calls need not wait for either. At most ``maximumRenewedOrigins`` are, those that were used last. It returns at
    /// once. A layer calls it when its status says that the device came to another network.
    public func networkDidChange(to status: NetworkStatus) {
        selector.follow(status)
        retireConnections()
        guard status.isReachable else { return }
        let origins = pools.recentOrigins(Self.maximumRenewedOrigins)
        arrival.renew(origins) { [weak self] in self?.warmUp($0) }
    }

    /// The most origins that are made ready again when the device came to another network.
    public static let maximumRenewedOrigins = 8

    /// Gives no further request to the connections that there are: for a device whose network has changed under them. Requests that
    /// they carry may end; the next ones go over new connections. One that was made from an address that the device has no more is cut at
    /// once. Any other of HTTP/2 that carries some is asked with a PING whether it lives, and cut where it does not answer within
    /// ``WireSettings/pingTimeout``.
    public func retireConnections() { pools.drainAll() }

    /// Ends the transport. Requests made after it fail; calling it again changes nothing.
    public func shutdown(_ mode: ShutdownMode = .waiting(atMost: .seconds(10))) async {
        arrival.cancel()
        await gauge.close(waitingFor: mode)
        pools.shutDown()
    }
}

/// The right to use the pool of an origin: counts a request as over when the last who holds it lets go.
final class PoolLease: Sendable {
    let pool: OriginPool
    private let origin: Origin
    private let isSpare: Bool
    private let pools: OriginPools
    private let gauge: RequestGauge

    /// `nil` after the shutdown.
    ///
    /// - Parameter isSpare: Whether the pool is wanted whose connections lead elsewhere than those of the origin's own.
    init?(to origin: Origin, of pools: OriginPools, isSpare: Bool = false, countedBy gauge: RequestGauge) {
        guard gauge.begin() else { return nil }
        guard let pool = pools.enter(origin, isSpare: isSpare) else {
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
