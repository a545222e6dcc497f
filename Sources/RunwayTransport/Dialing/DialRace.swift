import Runway

/// A staggered race of a host's addresses, including TLS (RFC 8305). It is a state machine without clock, sockets or
/// timers.
///
/// An address wins when its handshake is complete. The next address starts when one fails, or 250 ms after the last
/// start. The delay is shorter if the first address is known to be fast, and begins again when a TCP connection is
/// established. An unreachable or silent address therefore costs at most 250 ms and one round trip. The name is looked
/// up at the start if no address is known, and otherwise when an address fails or is silent. Addresses that failed
/// recently come last.
///
/// Being slower than the winner is not a failure. A losing attempt keeps running for 2 s, or as long as the winner
/// took; it counts as failed only if it has not connected by then.
struct DialRace {
    enum Action: Equatable {
        /// Look up the host's addresses, and report them to ``DialRace/lookedUp(_:at:)`` or
        /// ``DialRace/lookupFailed(at:)``.
        case lookUp
        /// Connect to an address and set up TLS.
        case connect(IPAddress)
        /// Call ``DialRace/timerFired(at:)`` at an instant. The instant replaces an earlier one.
        case wake(at: Duration)
        /// Stop connecting to an address.
        case cancel(IPAddress)
        /// Continue connecting to an address that did not win, only to measure it, for at most this time.
        case measure(IPAddress, for: Duration)
        case note(HostEvent, IPAddress)
        /// An address won. Later events concern only other addresses.
        case succeed(IPAddress)
        /// All addresses have failed.
        case fail
    }

    /// The time when the host's name is looked up.
    enum Lookup {
        /// The name is never looked up, since all addresses are known.
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

    /// The maximum time for which a losing address is measured, unless the winner took longer.
    static let longestMeasurement = Duration.seconds(2)
    /// The maximum number of addresses that are attempted in one race.
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
    /// Whether an address has won, or all have failed.
    private(set) var isOver = false

    init(_ plan: HostPlan, lookup: Lookup) {
        queue = plan.order
        lastResort = plan.banned
        explored = plan.explored
        seen = Set(plan.order + plan.banned)
        // If all known addresses failed recently, the lookup starts immediately.
        if case .onFailure = lookup, plan.order.isEmpty { self.lookup = .atOnce } else { self.lookup = lookup }
        stagger = plan.stagger ?? HostPlan.defaultStagger
    }

    mutating func start(at now: Duration) -> [Action] {
        var actions: [Action] = []
        if case .atOnce = lookup { actions += lookUp() }
        if queue.isEmpty, isLookingUp {
            // If the lookup takes long, addresses that failed recently are attempted.
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
        // The name was looked up because a listed address failed or is silent. Looked-up and listed addresses
        // alternate; a looked-up one comes first.
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
        // The explored address, which has too few measurements, runs in parallel to the others, so its failure does not
        // start the next address earlier.
        if runner.isExplored, !runners.isEmpty { return actions }
        return actions + startNext(at: now)
    }

    /// Records that the handshake with an address is complete. The address wins.
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
            // TCP takes one round trip, and TLS at least another.
            let event = HostEvent.slowerThanWinner(roundTripAbove: time / (runner.isConnected ? 2 : 1))
            actions.append(.note(isSilent ? .silent(for: time) : event, runner.address))
            actions.append(.measure(runner.address, for: limit))
        }
        runners = []
        return actions
    }

    /// Ends the race because of the deadline or a cancellation.
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

    /// Starts the lookup of the name if it is still due. Called when a known address fails or is silent.
    private mutating func lookUpIfNeeded() -> [Action] { isToBeLookedUp ? lookUp() : [] }

    /// Starts to connect to the next address and, at the same time, to ``HostPlan/explored``, an address with too few
    /// measurements.
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
