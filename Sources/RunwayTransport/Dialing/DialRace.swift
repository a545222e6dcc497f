import Runway

/// A staggered race of a host's addresses (RFC 8305), through TLS: a state machine without clock, sockets or timers.
///
/// An address wins when its handshake is done. The next one starts when one fails, and otherwise when 250 ms have
/// passed without news, or less where the first is known to be quick; an address that has come as far as a connection
/// has as much again. So one that is dead or silent costs at most 250 ms and one round trip. The name is looked up at
/// once where no address is known, and at the first sign of trouble where some are. What failed of late comes last.
///
/// To be slower than the winner is no failure. What was overtaken goes on for a while; only what is silent even then has failed.
struct DialRace {
    enum Action: Equatable {
        /// Look up the host's addresses; the answer goes to ``DialRace/lookedUp(_:at:)`` or ``DialRace/lookupFailed(at:)``.
        case lookUp
        /// Connect to an address, and set up TLS.
        case connect(IPAddress)
        /// Call ``DialRace/woke(at:)`` then. It takes the place of an earlier one.
        case wake(at: Duration)
        /// Stop connecting to an address.
        case cancel(IPAddress)
        /// Go on with an address that did not win to learn how long it takes, for so long at most; then stop.
        case measure(IPAddress, for: Duration)
        /// Something was learned of an address.
        case note(HostEvent, IPAddress)
        /// This address won. Nothing follows but what is learned of others.
        case succeed(IPAddress)
        /// No address is left.
        case fail
    }

    /// When the name is looked up.
    enum Lookup {
        /// Not at all: all addresses are known.
        case never
        /// When the race starts.
        case atOnce
        /// When an address fails or is silent.
        case onTrouble
    }

    private struct Runner {
        var address: IPAddress
        var start: Duration
        var isConnected = false
        var isExplored = false
    }

    /// How long an address has before the next one starts, where nothing else is said.
    static let defaultStagger = Duration.milliseconds(250)
    /// How long an address may go on that did not win; where the winner took longer, as long as that.
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
        // Who has nothing good to start with does not wait for trouble.
        if case .onTrouble = lookup, plan.order.isEmpty { self.lookup = .atOnce } else { self.lookup = lookup }
        stagger = plan.stagger ?? Self.defaultStagger
    }

    mutating func start(at now: Duration) -> [Action] {
        var actions: [Action] = []
        if case .atOnce = lookup { actions += lookUp() }
        if queue.isEmpty, isLookingUp {
            // What failed of late is tried when the lookup takes long.
            nextStart = now + stagger
            return actions + (lastResort.isEmpty ? [] : [.wake(at: nextStart)])
        }
        return actions + startNext(at: now)
    }

    /// The time for which ``Action/wake(at:)`` asked has come.
    mutating func woke(at now: Duration) -> [Action] {
        if isOver { return [] }
        guard now >= nextStart else { return [.wake(at: nextStart)] }
        return trouble() + startNext(at: now)
    }

    mutating func lookedUp(_ plan: HostPlan, at now: Duration) -> [Action] {
        if isOver { return [] }
        isLookingUp = false
        let fresh = plan.order.filter { seen.insert($0).inserted }
        lastResort += plan.banned.filter { seen.insert($0).inserted }
        if let address = plan.explored, explored == nil, fresh.contains(address) { explored = address }
        // The listed ones are in doubt when this comes to pass: so the looked-up ones go first, and then in turn.
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

    /// TCP leads to an address.
    mutating func connected(_ address: IPAddress, at now: Duration) -> [Action] {
        guard !isOver, let index = runners.firstIndex(where: { $0.address == address }) else { return [] }
        runners[index].isConnected = true
        nextStart = max(nextStart, now + stagger)
        return hasNext ? [.wake(at: nextStart)] : []
    }

    mutating func failed(_ address: IPAddress, at now: Duration) -> [Action] {
        guard !isOver, let index = runners.firstIndex(where: { $0.address == address }) else { return [] }
        let runner = runners.remove(at: index)
        let actions = [.note(.failed, address)] + trouble()
        // One that was to be looked at and fails is no reason to hurry while the others are on their way.
        if runner.isExplored, !runners.isEmpty { return actions }
        return actions + startNext(at: now)
    }

    /// The handshake with an address is done: it wins.
    mutating func secured(_ address: IPAddress, at now: Duration) -> [Action] {
        guard !isOver, let winner = runners.first(where: { $0.address == address }) else { return [] }
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
            let event = HostEvent.outrun(roundTripAbove: time / (runner.isConnected ? 2 : 1))
            actions.append(.note(isSilent ? .silent(for: time) : event, runner.address))
            actions.append(.measure(runner.address, for: limit))
        }
        runners = []
        return actions
    }

    /// Nobody waits any more: the deadline has passed, or the dial was called off.
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

    private func isSilent(_ runner: Runner, at now: Duration) -> Bool {
        !runner.isConnected && now - runner.start >= stagger
    }

    private var hasNext: Bool {
        attemptCount < Self.maximumAttempts && !(queue.isEmpty && lastResort.isEmpty) || isToBeLookedUp
    }

    private var isToBeLookedUp: Bool { if case .onTrouble = lookup { true } else { false } }

    private mutating func lookUp() -> [Action] {
        lookup = .never
        isLookingUp = true
        return [.lookUp]
    }

    /// The known addresses are in doubt.
    private mutating func trouble() -> [Action] { isToBeLookedUp ? lookUp() : [] }

    /// Starts the next address, and the one that is looked at beside it.
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
