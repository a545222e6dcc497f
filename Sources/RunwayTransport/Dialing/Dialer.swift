import NIOCore
import NIOSSL
import Runway

/// Establishes connections to hosts, attempts the fastest address first, and verifies hosts over TLS.
///
/// TLS verifies the host's name, regardless of the address or proxy that the connection uses.
struct Dialer: Sendable {
    let tls: TLSPreparation
    let resolver: HostResolver
    /// The address lists of hosts that need no lookup; `nil` if there are no lists.
    let hosts: HostBook?
    /// Ranks the addresses of hosts.
    let selector: HostSelector
    let proxies: ProxySettings
    /// Returns the current addresses of this device, or `nil` if the system does not report them.
    let localAddresses: @Sendable () -> Set<IPAddress>?

    /// Creates a dialer. Unless `tls` is passed, it prepares TLS on another thread.
    ///
    /// - Throws: ``NetworkError/Kind/invalidConfiguration`` for a ``TrustPolicy`` that cannot be applied.
    init(
        _ configuration: TransportConfiguration, resolver: HostResolver = HostResolver(), clock: LayerClock = .system,
        selector: HostSelector? = nil,
        localAddresses: @escaping @Sendable () -> Set<IPAddress>? = systemLocalAddresses, tls: TLSPreparation? = nil
    ) throws(NetworkError) {
        let applicationProtocols = configuration.usesHTTP2 ? ["h2", "http/1.1"] : ["http/1.1"]
        if let tls {
            self.tls = tls
        } else {
            self.tls = try TLSPreparation(
                configuration.trustPolicy, applicationProtocols: applicationProtocols, clock: clock)
        }
        self.resolver = resolver
        hosts = configuration.hosts
        self.selector = selector ?? configuration.hosts?.selector ?? HostSelector()
        proxies = configuration.proxies
        self.localAddresses = localAddresses
    }

    /// Returns a copy of this dialer whose TLS connections offer only HTTP/1.1.
    ///
    /// - Throws: ``NetworkError/Kind/invalidConfiguration`` for a ``TrustPolicy`` that cannot be applied.
    func offeringHTTP1Alone(_ configuration: TransportConfiguration) throws(NetworkError) -> Dialer {
        var configuration = configuration
        configuration.usesHTTP2 = false
        return try Dialer(configuration, resolver: resolver, selector: selector, localAddresses: localAddresses)
    }

    /// Establishes a connection to `origin` by `deadline`. To be able to cancel, use
    /// ``start(_:on:deadline:avoiding:)``.
    ///
    /// The future fails with a ``DialError``.
    func dial(
        _ origin: Origin, on eventLoop: any EventLoop, deadline: NIODeadline
    ) -> EventLoopFuture<DialedConnection> {
        start(origin, on: eventLoop, deadline: deadline).connection
    }

    /// The intended use of a connection.
    enum Purpose {
        /// Requests and responses. An HTTP proxy may forward them.
        case requests
        /// A protocol that follows an upgrade. The connection must lead to the server, without a forwarding proxy.
        case anyProtocol
    }

    /// Starts to establish a connection to `origin` by `deadline`. Callable from any thread.
    ///
    /// - Parameters:
    ///   - avoided: Addresses that are attempted after all others. The default is empty.
    ///   - purpose: The intended use of the connection. The default is ``Purpose/requests``.
    func start(
        _ origin: Origin, on eventLoop: any EventLoop, deadline: NIODeadline, avoiding avoided: Set<IPAddress> = [],
        carrying purpose: Purpose = .requests
    ) -> Dial {
        let promise = eventLoop.makePromise(of: DialedConnection.self)
        let box = NIOLoopBoundBox.makeEmptyBox(valueType: DialOperation.self, eventLoop: eventLoop)
        let begin = { @Sendable in
            let operation = DialOperation(
                origin, with: self, on: eventLoop, deadline: deadline, avoiding: avoided, carrying: purpose, promise)
            box.value = operation
            operation.run()
        }
        if eventLoop.inEventLoop { begin() } else { eventLoop.execute(begin) }
        return Dial(connection: promise.futureResult, operation: box)
    }
}

/// A dial in progress.
struct Dial: Sendable {
    /// The connection, on the event loop that was passed. Fails with a ``DialError``.
    let connection: EventLoopFuture<DialedConnection>
    fileprivate let operation: NIOLoopBoundBox<DialOperation?>

    /// Cancels the dial: closes its sockets and fails ``connection``, unless it has already succeeded. Callable from
    /// any thread.
    func cancel() {
        let operation = operation
        let cancel = { @Sendable in operation.value?.cancel() ?? () }
        if connection.eventLoop.inEventLoop { cancel() } else { connection.eventLoop.execute(cancel) }
    }
}

/// Returns the addresses of all interfaces of this device, or `nil` if the system does not report them.
@Sendable
func systemLocalAddresses() -> Set<IPAddress>? {
    guard let devices = try? System.enumerateDevices() else { return nil }
    return Set(devices.compactMap { $0.address?.ipAddress.flatMap { IPAddress($0) } })
}
