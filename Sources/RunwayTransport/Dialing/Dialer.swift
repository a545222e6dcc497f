import NIOCore
import NIOSSL
import Runway

/// Makes connections to hosts, the nearest address first, and proves over TLS that they lead there.
///
/// Whatever address is dialled, and through whatever proxy, TLS is told the host's name and verifies that one alone.
struct Dialer: Sendable {
    /// The TLS of connections to `https` origins.
    let tls: TLSPreparation
    /// Looks up the addresses of hosts.
    let resolver: HostResolver
    /// Knows addresses of hosts without looking them up.
    let hosts: HostBook?
    /// Knows which address is the best.
    let selector: HostSelector
    /// Which proxies connections are made through.
    let proxies: ProxySettings
    /// Gives the addresses that this device has now; `nil` where the system does not say.
    let localAddresses: @Sendable () -> Set<IPAddress>?

    /// Makes a dialer, and begins to prepare TLS on another thread, unless it is given what it needs of TLS.
    ///
    /// - Throws: ``NetworkError/Kind/invalidConfiguration`` for a ``TrustPolicy`` that can't be held to.
    init(
        _ configuration: TransportConfiguration, resolver: HostResolver = HostResolver(), clock: LayerClock = .system,
        localAddresses: @escaping @Sendable () -> Set<IPAddress>? = systemLocalAddresses, tls: TLSPreparation? = nil
    ) throws(NetworkError) {
        let applicationProtocols =
            switch configuration.httpVersions {
            case .automatic: ["h2", "http/1.1"]
            case .http1Only: ["http/1.1"]
            }
        if let tls {
            self.tls = tls
        } else {
            self.tls = try TLSPreparation(
                configuration.trustPolicy, applicationProtocols: applicationProtocols, clock: clock)
        }
        self.resolver = resolver
        hosts = configuration.hosts
        selector = configuration.hosts?.selector ?? HostSelector()
        proxies = configuration.proxies
        self.localAddresses = localAddresses
    }

    /// Makes a connection to an origin, on this loop, until a deadline; ``start(_:on:deadline:avoiding:)`` gives one
    /// that can be called off.
    ///
    /// It fails as ``DialError``.
    func dial(
        _ origin: Origin, on eventLoop: any EventLoop, deadline: NIODeadline
    ) -> EventLoopFuture<DialedConnection> {
        start(origin, on: eventLoop, deadline: deadline).connection
    }

    /// Begins to make a connection to an origin, on this loop, until a deadline. Any thread may do so.
    ///
    /// - Parameter avoided: Addresses that are dialled after all others. The default is none.
    func start(
        _ origin: Origin, on eventLoop: any EventLoop, deadline: NIODeadline, avoiding avoided: Set<IPAddress> = []
    ) -> Dial {
        let promise = eventLoop.makePromise(of: DialedConnection.self)
        let box = NIOLoopBoundBox.makeEmptyBox(valueType: DialOperation.self, eventLoop: eventLoop)
        let begin = { @Sendable in
            let operation = DialOperation(
                origin, with: self, on: eventLoop, deadline: deadline, avoiding: avoided, promise)
            box.value = operation
            operation.run()
        }
        if eventLoop.inEventLoop { begin() } else { eventLoop.execute(begin) }
        return Dial(connection: promise.futureResult, operation: box)
    }
}

/// A connection that is being made.
struct Dial: Sendable {
    /// The connection, on the loop that was asked for. Fails as ``DialError``.
    let connection: EventLoopFuture<DialedConnection>
    fileprivate let operation: NIOLoopBoundBox<DialOperation?>

    /// Calls it off: its sockets are closed, and ``connection`` fails. Does nothing once there is a connection. Any thread may do so.
    func cancel() {
        let operation = operation
        let cancel = { @Sendable in operation.value?.cancel() ?? () }
        if connection.eventLoop.inEventLoop { cancel() } else { connection.eventLoop.execute(cancel) }
    }
}
