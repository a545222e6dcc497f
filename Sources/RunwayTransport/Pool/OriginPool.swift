import NIOCore
import Runway
import Synchronization

/// The connections of one origin. It performs the actions of its ``PoolMachine``.
///
/// The pool, its connections and its exchanges run on one event loop. Locks guard only values that other threads also
/// use, such as ``addressesInUse`` and the parts of streamed responses (``ResponseStream``).
///
/// Unchecked: every variable is read and written only on `eventLoop`; functions that any thread may call switch to it.
final class OriginPool: @unchecked Sendable {
    let origin: Origin
    let eventLoop: any EventLoop
    let configuration: TransportConfiguration
    let dialer: Dialer
    private let http1: HTTP1Origins
    /// Returns the origin's current main pool; `nil` if this is the main pool.
    private let main: (@Sendable () -> OriginPool?)?
    /// Whether the pool avoids the addresses of the origin's main pool.
    var isSpare: Bool { main != nil }
    /// Addresses that a new connection uses only if the host has no other addresses.
    var avoidedAddresses: Set<IPAddress> { main?()?.addressesInUse.withLock { $0 } ?? [] }
    /// Guards the addresses of the connections, which the spare pool reads from its own event loop.
    let addressesInUse = Mutex<Set<IPAddress>>([])

    /// The maximum size of a request's head that the server accepts over HTTP/2 (RFC 9113 §6.5.2). The last received
    /// value applies to a new connection until its own settings arrive.
    var maximumHeaderListSize = Int.max
    private var machine: PoolMachine
    private(set) var connections: [ConnectionID: any WireConnection] = [:] {
        didSet { publishAddresses() }
    }
    private var dials: [ConnectionID: Dial] = [:]
    private var dialError: (any Error)?
    private(set) var waiting: [RequestID: Exchange] = [:]
    private var requestCount: RequestID = 0
    /// The timer of the machine, and the instant at which it fires.
    private var timer: (instant: NIODeadline, task: Scheduled<Void>)?

    init(
        _ origin: Origin, on eventLoop: any EventLoop, dialer: Dialer, _ configuration: TransportConfiguration,
        _ http1: HTTP1Origins, beside main: (@Sendable () -> OriginPool?)? = nil
    ) {
        self.http1 = http1
        self.main = main
        self.origin = origin
        self.eventLoop = eventLoop
        self.dialer = dialer
        self.configuration = configuration
        let mayShare =
            origin.scheme == "https" && configuration.usesHTTP2 && !http1.contains(origin)
        machine = PoolMachine(
            limits: PoolMachine.Limits(
                maximumConnections: max(1, configuration.maximumConnectionsPerOrigin),
                maximumWaiting: max(0, configuration.wire.maximumWaitingRequests),
                keepAlive: TimeAmount(configuration.keepAlive),
                connectTimeout: TimeAmount(configuration.connectTimeout)),
            mayShare: mayShare)
    }
}

/// Functions for exchanges. Call them on the event loop.
extension OriginPool {
    /// Sends an exchange as soon as a connection is available.
    func submit(_ exchange: Exchange) {
        requestCount += 1
        exchange.id = requestCount
        exchange.submitted = .now()
        drainSharedAddresses()
        perform(machine.submit(exchange.id, now: exchange.submitted), for: exchange, or: nil)
    }

    /// Sends a lost exchange on another connection, or fails it.
    func lost(_ exchange: Exchange, _ loss: LostRequest, failing failure: ExchangeFailure) {
        let now = NIODeadline.now()
        if loss.isStale { perform(machine.retireIdle(since: loss.begun, now: now)) }
        perform(machine.lost(exchange.id, loss, now: now), for: exchange, or: failure)
    }

    /// Cancels a waiting exchange.
    func withdraw(_ exchange: Exchange) {
        machine.withdraw(exchange.id)
        waiting[exchange.id] = nil
    }

    /// Opens a stream for another protocol on the shared connection (RFC 8441).
    ///
    /// - Returns: The stream as a channel; `nil` if there is no shared connection, the connection has no free slot, or
    ///   its server does not accept the stream.
    func openTunnel(_ head: WireRequestHead, to name: String) -> (channel: any Channel, facts: ConnectionFacts)? {
        for connection in connections.values where connection.acceptsTunnels && machine.reserve(connection.id) {
            if let channel = connection.openTunnel(head, to: name) { return (channel, connection.facts) }
            ended(connection.id)
        }
        return nil
    }

    private func perform(_ submission: PoolSubmission, for exchange: Exchange, or failure: ExchangeFailure?) {
        switch submission {
        case .send(let connection, let isReused): send(exchange, on: connection, isReused: isReused)
        case .wait(let actions):
            waiting[exchange.id] = exchange
            perform(actions)
        case .refuse(let reason): exchange.finish(failing: failure ?? ExchangeFailure(error(for: reason)))
        }
    }

    private func send(_ exchange: Exchange, on id: ConnectionID, isReused: Bool) {
        // The connection may have closed while an earlier action of the same event was performed.
        guard let connection = connections[id] else {
            return exchange.finish(failing: ExchangeFailure(WireError.closed))
        }
        exchange.start(on: connection, isReused: isReused)
    }

    private func error(for failure: PoolFailure) -> any Error {
        switch failure {
        case .tooManyWaiting: WireError.tooManyWaiting(limit: machine.limits.maximumWaiting)
        case .notConnectedInTime: WireError.notConnectedInTime
        case .shutDown: WireError.shutDown
        case .notConnected: dialError ?? WireError.closed
        case .notMoved: WireError.closed
        }
    }
}

/// Events that connections report, on the event loop.
///
/// A connection may close while it reports an event, for example because a reset cannot be written. Its later events
/// are ignored.
extension OriginPool {
    /// Records that a connection no longer carries an exchange, and can carry another.
    func ended(_ connection: ConnectionID) {
        guard connections[connection] != nil else { return }
        perform(machine.ended(connection, now: .now()))
    }

    /// Records that the server accepts `limit` simultaneous exchanges on a connection.
    func limitChanged(_ connection: ConnectionID, to limit: Int) {
        guard connections[connection] != nil else { return }
        perform(machine.limitChanged(connection, to: limit, now: .now()))
    }

    /// Records that a connection accepts no more exchanges.
    func drain(_ connection: ConnectionID) {
        guard connections[connection] != nil else { return }
        drain([connection])
    }

    func drain(_ connections: [ConnectionID]) { perform(machine.drain(connections, now: .now())) }

    /// Records that the server requires HTTP/1.1. The shared connection accepts no more exchanges, and new connections
    /// offer only HTTP/1.1 (RFC 9113 §7).
    func requireHTTP1() {
        http1.insert(origin)
        perform(machine.requireExclusive(now: .now()))
    }

    /// Removes a closed connection. The connection reports the loss of its exchanges afterwards.
    func closed(_ connection: ConnectionID) {
        // A connection that closed before it was added is reported as a failed dial.
        guard connections.removeValue(forKey: connection) != nil else { return }
        perform(machine.closed(connection, now: .now()))
    }
}

/// Functions for the pool as a whole. Callable from any thread.
extension OriginPool {
    /// Opens a connection, unless there is one.
    func warm() {
        eventLoop.execute { self.perform(self.machine.warm()) }
    }

    /// Stops using the current connections for further exchanges. Closes busy connections from an address that the
    /// device no longer has, and checks the other busy connections.
    func drainAll() {
        eventLoop.execute {
            self.perform(self.machine.drainAll(now: .now()))
            let busy = self.connections.values.sorted { $0.id < $1.id }
            if busy.isEmpty { return }
            let addresses = self.dialer.localAddresses()
            for connection in busy {
                if let addresses, let own = connection.facts.localAddress, !addresses.contains(own) {
                    connection.abandon(WireError.networkGone)
                } else {
                    connection.checkLiveness()
                }
            }
        }
    }

    /// Closes every connection immediately, and fails the waiting exchanges.
    func shutDown() {
        eventLoop.execute {
            let cut = self.connections
            self.perform(self.machine.shutDown(), failing: WireError.shutDown)
            for connection in cut.values { connection.close(failing: WireError.shutDown) }
            for dial in self.dials.values { dial.cancel() }
            self.timer?.task.cancel()
            self.timer = nil
        }
    }
}

extension OriginPool {
    private func perform(_ actions: [PoolAction], failing error: (any Error)? = nil) {
        for action in actions {
            switch action {
            case .connect(let id): connect(id)
            case .send(let request, let connection, let isReused):
                guard let exchange = waiting.removeValue(forKey: request) else { continue }
                send(exchange, on: connection, isReused: isReused)
            case .fail(let request, let reason):
                waiting.removeValue(forKey: request)?
                    .finish(failing: ExchangeFailure(error ?? self.error(for: reason)))
            case .close(let id): connections.removeValue(forKey: id)?.close(failing: error ?? WireError.closed)
            }
        }
        setTimer()
    }

    private func connect(_ id: ConnectionID) {
        let dialer: Dialer
        do throws(NetworkError) {
            dialer = try http1.contains(origin) ? http1.dialer() : self.dialer
        } catch {
            return eventLoop.execute { self.connectFailed(id, error) }
        }
        let dial = dialer.start(
            origin, on: eventLoop, deadline: .now() + machine.limits.connectTimeout, avoiding: avoidedAddresses)
        dials[id] = dial
        dial.connection.assumeIsolated().whenComplete { result in
            self.dials[id] = nil
            switch result {
            case .success(let dialed): self.connected(id, dialed)
            case .failure(let error): self.connectFailed(id, error)
            }
        }
    }

    private func connected(_ id: ConnectionID, _ dialed: DialedConnection) {
        if dialed.applicationProtocol == "h2" { return useShared(id, dialed) }
        // The connection is used in a later turn of the event loop, since TLS passes on remaining bytes of the read
        // only after it has reported the end of the handshake.
        eventLoop.execute { self.useExclusive(id, dialed) }
    }

    private func useShared(_ id: ConnectionID, _ dialed: DialedConnection) {
        guard !machine.isShutDown else { return dialed.channel.close(promise: nil) }
        do {
            let connection = try HTTP2Connection(id, dialed, in: self)
            connections[id] = connection
            perform(machine.connected(id, .shared(limit: connection.initialLimit), now: .now()))
            dialed.takeOver()
        } catch {
            dialed.channel.close(promise: nil)
            connectFailed(id, error)
        }
    }

    private func useExclusive(_ id: ConnectionID, _ dialed: DialedConnection) {
        guard !machine.isShutDown else { return dialed.channel.close(promise: nil) }
        do {
            let connection = try HTTP1Connection(id, dialed, in: self)
            // Reading starts before the request is sent. Bytes that arrive earlier could be mistaken for its response,
            // so they close the connection.
            dialed.takeOver()
            if let reason = connection.closeReason { throw reason }
            connections[id] = connection
            perform(machine.connected(id, .exclusive, now: .now()))
        } catch {
            dialed.channel.close(promise: nil)
            connectFailed(id, error)
        }
    }

    private func connectFailed(_ id: ConnectionID, _ error: any Error) {
        // The shutdown cancels dials, which then report failures.
        guard !machine.isShutDown else { return }
        dialError = error
        perform(machine.connectFailed(id, now: .now()))
    }

    /// Sets the timer to the machine's next deadline. A timer that fires earlier is not replaced.
    private func setTimer() {
        guard let next = machine.nextDeadline else { return }
        if let timer, timer.instant <= next { return }
        timer?.task.cancel()
        let task = eventLoop.assumeIsolated().scheduleTask(deadline: next) {
            self.timer = nil
            self.perform(self.machine.timePassed(.now()))
        }
        timer = (next, task)
    }
}

/// The spare pool of an origin, for second attempts of hedged requests. It avoids the addresses of the main pool.
extension OriginPool {
    /// Stores the addresses of the connections in ``addressesInUse``, which the spare pool reads. Call on the event
    /// loop.
    func publishAddresses() {
        let addresses = Set(connections.values.compactMap { $0.facts.report?.address })
        addressesInUse.withLock { $0 = addresses }
    }

    /// Drains connections to addresses that the main pool now uses, if the host has another address. Call on the event
    /// loop.
    func drainSharedAddresses() {
        guard isSpare else { return }
        let avoided = avoidedAddresses
        let host = origin.bareHost
        let known = dialer.hosts?.addresses(of: host, scheme: origin.scheme) ?? []
        guard known.contains(where: { !avoided.contains($0) && dialer.selector.ban(of: $0, of: host) == nil }) else {
            return
        }
        drain(connections.values.filter { $0.facts.report.map { avoided.contains($0.address) } ?? false }.map(\.id))
    }
}
