import NIOCore
import Runway
import Synchronization

/// The connections of one origin: performs what ``PoolMachine`` decides.
///
/// All of it lives on one event loop, and so do its connections, so that an exchange meets no lock on its way.
///
/// Unchecked: everything that changes is touched on `eventLoop` only, which every function that is called from elsewhere goes to first.
final class OriginPool: @unchecked Sendable {
    let origin: Origin
    let eventLoop: any EventLoop
    let configuration: TransportConfiguration
    let dialer: Dialer
    /// Gives the origin's own pool as it is by now, where this is a spare one.
    private let main: (@Sendable () -> OriginPool?)?
    /// Whether its connections lead elsewhere than those of the origin's own pool.
    var isSpare: Bool { main != nil }
    /// What a new connection should lead to only if there is nothing else.
    var avoidedAddresses: Set<IPAddress> { main?()?.addressesInUse.withLock { $0 } ?? [] }
    /// The addresses that its connections lead to, as far as they are known; any thread may ask.
    let addressesInUse = Mutex<Set<IPAddress>>([])

    private var machine: PoolMachine
    private(set) var connections: [ConnectionID: any WireConnection] = [:] {
        didSet { publishAddresses() }
    }
    private var dials: [ConnectionID: Dial] = [:]
    /// Why the last dial failed that did.
    private var dialError: (any Error)?
    private var waiting: [RequestID: Exchange] = [:]
    private var requestCount: RequestID = 0
    /// What wakes the machine, and when.
    private var timer: (instant: NIODeadline, task: Scheduled<Void>)?

    init(
        _ origin: Origin, on eventLoop: any EventLoop, dialer: Dialer, _ configuration: TransportConfiguration,
        beside main: (@Sendable () -> OriginPool?)? = nil
    ) {
        self.main = main
        self.origin = origin
        self.eventLoop = eventLoop
        self.dialer = dialer
        self.configuration = configuration
        let mayShare = origin.scheme == "https" && configuration.httpVersions != .http1Only
        machine = PoolMachine(
            limits: PoolMachine.Limits(
                maximumConnections: max(1, configuration.maximumConnectionsPerOrigin),
                maximumWaiting: max(0, configuration.wire.maximumWaitingRequests),
                keepAlive: TimeAmount(configuration.keepAlive),
                connectTimeout: TimeAmount(configuration.connectTimeout)),
            mayShare: mayShare)
    }
}

/// Exchanges. On the loop.
extension OriginPool {
    /// Sends an exchange, now or when there is a connection for it.
    func submit(_ exchange: Exchange) {
        requestCount += 1
        exchange.id = requestCount
        exchange.submitted = .now()
        keepApart()
        perform(machine.submit(exchange.id, now: exchange.submitted), for: exchange, or: nil)
    }

    /// A connection did not answer an exchange: sends it on another, if that may be, or ends it.
    func lost(_ exchange: Exchange, _ loss: LostRequest, failing failure: ExchangeFailure) {
        let now = NIODeadline.now()
        if loss.isStale { perform(machine.retireIdle(since: loss.begun, now: now)) }
        perform(machine.lost(exchange.id, loss, now: now), for: exchange, or: failure)
    }

    /// An exchange that waits is not wanted any more.
    func withdraw(_ exchange: Exchange) {
        guard machine.withdraw(exchange.id) else { return }
        waiting[exchange.id] = nil
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
        // The machine knows of no connection that is not here.
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

/// What connections tell. On the loop.
extension OriginPool {
    /// An exchange left its connection, which can carry another one or not.
    func ended(_ connection: ConnectionID, isKept: Bool) {
        perform(machine.ended(connection, isKept: isKept, now: .now()))
    }

    /// The server takes so many exchanges at once.
    func limitChanged(_ connection: ConnectionID, to limit: Int) {
        perform(machine.limitChanged(connection, to: limit, now: .now()))
    }

    /// A connection takes no more exchanges.
    func drain(_ connection: ConnectionID) { perform(machine.drain(connection, now: .now())) }

    /// A connection is gone. What it carried it tells of after this.
    func closed(_ connection: ConnectionID) {
        // One that was never taken on is a dial that failed.
        guard connections.removeValue(forKey: connection) != nil else { return }
        perform(machine.closed(connection, now: .now()))
    }
}

/// The life of the pool. From any thread.
extension OriginPool {
    /// Makes a connection if there is none.
    func warm() {
        eventLoop.execute { self.perform(self.machine.warm()) }
    }

    /// Gives no further exchange to the connections that there are. Of those that carry some it cuts those that were made from an address
    /// that the device has no more, and asks the others whether they live.
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

    /// Cuts every connection, and ends all that waits.
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

/// What the machine wants.
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
        // What came in the same read as the end of the handshake TLS gives right after it has told of that end.
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
            // What came already would pass for the answer to what is sent next: whoever sent it is not asked anything.
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
        dialError = error
        perform(machine.connectFailed(id, now: .now()))
    }

    /// Sees to it that the machine is woken when it has something to do. A timer that is too early is left alone.
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
