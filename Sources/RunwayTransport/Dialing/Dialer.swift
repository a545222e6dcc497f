import NIOCore
import NIOSSL
import Runway

/// Makes connections to hosts, the fastest address first, and verifies the hosts over TLS.
///
/// TLS verifies the host's name, whichever address and proxy the connection uses.
struct Dialer: Sendable {
    /// The TLS of connections to `https` origins.
    let tls: TLSPreparation
    /// Looks up the addresses of hosts.
    let resolver: HostResolver
    /// The lists of hosts' addresses, which need no lookup.
    let hosts: HostBook?
    /// Decides which address is the best.
    let selector: HostSelector
    /// The proxies that connections are made through.
    let proxies: ProxySettings
    /// Returns the current addresses of this device; `nil` if the system does not know them.
    let localAddresses: @Sendable () -> Set<IPAddress>?

    /// Creates a dialer, and prepares TLS on another thread, unless `tls` is passed.
    ///
    /// - Throws: ``NetworkError/Kind/invalidConfiguration`` for a ``TrustPolicy`` that can't be applied.
    init(
        _ configuration: TransportConfiguration, resolver: HostResolver = HostResolver(), clock: LayerClock = .system,
        selector: HostSelector? = nil,
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
        self.selector = selector ?? configuration.hosts?.selector ?? HostSelector()
        proxies = configuration.proxies
        self.localAddresses = localAddresses
    }

    /// Returns this dialer with connections over TLS that offer only HTTP/1.1.
    ///
    /// - Throws: ``NetworkError/Kind/invalidConfiguration`` for a ``TrustPolicy`` that can't be applied.
    func offeringHTTP1Alone(_ configuration: TransportConfiguration) throws(NetworkError) -> Dialer {
        var configuration = configuration
        configuration.httpVersions = .http1Only
        return try Dialer(configuration, resolver: resolver, selector: selector, localAddresses: localAddresses)
    }

    /// Makes a connection to `origin`, on `eventLoop`, until `deadline`. ``start(_:on:deadline:avoiding:)`` can be
    /// cancelled.
    ///
    /// The future fails with a ``DialError``.
    func dial(
        _ origin: Origin, on eventLoop: any EventLoop, deadline: NIODeadline
    ) -> EventLoopFuture<DialedConnection> {
        start(origin, on: eventLoop, deadline: deadline).connection
    }

    /// The purpose of a connection.
    enum Purpose {
        /// Requests and responses, which an HTTP proxy may forward.
        case requests
        /// A protocol that follows an upgrade. The connection has to lead to the server: no proxy may forward its
        /// requests.
        case anyProtocol
    }

    /// Starts to make a connection to `origin`, on `eventLoop`, until `deadline`. From any thread.
    ///
    /// - Parameters:
    ///   - avoided: Addresses that are dialled after all others. The default is empty.
    ///   - purpose: The purpose of the connection. The default is ``Purpose/requests``.
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

/// A connection that is being made.
struct Dial: Sendable {
    /// The connection, on the loop that was passed. Fails with a ``DialError``.
    let connection: EventLoopFuture<DialedConnection>
    fileprivate let operation: NIOLoopBoundBox<DialOperation?>

    /// Cancels the dial: closes its sockets and fails ``connection``, unless that has succeeded. From any thread.
    func cancel() {
        let operation = operation
        let cancel = { @Sendable in operation.value?.cancel() ?? () }
        if connection.eventLoop.inEventLoop { cancel() } else { connection.eventLoop.execute(cancel) }
    }
}

/// Returns the addresses of all interfaces of this device; `nil` if the system does not know them.
@Sendable
func systemLocalAddresses() -> Set<IPAddress>? {
    guard let devices = try? System.enumerateDevices() else { return nil }
    return Set(devices.compactMap { $0.address?.ipAddress.flatMap { IPAddress($0) } })
}
