import Synchronization

/// Knows which address of a host is the best on the network that the device is in.
///
/// It is fed by dials, answers and failures, and by probes, and remembers every network apart: what is near at home may be far on a mobile
/// network. What was learned is kept in memory alone, and bounded by ``HostSelectionLimits``.
package final class HostSelector: Sendable {
    private struct Key: Hashable {
        var link: NetworkStatus.Link
        var identity: String?
        var host: String
    }

    private struct State {
        var rankings: LeastRecentlyUsed<Key, HostRanking>
        var randomness: any RandomNumberGenerator & Sendable
        var observation: NetworkStatusObservation?

        @discardableResult
        mutating func change<Value>(
            _ key: Key, _ limits: HostSelectionLimits, _ body: (inout HostRanking) -> Value
        ) -> Value {
            if let value = rankings.change(key, body) { return value }
            var ranking = HostRanking(limits)
            defer { rankings.insert(ranking, for: key, byteCount: 0) }
            return body(&ranking)
        }
    }

    private let limits: HostSelectionLimits
    private let status: any NetworkStatusSource
    /// What ``follow(_:)`` sets; `nil` where the selector has a source of its own.
    private let told: SettableNetworkStatus?
    private let clock: LayerClock
    /// Guards what is known of the hosts, and the source of chance.
    private let state: Mutex<State>

    /// Makes a selector that knows nothing yet.
    ///
    /// - Parameters:
    ///   - limits: How it chooses and how much it remembers.
    ///   - status: Knows what network the device is in. By default the transport that dials by the selector tells it of every change
    ///     that its layer's status knows of; as long as there was none, all networks are one.
    ///   - clock: What bans are counted on. The default is the system's.
    ///   - randomness: What spreads the ends of bans. The default is the system's; a test gives one with a seed.
    package init(
        limits: HostSelectionLimits = HostSelectionLimits(), status: (any NetworkStatusSource)? = nil,
        clock: LayerClock = .system,
        randomness: any RandomNumberGenerator & Sendable = SystemRandomNumberGenerator()
    ) {
        self.limits = limits
        let told = SettableNetworkStatus()
        self.told = status == nil ? told : nil
        self.status = status ?? told
        self.clock = clock
        state = Mutex(
            State(
                rankings: LeastRecentlyUsed(maximumCount: limits.maximumHosts, maximumByteCount: .max),
                randomness: randomness))
        let observation = self.status.observe { [weak self] in self?.endBans() }
        state.withLock { $0.observation = observation }
    }

    /// The device came to this network. A selector that was made with a source of its own knows better.
    package func follow(_ status: NetworkStatus) { told?.set(status) }

    /// The order in which to dial the addresses of a host, which come in the order in which their source prefers them.
    package func plan(_ addresses: [IPAddress], of host: String) -> HostPlan {
        let now = clock.now
        let key = key(of: host)
        return state.withLock { $0.change(key, limits) { $0.plan(addresses, at: now) } }
    }

    /// Whether an address in use would now be left for another one that is known to work.
    package func isOutrun(_ address: IPAddress, among addresses: [IPAddress], of host: String) -> Bool {
        let (key, now) = (key(of: host), clock.now)
        return state.withLock { $0.rankings.peek(key)?.isOutrun(address, among: addresses, at: now) ?? false }
    }

    /// Takes in what was learned of an address.
    package func note(_ event: HostEvent, of address: IPAddress, of host: String) {
        let (key, now) = (key(of: host), clock.now)
        state.withLock { state in
            // Every answer is noted, and few wait upon chance.
            let chance = if case .failed = event { Double.random(in: 0..<1, using: &state.randomness) } else { 0.0 }
            state.change(key, limits) { $0.note(event, of: address, at: now, chance: chance) }
        }
    }

    /// The smoothed latency of an address on this network; `nil` where none was measured.
    package func latency(of address: IPAddress, of host: String) -> Duration? {
        let key = key(of: host)
        return state.withLock { $0.rankings.peek(key)?.record(of: address)?.score }.map { .seconds($0) }
    }

    /// How long an address of a host is left alone from now on; `nil` where it is not.
    package func ban(of address: IPAddress, of host: String) -> Duration? {
        let (key, now) = (key(of: host), clock.now)
        guard let end = state.withLock({ $0.rankings.peek(key)?.record(of: address)?.bannedUntil }), now < end else {
            return nil
        }
        return end - now
    }

    private func endBans() {
        let now = clock.now
        state.withLock { state in
            for key in state.rankings.keys.reversed() { state.change(key, limits) { $0.endBans(at: now) } }
        }
    }

    /// Asked for before the lock is taken: the source of the status is code of somebody else.
    private func key(of host: String) -> Key {
        let status = status.current
        return Key(link: status.link, identity: status.identity, host: host)
    }
}
