import Runway

/// A staggered race of a host's addresses (RFC 8305), through TLS: a state machine without clock, sockets or timers.
///
/// An address wins when its handshake is complete. The next one starts when one fails, or 250 ms after the last start,
/// less if the first address is known to be fast; a connection over TCP delays it by as much again. So an unreachable
/// or silent address costs at most 250 ms and one round trip. The name is looked up at the start if no address is
/// known, and otherwise when an address fails or is silent. Addresses that failed lately come last.
///
/// To be slower than the winner is not a failure. A losing attempt keeps running for 2 s or as long as the winner took;
/// it counts as failed only if it has not connected by then.
struct DialRace {
    enum Action: Equatable {
        /// Look up the host's addresses, and report them by ``DialRace/lookedUp(_:at:)`` or
        /// ``DialRace/lookupFailed(at:)``.
        case lookUp
        /// Connect to an address, and set up TLS.
        case connect(IPAddress)
        /// Call ``DialRace/timerFired(at:)`` then. Replaces an earlier instant.
        case wake(at: Duration)
        /// Stop connecting to an address.
        case cancel(IPAddress)
        /// Continue with an address that did not win, to measure it, for this time at most.
        case measure(IPAddress, for: Duration)
        /// Record an event of an address.
        case note(HostEvent, IPAddress)
        /// This address won. Only events of others follow.
        case succeed(IPAddress)
        /// No address is left.
        case fail
    }

    /// The time at which the name is looked up.
    enum Lookup {
        /// The name is not looked up: all addresses are known.
        case never
        /// The name is looked up at the start of the race.
        case atOnce
        /// The name is looked up as soon as an address fails or is silent.
        case onFailure
    }

    private struct Runner {
        var address: IPAddress
        var start: Duration
        var isConnected = false
        var isExplored = false
    }

    /// The time for which a losing address is measured at most, unless the winner took longer.
    static let longestMeasurement = Duration.seconds(2)
    /// The most addresses that are tried in one race.
    static let maximumAttempts = 16

    private let stagger: Duration
    private var lookup: Lookup
    private var isLookingUp = false
    private var queue: [IPAddress]
    private var lastResort: [IPAddress]
    private var explored: IPAddress?
    private var runners: [Runner] = []
    private var seen: Set<IPAddress>
    private var attemptCount = 0
    private var nextStart = Duration.zero
    /// Whether an address has won, or none can any more.
    private(set) var isOver = false

    /// Prepares a race of the addresses that are known.
    init(_ plan: HostPlan, lookup: Lookup) {
        queue = plan.order
        lastResort = plan.banned
        explored = plan.explored
        seen = Set(plan.order + plan.banned)
        // Without an address that has not failed lately the lookup starts at once.
        if case .onFailure = lookup, plan.order.isEmpty { self.lookup = .atOnce } else { self.lookup = lookup }
        stagger = plan.stagger ?? HostPlan.defaultStagger
    }

    mutating func start(at now: Duration) -> [Action] {
        var actions: [Action] = []
        if case .atOnce = lookup { actions += lookUp() }
        if queue.isEmpty, isLookingUp {
            // Addresses that failed lately are tried if the lookup takes long.
            nextStart = now + stagger
            return actions + (lastResort.isEmpty ? [] : [.wake(at: nextStart)])
        }
        return actions + startNext(at: now)
    }

    /// Returns the actions that are due at the instant of ``Action/wake(at:)``.
    mutating func timerFired(at now: Duration) -> [Action] {
        if isOver { return [] }
        guard now >= nextStart else { return [.wake(at: nextStart)] }
        return lookUpIfNeeded() + startNext(at: now)
    }

    mutating func lookedUp(_ plan: HostPlan, at now: Duration) -> [Action] {
        if isOver { return [] }
        isLookingUp = false
        let fresh = plan.order.filter { seen.insert($0).inserted }
        lastResort += plan.banned.filter { seen.insert($0).inserted }
        if let address = plan.explored, explored == nil, fresh.contains(address) { explored = address }
        // A lookup means that a listed address failed or is silent: looked-up and listed ones alternate, a looked-up one first.
        var listed = queue[...]
        queue = []
        for address in fresh {
            queue.append(address)
            if let next = listed.popFirst() { queue.append(next) }
        }
        queue += listed
        if runners.isEmpty || now >= nextStart { return startNext(at: now) }
        return [.wake(at: nextStart)]
    }

    mutating func lookupFailed(at now: Duration) -> [Action] {
        if isOver { return [] }
        isLookingUp = false
        return runners.isEmpty ? startNext(at: now) : []
    }

    /// Notes that the TCP connection to an address was established.
    mutating func connected(_ address: IPAddress, at now: Duration) -> [Action] {
        if isOver { return [] }
        let index = index(of: address)
        runners[index].isConnected = true
        nextStart = max(nextStart, now + stagger)
        return hasNext ? [.wake(at: nextStart)] : []
    }

    mutating func failed(_ address: IPAddress, at now: Duration) -> [Action] {
        if isOver { return [] }
        let index = index(of: address)
        let runner = runners.remove(at: index)
        let actions = [.note(.failed, address)] + lookUpIfNeeded()
        // If the explored address fails the others keep their time.
        if runner.isExplored, !runners.isEmpty { return actions }
        return actions + startNext(at: now)
    }

    /// Notes that the handshake with an address is complete: the address wins.
    mutating func secured(_ address: IPAddress, at now: Duration) -> [Action] {
        if isOver { return [] }
        let winner = runners[index(of: address)]
        isOver = true
        var actions = [Action.succeed(address)]
        let limit = max(Self.longestMeasurement, now - winner.start)
        for runner in runners where runner.address != address {
            let time = now - runner.start
            let isSilent = isSilent(runner, at: now)
            guard isSilent || runner.isExplored || runner.start <= winner.start else {
                actions += [.cancel(runner.address), .note(.abandoned, runner.address)]
                continue
            }
            // TCP takes one round trip, and TLS another.
            let event = HostEvent.slowerThanWinner(roundTripAbove: time / (runner.isConnected ? 2 : 1))
            actions.append(.note(isSilent ? .silent(for: time) : event, runner.address))
            actions.append(.measure(runner.address, for: limit))
        }
        runners = []
        return actions
    }

    /// Ends the race: the deadline has passed, or the dial was cancelled.
    mutating func end(at now: Duration) -> [Action] {
        if isOver { return [] }
        isOver = true
        defer { runners = [] }
        return runners.flatMap { runner -> [Action] in
            let time = now - runner.start
            let event: HostEvent =
                switch (isSilent(runner, at: now), time >= Self.longestMeasurement) {
                case (true, true): .failed
                case (true, false): .silent(for: time, isMeasured: false)
                case (false, _): .abandoned
                }
            return [.cancel(runner.address), .note(event, runner.address)]
        } + [.fail]
    }

    private func index(of address: IPAddress) -> Int {
        guard let index = runners.firstIndex(where: { $0.address == address }) else {
            preconditionFailure("an attempt to connect to an address has started and not failed")
        }
        return index
    }

    private func isSilent(_ runner: Runner, at now: Duration) -> Bool {
        !runner.isConnected && now - runner.start >= stagger
    }

    private var hasNext: Bool {
        attemptCount < Self.maximumAttempts && !(queue.isEmpty && lastResort.isEmpty) || isToBeLookedUp
    }

    private var isToBeLookedUp: Bool { if case .onFailure = lookup { true } else { false } }

    private mutating func lookUp() -> [Action] {
        lookup = .never
        isLookingUp = true
        return [.lookUp]
    }

    /// Starts the lookup of the name, if it is still due: a known address failed or is silent.
    private mutating func lookUpIfNeeded() -> [Action] { isToBeLookedUp ? lookUp() : [] }

    /// Starts the next address, and the explored one at the same time.
    private mutating func startNext(at now: Duration) -> [Action] {
        var actions: [Action] = []
        if attemptCount < Self.maximumAttempts, let address = popNext() {
            actions.append(run(address, at: now))
            if let other = explored, attemptCount < Self.maximumAttempts {
                explored = nil
                if let index = queue.firstIndex(of: other) {
                    queue.remove(at: index)
                    actions.append(run(other, at: now, isExplored: true))
                }
            }
            nextStart = now + stagger
            if hasNext { actions.append(.wake(at: nextStart)) }
        } else if runners.isEmpty, !isLookingUp {
            isOver = true
            actions.append(.fail)
        }
        return actions
    }

    private mutating func popNext() -> IPAddress? {
        if !queue.isEmpty { return queue.removeFirst() }
        return lastResort.isEmpty ? nil : lastResort.removeFirst()
    }

    private mutating func run(_ address: IPAddress, at now: Duration, isExplored: Bool = false) -> Action {
        attemptCount += 1
        runners.append(Runner(address: address, start: now, isExplored: isExplored))
        return .connect(address)
    }
}
