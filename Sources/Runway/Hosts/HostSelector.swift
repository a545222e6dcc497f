import Synchronization

/// Orders the addresses of a host by their latency and failures on the current network.
///
/// It learns from dials, responses, failures and probes, for each network separately, since latencies differ between networks.
/// Measurements are held in memory only, bounded by ``HostSelectionLimits``.
package final class HostSelector: Sendable {
    private struct OriginKey: Hashable {
        var link: NetworkStatus.Link
        var identity: String?
        var host: String
    }

    private struct State {
        var rankings: LeastRecentlyUsed<OriginKey, HostRanking>
        var randomness: any RandomNumberGenerator & Sendable
        var observation: NetworkStatusObservation?

        @discardableResult
        mutating func change<Value>(
            _ key: OriginKey, _ limits: HostSelectionLimits, _ body: (inout HostRanking) -> Value
        ) -> Value {
            if let value = rankings.change(key, body) { return value }
            var ranking = HostRanking(limits)
            defer { rankings.insert(ranking, for: key, byteCount: 0) }
            return body(&ranking)
        }
    }

    private let limits: HostSelectionLimits
    private let status: any NetworkStatusSource
    /// The status that ``follow(_:)`` sets; `nil` if the selector has a source of its own.
    private let followed: SettableNetworkStatus?
    private let clock: LayerClock
    /// Guards the records of the hosts, and the random generator.
    private let state: Mutex<State>

    /// Creates a selector without measurements.
    ///
    /// - Parameters:
    ///   - limits: How it chooses and how many records it stores.
    ///   - status: Reports the device's network. By default the transport reports every change of its layer's status to it;
    ///     before the first change all networks count as one.
    ///   - clock: Times the bans. The default is the system's.
    ///   - randomness: Randomises the ends of bans. The default is the system's; a test passes one with a seed.
    package init(
        limits: HostSelectionLimits = HostSelectionLimits(), status: (any NetworkStatusSource)? = nil,
        clock: LayerClock = .system,
        randomness: any RandomNumberGenerator & Sendable = SystemRandomNumberGenerator()
    ) {
        self.limits = limits
        let followed = SettableNetworkStatus()
        self.followed = status == nil ? followed : nil
        self.status = status ?? followed
        self.clock = clock
        state = Mutex(
            State(
                rankings: LeastRecentlyUsed(maximumCount: limits.maximumHosts, maximumByteCount: .max),
                randomness: randomness))
        let observation = self.status.observe { [weak self] in self?.endBans() }
        state.withLock { $0.observation = observation }
    }

    /// Reports that the device joined this network. A selector with a source of its own ignores it.
    package func follow(_ status: NetworkStatus) { followed?.set(status) }

    /// The order in which to dial the addresses of a host, which come in the order in which their source prefers them.
    package func plan(_ addresses: [IPAddress], of host: String) -> HostPlan {
        let now = clock.now
        let key = key(of: host)
        return state.withLock { $0.change(key, limits) { $0.plan(addresses, at: now) } }
    }

    /// Whether another address that is known to work would now be preferred to the address in use.
    package func hasLost(_ address: IPAddress, among addresses: [IPAddress], of host: String) -> Bool {
        let (key, now) = (key(of: host), clock.now)
        return state.withLock { $0.rankings.peek(key)?.hasLost(address, among: addresses, at: now) ?? false }
    }

    /// Records a result about an address.
    package func note(_ event: HostEvent, of address: IPAddress, of host: String) {
        let (key, now) = (key(of: host), clock.now)
        state.withLock { state in
            // Every response is noted; only failures need a random number.
            let chance = if case .failed = event { Double.random(in: 0..<1, using: &state.randomness) } else { 0.0 }
            state.change(key, limits) { $0.note(event, of: address, at: now, chance: chance) }
        }
    }

    /// The smoothed latency of an address on this network; `nil` if none was measured.
    package func latency(of address: IPAddress, of host: String) -> Duration? {
        let key = key(of: host)
        return state.withLock { $0.rankings.peek(key)?.record(of: address)?.score }.map { .seconds($0) }
    }

    /// How much longer an address of a host is not dialled; `nil` if it is not banned.
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

    /// Read before the lock is taken, since the source of the status is foreign code.
    private func key(of host: String) -> OriginKey {
        let status = status.current
        return OriginKey(link: status.link, identity: status.identity, host: host)
    }
}
