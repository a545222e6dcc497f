import NIOCore

/// Decides which request of one origin goes on which connection. Pure: it does nothing itself, and reads no clock.
///
/// Connections that carry many requests at once are never more than one, beside those that the server has begun to close. Of those
/// that carry one at a time there are at most ``Limits/maximumConnections``, beside as many that are on their way out. What finds no place waits, first come, first served.
/// While nobody knows how connections carry requests, one is made, and not as many as there are requests.
struct PoolMachine {
    /// The bounds of a pool.
    struct Limits {
        /// The most connections that carry one request at a time.
        var maximumConnections: Int
        /// The most requests that wait.
        var maximumWaiting: Int
        /// How long a connection is kept that carries nothing.
        var keepAlive: TimeAmount
        /// How long a request waits for a connection to be made. For a free place it waits as long as it likes.
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
        /// How many requests it carries.
        var inUse = 0
        /// Whether a request was given to it by a later event than the one that told of it.
        var isReused = false
        /// Whether any request was given to it.
        var hasCarried = false
        /// Whether it takes no further request.
        var isDraining = false
        /// Since when it carries nothing.
        var idleSince: NIODeadline?

        var isFree: Bool {
            switch state {
            case .connecting: false
            case .exclusive: !isDraining && inUse == 0
            case .shared(let limit): !isDraining && inUse < limit
            }
        }

        /// Whether it can take a request that was lost on a stale connection: nothing can have become of it since it was made.
        var isFresh: Bool { !hasCarried || state != .exclusive }
    }

    /// How a request waits.
    struct Wait {
        /// Until when at least, though no connection is made.
        var deadline: NIODeadline
        /// Whether it was lost on a stale connection, and another one of that age would not do.
        var needsFresh: Bool
    }

    let limits: Limits
    /// Whether connections carry many requests at once; `nil` while none has told.
    private(set) var isShared: Bool?
    private(set) var connections: [Connection] = []
    private var connectionCount = 0
    /// The requests that wait, in order. One that left stays here until its turn comes.
    private var line = CircularBuffer<RequestID>()
    /// How each of them waits.
    private(set) var waiting: [RequestID: Wait] = [:]
    /// Until when at least those who wait go on waiting for a connection to be made; `nil` while none is: they wait for a place.
    private var connectDeadline: NIODeadline?
    /// How many dials failed in a row, and the instant before which there is no other while there are connections to wait for.
    private var failedDials = 0
    private var nextDial: NIODeadline?
    private(set) var isShutDown = false

    /// Makes a machine.
    ///
    /// - Parameters:
    ///   - limits: The bounds.
    ///   - mayShare: Whether a connection may turn out to carry many requests at once.
    init(limits: Limits, mayShare: Bool) {
        self.limits = limits
        isShared = mayShare ? nil : false
    }

    /// The earliest instant at which ``timePassed(_:)`` has something to do.
    var nextDeadline: NIODeadline? {
        var next: NIODeadline?
        for case let idleSince? in connections.lazy.map(\.idleSince) {
            let due = idleSince + limits.keepAlive
            next = min(next ?? due, due)
        }
        if waiting.isEmpty { return next }
        if let connectDeadline, let first = waiting.values.lazy.map(\.deadline).min() {
            let due = max(connectDeadline, first)
            next = min(next ?? due, due)
        }
        if let nextDial { next = min(next ?? nextDial, nextDial) }
        return next
    }
}

/// Requests.
extension PoolMachine {
    /// A request wants to be sent.
    mutating func submit(_ request: RequestID, now: NIODeadline) -> PoolSubmission {
        if isShutDown { return .refuse(.shutDown) }
        // A place is free only while nobody waits who could take it.
        if let index = freeConnection() {
            let isReused = take(index)
            return .send(on: connections[index].id, isReused: isReused)
        }
        guard waiting.count < limits.maximumWaiting else { return .refuse(.tooManyWaiting) }
        waiting[request] = Wait(deadline: now + limits.connectTimeout, needsFresh: false)
        line.append(request)
        return .wait(connectAsNeeded(now: now))
    }

    /// A connection did not answer a request. Where it may be sent on another connection it comes first, and one that was lost on a stale
    /// connection takes none that carried anything before.
    ///
    /// Whether the connection lives on is another event.
    mutating func lost(_ request: RequestID, _ loss: LostRequest, now: NIODeadline) -> PoolSubmission {
        guard loss.mayMove else { return .refuse(.notMoved) }
        if isShutDown { return .refuse(.shutDown) }
        if !loss.isStale, let index = freeConnection() {
            let isReused = take(index)
            return .send(on: connections[index].id, isReused: isReused)
        }
        // Whoever waited already is not turned away, and has the time of a new one for another connection.
        waiting[request] = Wait(deadline: now + limits.connectTimeout, needsFresh: loss.isStale)
        line.prepend(request)
        return .wait(serve(now: now) + connectAsNeeded(now: now))
    }

    /// A connection turned out to be stale that carried a request since `instant`: so may those be that were idle then.
    mutating func retireIdle(since instant: NIODeadline, now: NIODeadline) -> [PoolAction] {
        let stale = connections.filter { connection in
            connection.state == .exclusive && connection.inUse == 0
                && connection.idleSince.map { $0 <= instant } == true
        }
        connections.removeAll { connection in stale.contains { $0.id == connection.id } }
        return stale.map { .close($0.id) } + connectAsNeeded(now: now)
    }

    /// A request that waits is not wanted any more. Gives `false` where it does not wait.
    mutating func withdraw(_ request: RequestID) -> Bool {
        guard waiting.removeValue(forKey: request) != nil else { return false }
        if line.count > 2 * waiting.count + 64 { line = CircularBuffer(line.filter { waiting[$0] != nil }) }
        return true
    }

    /// A connection carries one request less.
    ///
    /// - Parameter isKept: Whether it can carry another.
    mutating func ended(_ connection: ConnectionID, isKept: Bool, now: NIODeadline) -> [PoolAction] {
        guard let index = index(of: connection) else { return [] }
        connections[index].inUse -= 1
        if !isKept { connections[index].isDraining = true }
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

/// Connections.
extension PoolMachine {
    /// A connection is wanted although no request waits for one.
    mutating func warm() -> [PoolAction] {
        guard !isShutDown, connections.allSatisfy(\.isDraining), isShared != false || room > 0 else { return [] }
        return [connect()]
    }

    /// A connection was made.
    mutating func connected(_ connection: ConnectionID, _ sharing: ConnectionSharing, now: NIODeadline) -> [PoolAction]
    {
        guard let index = index(of: connection) else { return [.close(connection)] }
        let hasShared = connections.contains { if case .shared = $0.state { !$0.isDraining } else { false } }
        switch sharing {
        case .exclusive: connections[index].state = .exclusive
        case .shared(let limit): connections[index].state = .shared(limit: limit)
        }
        isShared = sharing != .exclusive
        if connections[index].isDraining || (hasShared && isShared == true) {
            connections.remove(at: index)
            return [.close(connection)] + connectAsNeeded(now: now)
        }
        connections[index].idleSince = now
        (failedDials, nextDial, connectDeadline) = (0, nil, nil)
        let actions = serve(now: now)
        markReused(connection)
        return actions + connectAsNeeded(now: now)
    }

    /// A connection could not be made.
    ///
    /// While there are others, those who wait go on waiting for them, since a server may take only so many, and another try is made
    /// after a pause that grows.
    mutating func connectFailed(_ connection: ConnectionID, now: NIODeadline) -> [PoolAction] {
        guard let index = index(of: connection) else { return [] }
        let isWanted = !connections.remove(at: index).isDraining
        guard connections.allSatisfy(\.isDraining) else {
            if isWanted {
                nextDial = now + .milliseconds(100 << min(failedDials, 5))
                failedDials += 1
            }
            return connectAsNeeded(now: now)
        }
        (failedDials, nextDial, connectDeadline) = (0, nil, nil)
        return takeAllWaiting().map { .fail($0, .notConnected) }
    }

    /// A connection is gone. What it carried is lost, which is told request by request, after this.
    mutating func closed(_ connection: ConnectionID, now: NIODeadline) -> [PoolAction] {
        guard let index = index(of: connection) else { return [] }
        connections.remove(at: index)
        return connectAsNeeded(now: now)
    }

    /// The server takes so many requests at once from now on.
    mutating func limitChanged(_ connection: ConnectionID, to limit: Int, now: NIODeadline) -> [PoolAction] {
        guard let index = index(of: connection), case .shared = connections[index].state else { return [] }
        connections[index].state = .shared(limit: limit)
        return serve(now: now)
    }

    /// A connection takes no further request; what it carries may end.
    mutating func drain(_ connection: ConnectionID, now: NIODeadline) -> [PoolAction] {
        guard let index = index(of: connection) else { return [] }
        connections[index].isDraining = true
        guard connections[index].inUse == 0, connections[index].state != .connecting else {
            return connectAsNeeded(now: now)
        }
        connections.remove(at: index)
        return [.close(connection)] + connectAsNeeded(now: now)
    }

    /// No connection takes a further request, because the network changed under them; what they carry may end.
    mutating func drainAll(now: NIODeadline) -> [PoolAction] {
        connections.map(\.id).flatMap { drain($0, now: now) }
    }

    /// Ends what waited for too long for a connection to be made, and closes what was kept for too long.
    mutating func timePassed(_ now: NIODeadline) -> [PoolAction] {
        var actions: [PoolAction] = []
        if let connectDeadline, connectDeadline <= now, waiting.values.contains(where: { $0.deadline <= now }) {
            let reason = failedDials > 0 ? PoolFailure.notConnected : .notConnectedInTime
            for request in line {
                guard let wait = waiting[request], wait.deadline <= now, withdrawInPlace(request) else { continue }
                actions.append(.fail(request, reason))
            }
            line = CircularBuffer(line.filter { waiting[$0] != nil })
        }
        for connection in connections {
            guard let idleSince = connection.idleSince, idleSince + limits.keepAlive <= now else { continue }
            actions.append(.close(connection.id))
            connections.removeAll { $0.id == connection.id }
        }
        // A server that takes nothing on its connection may have been kept for too long while requests waited for it.
        return actions + connectAsNeeded(now: now)
    }

    /// Forgets every connection and ends every wait. What the connections carry is theirs to end, and what is being made is its
    /// maker's to cancel.
    mutating func shutDown() -> [PoolAction] {
        isShutDown = true
        defer { connections = [] }
        return takeAllWaiting().map { .fail($0, .shutDown) }
            + connections.filter { $0.state != .connecting }.map { .close($0.id) }
    }
}

extension PoolMachine {
    private func index(of connection: ConnectionID) -> Int? { connections.firstIndex { $0.id == connection } }

    /// A connection that can take a request; of several the one that was used last, so that the others may go.
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

    /// Gives a connection one more request; gives whether it carried some before.
    private mutating func take(_ index: Int) -> Bool {
        connections[index].inUse += 1
        connections[index].idleSince = nil
        connections[index].hasCarried = true
        return connections[index].isReused
    }

    private mutating func markReused(_ connection: ConnectionID) {
        guard let index = index(of: connection) else { return }
        connections[index].isReused = true
    }

    /// Gives those who wait what is free.
    private mutating func serve(now: NIODeadline) -> [PoolAction] {
        var actions: [PoolAction] = []
        for isFresh in [true, false] {
            while !waiting.isEmpty, let index = freeConnection(isFresh: isFresh),
                let request = nextWaiting(mayNeedFresh: isFresh)
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

    /// The first who still waits, of all or of those whom any connection serves.
    private mutating func nextWaiting(mayNeedFresh: Bool) -> RequestID? {
        while let first = line.first, waiting[first] == nil { line.removeFirst() }
        let next = line.firstIndex { waiting[$0].map { mayNeedFresh || !$0.needsFresh } ?? false }
        guard let next else { return nil }
        let request = line.remove(at: next)
        waiting[request] = nil
        return request
    }

    private mutating func withdrawInPlace(_ request: RequestID) -> Bool {
        waiting.removeValue(forKey: request) != nil
    }

    private mutating func takeAllWaiting() -> [RequestID] {
        defer {
            line = CircularBuffer()
            waiting = [:]
        }
        return line.filter { waiting[$0] != nil }
    }

    private mutating func connect() -> PoolAction {
        connectionCount += 1
        connections.append(Connection(id: connectionCount))
        return .connect(connectionCount)
    }

    /// Makes as many connections as those who wait can use, and sets how long they wait for them.
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
        // What is free here is no good to those who wait, and holds the place of what would be.
        while wanted > room,
            let index = connections.firstIndex(where: { $0.isFree && $0.state == .exclusive })
        {
            actions.append(.close(connections.remove(at: index).id))
        }
        for _ in 0..<max(0, min(wanted, room)) { actions.append(connect()) }
        return actions
    }

    /// How many more connections may be made that carry one request at a time.
    private var room: Int {
        let usableCount = connections.count { !$0.isDraining }
        return limits.maximumConnections - max(usableCount, connections.count - limits.maximumConnections)
    }
}
