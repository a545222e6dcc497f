import NIOCore
import Runway

/// Decides which request of one origin uses which connection. It is a state machine without I/O and clock.
///
/// Besides draining connections, there is at most one shared connection, which carries many requests at once. There are
/// at most ``Limits/maximumConnections`` exclusive connections, which carry one request at a time, and as many draining
/// ones. Requests wait for a free connection in order of arrival. Only one dial runs at a time until the first
/// connection shows whether the server supports shared connections.
///
/// Events must name a connection that the machine requested, and that was not closed. No event may follow
/// ``shutDown()``.
struct PoolMachine {
    struct Limits {
        /// The maximum number of exclusive connections.
        var maximumConnections: Int
        /// The maximum number of waiting requests.
        var maximumWaiting: Int
        /// The time for which an idle connection stays open.
        var keepAlive: TimeAmount
        /// The maximum time for which a request waits for a dial. The wait for a free connection is not limited here.
        var connectTimeout: TimeAmount
    }

    struct Connection {
        enum State: Equatable {
            case connecting
            case exclusive
            case shared(limit: Int)
        }

        let id: ConnectionID
        var state = State.connecting
        /// The number of requests that the connection carries.
        var inUse = 0
        /// Whether the connection existed before the event that sends a request on it.
        var isReused = false
        /// Whether the connection has carried a request.
        var hasCarried = false
        /// Whether the connection accepts no further requests.
        var isDraining = false
        /// The time when the connection became idle; `nil` while it carries requests.
        var idleSince: NIODeadline?

        var isFree: Bool {
            switch state {
            case .connecting: false
            case .exclusive: !isDraining && inUse == 0
            case .shared(let limit): !isDraining && inUse < limit
            }
        }

        /// Whether the connection can't be stale. The server may close a stale connection before a request reaches it.
        /// A request that was lost on a stale connection is sent again only on a connection that can't be stale.
        var isFresh: Bool { !hasCarried || state != .exclusive }
    }

    let limits: Limits
    /// Whether connections may be shared.
    private var mayShare: Bool
    /// Whether connections are shared; `nil` until the first one is established.
    private(set) var isShared: Bool?
    private(set) var connections: [Connection] = []
    private var connectionCount = 0
    private(set) var waiting = PoolQueue()
    /// The earliest instant at which waiting requests fail for lack of a connection; `nil` if no dial is in progress.
    private var connectDeadline: NIODeadline?
    /// The number of consecutive failed dials, and the instant of the next dial if waiting requests may use other
    /// connections.
    private var failedDials = 0
    /// The delays between dials while other connections exist. They need no jitter, since the pool then dials one at a
    /// time.
    private static let dialDelays = Backoff(base: .milliseconds(100), longest: .milliseconds(3200), certainPart: 1)
    private var nextDial: NIODeadline?
    private(set) var isShutDown = false

    /// Creates a pool without connections and requests.
    ///
    /// - Parameters:
    ///   - limits: The limits.
    ///   - mayShare: Whether connections may be shared.
    init(limits: Limits, mayShare: Bool) {
        self.limits = limits
        self.mayShare = mayShare
        isShared = mayShare ? nil : false
    }

    /// The earliest instant at which ``timePassed(_:)`` must be called.
    var nextDeadline: NIODeadline? {
        var next: NIODeadline?
        for case let idleSince? in connections.lazy.map(\.idleSince) {
            let due = idleSince + limits.keepAlive
            next = min(next ?? due, due)
        }
        if waiting.isEmpty { return next }
        if let connectDeadline, let first = waiting.firstDeadline {
            let due = max(connectDeadline, first)
            next = min(next ?? due, due)
        }
        if let nextDial { next = min(next ?? nextDial, nextDial) }
        return next
    }
}

extension PoolMachine {
    mutating func submit(_ request: RequestID, now: NIODeadline) -> PoolSubmission {
        if isShutDown { return .refuse(.shutDown) }
        // While a connection is free, no waiting request can use it, so the new request overtakes no other request.
        if let index = freeConnection() {
            let isReused = take(index)
            return .send(on: connections[index].id, isReused: isReused)
        }
        guard waiting.count < limits.maximumWaiting else { return .refuse(.tooManyWaiting) }
        waiting.append(request, until: now + limits.connectTimeout)
        return .wait(connectAsNeeded(now: now))
    }

    /// Handles the loss of a request's connection. A request that may be sent again goes before all waiting requests.
    /// If its connection was stale, it needs a connection that has carried no request.
    ///
    /// The end of the connection is reported separately.
    mutating func lost(_ request: RequestID, _ loss: LostRequest, now: NIODeadline) -> PoolSubmission {
        guard loss.mayMove else { return .refuse(.notMoved) }
        if isShutDown { return .refuse(.shutDown) }
        if !loss.isStale, let index = freeConnection() {
            let isReused = take(index)
            return .send(on: connections[index].id, isReused: isReused)
        }
        // The lost request is enqueued even beyond the limit on waiting requests, and its time for connecting starts
        // again.
        waiting.prepend(request, until: now + limits.connectTimeout, needsFresh: loss.isStale)
        return .wait(serve(now: now) + connectAsNeeded(now: now))
    }

    /// Closes the connections that have been idle since `instant` or earlier. The caller found a stale connection that
    /// was idle until `instant`, so these may be stale, too.
    mutating func retireIdle(since instant: NIODeadline, now: NIODeadline) -> [PoolAction] {
        let stale = connections.filter { connection in
            connection.state == .exclusive && connection.inUse == 0
                && connection.idleSince.map { $0 <= instant } == true
        }
        connections.removeAll { connection in stale.contains { $0.id == connection.id } }
        return stale.map { .close($0.id) } + connectAsNeeded(now: now)
    }

    /// Assigns a stream for another protocol to a shared connection, until ``ended(_:now:)``. Returns `false` if the
    /// connection has no free slot.
    mutating func reserve(_ connection: ConnectionID) -> Bool {
        let index = index(of: connection)
        guard case .shared = connections[index].state, connections[index].isFree else { return false }
        _ = take(index)
        return true
    }

    /// Cancels a waiting request.
    mutating func withdraw(_ request: RequestID) { waiting.withdraw(request) }

    /// Records that a request on a connection ended, so that the connection can carry another.
    mutating func ended(_ connection: ConnectionID, now: NIODeadline) -> [PoolAction] {
        let index = index(of: connection)
        precondition(connections[index].inUse > 0, "connection \(connection) carries no request")
        connections[index].inUse -= 1
        connections[index].isReused = true
        if connections[index].isDraining {
            guard connections[index].inUse == 0 else { return [] }
            connections.remove(at: index)
            return [.close(connection)] + connectAsNeeded(now: now)
        }
        if waiting.isEmpty {
            if connections[index].inUse == 0 { connections[index].idleSince = now }
            return []
        }
        return serve(now: now) + connectAsNeeded(now: now)
    }
}

extension PoolMachine {
    /// Opens a connection although no request waits for one, unless there is one.
    mutating func warm() -> [PoolAction] {
        guard !isShutDown, connections.allSatisfy(\.isDraining), isShared != false || room > 0 else { return [] }
        return [connect()]
    }

    mutating func connected(_ connection: ConnectionID, _ sharing: ConnectionSharing, now: NIODeadline) -> [PoolAction]
    {
        let index = index(of: connection)
        precondition(connections[index].state == .connecting, "connection \(connection) was made before")
        let hasShared = connections.contains { if case .shared = $0.state { !$0.isDraining } else { false } }
        switch sharing {
        case .exclusive: connections[index].state = .exclusive
        case .shared(let limit): connections[index].state = .shared(limit: limit)
        }
        isShared = mayShare && sharing != .exclusive
        if connections[index].isDraining || (hasShared && isShared == true) {
            connections.remove(at: index)
            return [.close(connection)] + connectAsNeeded(now: now)
        }
        connections[index].idleSince = now
        (failedDials, nextDial, connectDeadline) = (0, nil, nil)
        let actions = serve(now: now)
        connections[index].isReused = true
        return actions + connectAsNeeded(now: now)
    }

    /// Records that a dial failed.
    ///
    /// If other connections exist, requests keep waiting for them, since a server may limit their number. The next dial
    /// follows after a backoff.
    mutating func connectFailed(_ connection: ConnectionID, now: NIODeadline) -> [PoolAction] {
        let isWanted = !connections.remove(at: index(of: connection)).isDraining
        guard connections.allSatisfy(\.isDraining) else {
            if isWanted {
                failedDials += 1
                nextDial = now + TimeAmount(Self.dialDelays.bound(after: failedDials))
            }
            return connectAsNeeded(now: now)
        }
        (failedDials, nextDial, connectDeadline) = (0, nil, nil)
        return waiting.takeAll().map { .fail($0, .notConnected) }
    }

    /// Records that a connection closed. The loss of its requests is reported individually afterwards.
    mutating func closed(_ connection: ConnectionID, now: NIODeadline) -> [PoolAction] {
        connections.remove(at: index(of: connection))
        return connectAsNeeded(now: now)
    }

    /// Records that the server now accepts `limit` simultaneous requests on a shared connection.
    mutating func limitChanged(_ connection: ConnectionID, to limit: Int, now: NIODeadline) -> [PoolAction] {
        let index = index(of: connection)
        guard case .shared = connections[index].state else {
            preconditionFailure("connection \(connection) is not shared")
        }
        connections[index].state = .shared(limit: limit)
        return serve(now: now)
    }

    /// Drains connections: they accept no further requests; requests in flight may complete.
    mutating func drain(_ drained: some Sequence<ConnectionID>, now: NIODeadline) -> [PoolAction] {
        for connection in drained { connections[index(of: connection)].isDraining = true }
        let unused = connections.filter { $0.isDraining && $0.inUse == 0 && $0.state != .connecting }
        connections.removeAll { connection in unused.contains { $0.id == connection.id } }
        return unused.map { .close($0.id) } + connectAsNeeded(now: now)
    }

    /// Makes all connections exclusive, so that each carries one request at a time. Shared connections, and those that
    /// may become shared, accept no further requests; requests in flight may complete.
    mutating func requireExclusive(now: NIODeadline) -> [PoolAction] {
        mayShare = false
        isShared = false
        return drain(connections.filter { $0.state != .exclusive }.map(\.id), now: now)
    }

    /// Drains all connections after a change of network; requests in flight may complete.
    mutating func drainAll(now: NIODeadline) -> [PoolAction] { drain(connections.map(\.id), now: now) }

    /// Fails requests that waited too long for a dial, and closes connections that were idle for too long.
    mutating func timePassed(_ now: NIODeadline) -> [PoolAction] {
        var actions: [PoolAction] = []
        if let connectDeadline, connectDeadline <= now {
            let reason = failedDials > 0 ? PoolFailure.notConnected : .notConnectedInTime
            actions = waiting.takeLate(at: now).map { .fail($0, reason) }
        }
        for connection in connections {
            guard let idleSince = connection.idleSince, idleSince + limits.keepAlive <= now else { continue }
            actions.append(.close(connection.id))
            connections.removeAll { $0.id == connection.id }
        }
        // Requests may wait although an idle connection was just closed, since a shared connection with a limit of 0 is
        // idle.
        return actions + connectAsNeeded(now: now)
    }

    /// Fails all waiting requests and closes all connections. The caller fails the requests in flight and cancels
    /// dials.
    mutating func shutDown() -> [PoolAction] {
        isShutDown = true
        defer { connections = [] }
        return waiting.takeAll().map { .fail($0, .shutDown) }
            + connections.filter { $0.state != .connecting }.map { .close($0.id) }
    }
}

extension PoolMachine {
    private func index(of connection: ConnectionID) -> Int {
        guard let index = connections.firstIndex(where: { $0.id == connection }) else {
            preconditionFailure("connection \(connection) is not in the pool")
        }
        return index
    }

    /// Returns the most recently used free connection, so that the other connections stay idle long enough to close.
    private func freeConnection(isFresh: Bool = false) -> Int? {
        var best: Int?
        for index in connections.indices
        where connections[index].isFree && (!isFresh || connections[index].isFresh) {
            if let known = best, let since = connections[known].idleSince, let own = connections[index].idleSince,
                own <= since
            {
                continue
            }
            best = index
        }
        return best
    }

    /// Assigns a request to a connection. Returns whether the connection is reused.
    private mutating func take(_ index: Int) -> Bool {
        connections[index].inUse += 1
        connections[index].idleSince = nil
        connections[index].hasCarried = true
        return connections[index].isReused
    }

    /// Assigns waiting requests to free connections.
    private mutating func serve(now: NIODeadline) -> [PoolAction] {
        var actions: [PoolAction] = []
        for isFresh in [true, false] {
            while !waiting.isEmpty, let index = freeConnection(isFresh: isFresh),
                let request = waiting.takeFirst(mayNeedFresh: isFresh)
            {
                let isReused = take(index)
                actions.append(.send(request, on: connections[index].id, isReused: isReused))
            }
        }
        for index in connections.indices
        where connections[index].inUse == 0 && connections[index].idleSince == nil
            && connections[index].state != .connecting
        {
            connections[index].idleSince = now
        }
        return actions
    }

    private mutating func connect() -> PoolAction {
        connectionCount += 1
        connections.append(Connection(id: connectionCount))
        return .connect(connectionCount)
    }

    /// Opens as many connections as waiting requests can use, and limits the time that the requests wait for them.
    private mutating func connectAsNeeded(now: NIODeadline) -> [PoolAction] {
        if let nextDial, nextDial <= now { self.nextDial = nil }
        let actions = newConnections()
        let isConnecting = nextDial != nil || connections.contains { $0.state == .connecting && !$0.isDraining }
        connectDeadline =
            isConnecting && !waiting.isEmpty ? connectDeadline ?? now + limits.connectTimeout : nil
        return actions
    }

    private mutating func newConnections() -> [PoolAction] {
        guard !isShutDown, !waiting.isEmpty else { return [] }
        let usable = connections.filter { !$0.isDraining }
        guard isShared == false else { return usable.isEmpty ? [connect()] : [] }
        let connecting = usable.count { $0.state == .connecting }
        var wanted = waiting.count - connecting
        if failedDials > 0, !usable.isEmpty { wanted = nextDial == nil && connecting == 0 ? min(wanted, 1) : 0 }
        var actions: [PoolAction] = []
        // A free connection that no waiting request can use still counts towards the limit.
        while wanted > room,
            let index = connections.firstIndex(where: { $0.isFree && $0.state == .exclusive })
        {
            actions.append(.close(connections.remove(at: index).id))
        }
        for _ in 0..<max(0, min(wanted, room)) { actions.append(connect()) }
        return actions
    }

    /// The number of exclusive connections that may still be opened.
    private var room: Int {
        let usableCount = connections.count { !$0.isDraining }
        return limits.maximumConnections - max(usableCount, connections.count - limits.maximumConnections)
    }
}
