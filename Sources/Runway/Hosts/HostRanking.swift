/// Chooses the best address of one host on one network from measurements. It uses no clock and no random generator.
///
/// - The address with the lowest smoothed latency is chosen, unless the address in use is only slightly slower.
/// - A failed address is banned for a growing time.
/// - A silent address comes last until it is measured.
/// - An address that has not worked yet, or whose last measurement is old, is dialled in parallel to the best one.
struct HostRanking {
    /// The maximum number of endpoints whose server times are estimated. Further endpoints are ignored.
    private static let maximumEndpoints = 64

    private let limits: HostSelectionLimits
    private var records: [IPAddress: AddressRecord]
    private var preferred: IPAddress?
    /// The estimated time that the server needs for a response of each endpoint, in seconds. The estimate is a minimum
    /// that rises slowly.
    private var serverTimes: [Int: Double] = [:]
    private var lastExploration: Duration?
    /// The time at which a measurement contradicted earlier ones. Measurements before this time are in doubt.
    private var upheaval: Duration?

    init(_ limits: HostSelectionLimits, _ records: [IPAddress: AddressRecord] = [:]) {
        self.limits = limits
        self.records = records
    }

    var count: Int { records.count }

    func record(of address: IPAddress) -> AddressRecord? { records[address] }

    /// Returns the order in which to dial the addresses.
    ///
    /// - Parameter candidates: The addresses in the order of preference of their source.
    mutating func plan(_ candidates: [IPAddress], at now: Duration) -> HostPlan {
        let usable = candidates.filter { records[$0]?.isBanned(at: now) != true }
        let banned = candidates.filter { records[$0]?.isBanned(at: now) == true }
            .sorted { (records[$0]?.bannedUntil ?? .zero) < (records[$1]?.bannedUntil ?? .zero) }
        preferred = choice(among: usable)
        let measured = proven(usable)
        let silent = usable.filter { records[$0]?.isInDoubt == true }
        var ranked = measured + usable.filter { !measured.contains($0) && !silent.contains($0) }
        if let preferred { ranked = [preferred] + ranked.filter { $0 != preferred } }
        let order = interleaved(ranked) + interleaved(silent)
        var plan = HostPlan(order: order, banned: banned)
        if let latency = preferred.flatMap({ records[$0]?.latency }) {
            // A TCP handshake takes one round trip. RFC 8305 §5 and §8 recommend 100 to 250 ms.
            plan.stagger = min(max(.seconds(3 * latency), .milliseconds(100)), HostPlan.defaultStagger)
        }
        if let address = unknown(in: order.dropFirst(), at: now) {
            change(address, at: now) { $0.beginExploring(at: now) }
            lastExploration = now
            plan.explored = address
        }
        return plan
    }

    /// Returns whether another address that is known to work should now replace `address`, which is in use.
    func hasLost(_ address: IPAddress, among candidates: [IPAddress], at now: Duration) -> Bool {
        let usable = candidates.filter { records[$0]?.isBanned(at: now) != true }
        guard let best = choice(among: usable, inUse: address) else { return false }
        return best != address
    }

    /// Records an event of an address. `chance`, a random number between 0 and 1, varies the length of a ban.
    mutating func note(_ event: HostEvent, of address: IPAddress, at now: Duration, chance: Double) {
        let latency = records[address]?.latency
        switch event {
        case .dialed(let roundTrip):
            if let latency, roundTrip.seconds > 2 * latency { upheaval = now }
            change(address, at: now) { $0.noteDial(roundTrip.seconds, at: now) }
        case .slowerThanWinner(let bound):
            if let latency, bound.seconds > 2 * latency { upheaval = now }
            change(address, at: now) { $0.noteLoss(above: bound.seconds) }
        case .silent(let time, let isMeasured):
            change(address, at: now) { $0.noteSilence(of: time.seconds, isMeasured, at: now) }
            if preferred == address, records[address]?.isInDoubt == true { replacePreferred(at: now) }
        case .responded(let firstByte, let endpoint):
            guard let latency, let excess = excess(firstByte.seconds, beyond: latency, of: endpoint) else { return }
            records[address]?.noteResponse(beyondServerTime: excess)
        case .failed:
            change(address, at: now) { [limits] in $0.noteFailure(limits, at: now, chance: chance) }
            if preferred == address { replacePreferred(at: now) }
        case .abandoned: records[address]?.endExploring()
        }
    }

    /// Ends the use of the preferred address, so that another one is chosen. Earlier measurements are then in doubt.
    private mutating func replacePreferred(at now: Duration) {
        preferred = nil
        upheaval = now
    }

    /// Changes the record of an address. If a record must be created and the limit is reached, another one is removed.
    private mutating func change(_ address: IPAddress, at now: Duration, _ body: (inout AddressRecord) -> Void) {
        if records[address] == nil, records.count >= HostSelectionLimits.maximumAddressesPerHost { forget(at: now) }
        body(&records[address, default: AddressRecord()])
    }

    /// Ends all bans, because addresses that failed on the previous network may work on the new one.
    mutating func endBans(at now: Duration) {
        for address in records.keys { records[address]?.endBan(at: now) }
    }

    /// Returns the response time without the estimated time of the server, or `nil` if that estimate is missing.
    private mutating func excess(_ time: Double, beyond latency: Double, of endpoint: Int) -> Double? {
        let excess = max(0, time - latency)
        guard let known = serverTimes[endpoint] else {
            // The first response of an endpoint has nothing to be compared with: it may indicate a slow path or a slow
            // server.
            if serverTimes.count < Self.maximumEndpoints { serverTimes[endpoint] = excess }
            return nil
        }
        // The estimate falls at once and rises slowly, so that a path that becomes slow is not mistaken for a slow
        // server.
        serverTimes[endpoint] = excess < known ? excess : known + 0.05 * (excess - known)
        return max(0, time - min(excess, known))
    }

    /// Returns the addresses that are known to work, lowest latency first.
    private func proven(_ addresses: [IPAddress]) -> [IPAddress] {
        addresses.filter { records[$0]?.isUnproven == false }
            .sorted { (records[$0]?.score ?? 0) < (records[$1]?.score ?? 0) }
    }

    private func choice(among usable: [IPAddress], inUse: IPAddress? = nil) -> IPAddress? {
        let measured = proven(usable)
        guard let best = measured.first, let bestScore = records[best]?.score else { return nil }
        guard let current = inUse ?? preferred, measured.contains(current), let score = records[current]?.score else {
            return best
        }
        return bestScore < min(score * limits.hysteresis, score - 0.003) ? best : current
    }

    /// Returns the address that most needs a measurement, or `nil` if no measurement is due.
    private func unknown(in addresses: some Sequence<IPAddress>, at now: Duration) -> IPAddress? {
        // If many calls dial at the same time, only one measures an address.
        let idle = addresses.filter { records[$0]?.isExplored(at: now) != true }
        if let unproven = idle.first(where: { records[$0]?.bannedUntil != nil })
            ?? idle.first(where: { records[$0]?.isUnproven ?? true })
        {
            return unproven
        }
        guard let oldest = idle.min(by: { (records[$0]?.measured ?? .zero) < (records[$1]?.measured ?? .zero) }),
            let measured = records[oldest]?.measured
        else { return nil }
        if let upheaval, measured < upheaval { return oldest }
        let pause = limits.explorationInterval / max(1, records.count)
        let isDue = now >= measured + limits.explorationInterval
        return isDue && lastExploration.map { now >= $0 + pause } ?? true ? oldest : nil
    }

    /// Reorders addresses so that the families alternate after the first address. If one family does not work, a call
    /// waits for it only once.
    private func interleaved(_ addresses: [IPAddress]) -> [IPAddress] {
        guard let first = addresses.first else { return [] }
        var same = addresses.dropFirst().filter { $0.family == first.family }[...]
        var other = addresses.filter { $0.family != first.family }[...]
        var order = [first]
        while !same.isEmpty || !other.isEmpty {
            if let next = other.popFirst() { order.append(next) }
            if let next = same.popFirst() { order.append(next) }
        }
        return order
    }

    /// Removes the record with the oldest measurement, or one without a measurement. Records of banned addresses and of
    /// addresses that are being measured are removed last.
    private mutating func forget(at now: Duration) {
        let idle = records.filter { !$0.value.isBanned(at: now) && !$0.value.isExplored(at: now) }
        let oldest = (idle.isEmpty ? records : idle).min { $0.value.measured < $1.value.measured }?.key
        if let oldest { records.removeValue(forKey: oldest) }
    }
}
