import Synchronization

/// Orders the addresses of a host by their latency and failures on the current network.
///
/// The selector learns from dials, responses, failures and probes. Latencies differ between networks, so it has
/// separate records for each network. ``HostSelectionLimits`` bounds the number of records. A ``HostMemory`` stores
/// latencies between launches.
package final class HostSelector: Sendable {
    private struct OriginKey: Hashable {
        var network: NetworkKey
        var host: String
    }

    private struct State {
        var rankings: LeastRecentlyUsed<OriginKey, HostRanking>
        var randomness: any RandomNumberGenerator & Sendable
        var observation: NetworkStatusObservation?

        @discardableResult
        mutating func change<Value>(
            _ key: OriginKey, orNew new: () -> HostRanking, _ body: (inout HostRanking) -> Value
        ) -> Value {
            if let value = rankings.change(key, body) { return value }
            var ranking = new()
            defer { rankings.insert(ranking, for: key, byteCount: 0) }
            return body(&ranking)
        }
    }

    private let limits: HostSelectionLimits
    private let status: any NetworkStatusSource
    /// The network status that ``follow(_:)`` sets; `nil` if the selector has its own source of the status.
    private let followed: SettableNetworkStatus?
    private let clock: LayerClock
    private let memory: HostMemory?
    /// Guards the records of the hosts and the random generator.
    private let state: Mutex<State>

    /// Creates a selector without measurements, or with stored measurements.
    ///
    /// - Parameters:
    ///   - limits: The limits for choices and records.
    ///   - status: Reports the device's network. By default, the transport reports the changes of its layer's status.
    ///     Until the first change all networks count as one.
    ///   - clock: Times the bans. The default is the system's clock.
    ///   - randomness: Randomises the ends of bans. The default is the system's generator; tests pass a seeded one.
    package convenience init(
        limits: HostSelectionLimits = HostSelectionLimits(), status: (any NetworkStatusSource)? = nil,
        clock: LayerClock = .system,
        randomness: any RandomNumberGenerator & Sendable = SystemRandomNumberGenerator()
    ) {
        self.init(limits: limits, status: status, clock: clock, randomness: randomness, memory: nil)
    }

    init(
        limits: HostSelectionLimits = HostSelectionLimits(), status: (any NetworkStatusSource)?, clock: LayerClock,
        randomness: any RandomNumberGenerator & Sendable = SystemRandomNumberGenerator(), memory: HostMemory?
    ) {
        self.limits = limits
        self.memory = memory
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

    /// Reports that the device joined a network. Ignored if the selector has its own source of the status.
    package func follow(_ status: NetworkStatus) { followed?.set(status) }

    /// Returns the order in which to dial the addresses of a host. `addresses` are in the order of preference of their
    /// source.
    package func plan(_ addresses: [IPAddress], of host: String) -> HostPlan {
        let now = clock.now
        let key = key(of: host)
        return state.withLock { $0.change(key, orNew: { ranking(of: key) }) { $0.plan(addresses, at: now) } }
    }

    /// Returns whether another address that is known to work should now replace `address`, which is in use.
    package func hasLost(_ address: IPAddress, among addresses: [IPAddress], of host: String) -> Bool {
        let (key, now) = (key(of: host), clock.now)
        return state.withLock { $0.rankings.peek(key)?.hasLost(address, among: addresses, at: now) ?? false }
    }

    /// Returns whether the latency of an address was measured on this network within the last `age`.
    package func isMeasured(_ address: IPAddress, of host: String, within age: Duration) -> Bool {
        let now = clock.now
        return record(of: address, of: host).map { $0.latency != nil && now - $0.measured < age } ?? false
    }

    /// Waits until the network is known, for at most `limit`. After a launch the system takes a moment to report it.
    package func waitForNetwork(atMost limit: Duration) async {
        let status = status
        guard followed == nil, status.current.link == .unknown else { return }
        let (changes, continuation) = AsyncStream.makeStream(of: Void.self)
        let observation = status.observe { if status.current.link != .unknown { continuation.finish() } }
        let timer = Task { [clock] in
            try? await clock.sleep(until: clock.now + limit)
            continuation.finish()
        }
        // The network may have been reported before the observation began.
        if status.current.link != .unknown { continuation.finish() }
        for await _ in changes {}
        timer.cancel()
        withExtendedLifetime(observation) {}
    }

    /// Writes the measurements to their file now.
    package func storeMeasurements() async { await memory?.store() }

    /// Records an event of an address.
    package func note(_ event: HostEvent, of address: IPAddress, of host: String) {
        let (key, now) = (key(of: host), clock.now)
        state.withLock { state in
            // Every response is recorded, but only failures need a random number.
            let chance = if case .failed = event { Double.random(in: 0..<1, using: &state.randomness) } else { 0.0 }
            state.change(key, orNew: { ranking(of: key) }) { ranking in
                ranking.note(event, of: address, at: now, chance: chance)
                remember(event, ranking.record(of: address)?.latency, of: address, key)
            }
        }
    }

    private func remember(_ event: HostEvent, _ latency: Double?, of address: IPAddress, _ key: OriginKey) {
        switch event {
        case .dialed, .slowerThanWinner, .silent:
            if let latency { memory?.set(latency, of: address, of: key.host, on: key.network) }
        case .failed: memory?.set(nil, of: address, of: key.host, on: key.network)
        case .responded, .abandoned: break
        }
    }

    /// Returns the smoothed latency of an address on the current network, or `nil` if the address was not measured
    /// there.
    package func latency(of address: IPAddress, of host: String) -> Duration? {
        record(of: address, of: host)?.score.map { .seconds($0) }
    }

    private func record(of address: IPAddress, of host: String) -> AddressRecord? {
        let key = key(of: host)
        return state.withLock { $0.rankings.peek(key) ?? ranking(of: key) }.record(of: address)
    }

    /// Returns a new ranking for a host, with the stored records of earlier launches, if any.
    private func ranking(of key: OriginKey) -> HostRanking {
        HostRanking(limits, memory?.records(of: key.host, on: key.network) ?? [:])
    }

    /// Returns the remaining time of the ban on an address, or `nil` if the address is not banned.
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
            for key in state.rankings.keys.reversed() {
                state.change(key, orNew: { ranking(of: key) }) { $0.endBans(at: now) }
            }
        }
    }

    /// Returns the key of a host on the current network. Must be called without the lock, because it calls the status
    /// source, which may be the app's code.
    private func key(of host: String) -> OriginKey {
        OriginKey(network: NetworkKey(status.current), host: host)
    }
}

/// Identifies a network. Latencies are stored separately for each network.
struct NetworkKey: Hashable, Sendable {
    var link: NetworkStatus.Link
    var generation: Int?
    var identity: String?

    init(_ status: NetworkStatus) {
        (link, generation, identity) = (status.link, status.generation, status.identity)
    }
}
