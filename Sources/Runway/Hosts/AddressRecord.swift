/// The measurements and failures of one address of a host on one network.
struct AddressRecord {
    /// The number of consecutive slow responses that make an address count as slow: a single one is often caused by the
    /// server's work.
    static let responsesToJudge = 3
    /// The fraction of the difference by which a measurement changes the smoothed latency.
    private static let smoothing = 0.4

    /// The smoothed round-trip time of connecting, in seconds.
    private(set) var latency: Double?
    private var lastSample: Double?
    /// The times of the last few responses since the last dial beyond the server's own time, in seconds.
    private var excesses: [Double] = []
    /// The time of the last measurement.
    private(set) var measured = Duration.zero
    private var strikes = 0
    private var successes = 0
    private(set) var bannedUntil: Duration?
    /// The time at which the address was last dialled to measure it, without a result yet.
    private var exploring: Duration?
    /// Whether the address was silent for longer than usual, and was not measured since.
    private(set) var isInDoubt = false

    init() {}

    /// Creates the record of an address that was measured in an earlier launch: the first measurement in this launch
    /// replaces its latency.
    init(latency: Double, measured: Duration) {
        self.latency = latency
        self.measured = measured
    }

    /// Whether the address has to prove that it works, for the first time or since it failed or was silent.
    var isUnproven: Bool { latency == nil || bannedUntil != nil || isInDoubt }

    /// The latency by which the address is chosen, in seconds: the latency of connecting, or of responses if they are
    /// all slower.
    var score: Double? {
        guard let latency else { return nil }
        guard excesses.count == Self.responsesToJudge, let fastest = excesses.min() else { return latency }
        return max(latency, fastest)
    }

    /// Returns whether the address is banned.
    func isBanned(at now: Duration) -> Bool { bannedUntil.map { now < $0 } ?? false }

    /// Returns whether the address is being measured. An attempt without a result counts for 5 s.
    func isExplored(at now: Duration) -> Bool { exploring.map { now < $0 + .seconds(5) } ?? false }

    mutating func beginExploring(at now: Duration) { exploring = now }

    mutating func endExploring() { exploring = nil }

    /// Ends the ban: the address may be dialled again; an address that failed still has to work once.
    mutating func endBan(at now: Duration) {
        if let end = bannedUntil { bannedUntil = min(end, now) }
        isInDoubt = false
        strikes = 0
    }

    mutating func noteDial(_ roundTrip: Double, at now: Duration) {
        smooth(max(roundTrip, 1e-5))
        excesses = []
        measured = now
        exploring = nil
        bannedUntil = nil
        isInDoubt = false
        successes += 1
        if successes >= 3 { strikes = 0 }
    }

    /// Records that a round trip takes longer than `bound`. The exact time may be measured after the next dial.
    mutating func noteLoss(above bound: Double) {
        if let latency, bound > latency { smooth(bound) }
    }

    /// Records a silence of the address. If it is longer than usual, no call waits for the address first until it is
    /// measured; while a measurement is in progress, no other starts.
    mutating func noteSilence(of time: Double, _ isMeasured: Bool, at now: Duration) {
        if let latency, time <= latency { return }
        noteLoss(above: time)
        isInDoubt = true
        exploring = isMeasured ? now : nil
    }

    private mutating func smooth(_ sample: Double) {
        defer { lastSample = sample }
        guard let latency, let lastSample else { return self.latency = sample }
        let isSlower = min(sample, lastSample) > 2 * latency
        let isFaster = max(sample, lastSample) < latency / 2
        // One outlying measurement counts for little; two indicate another path.
        self.latency =
            if isSlower {
                min(sample, lastSample)
            } else if isFaster {
                max(sample, lastSample)
            } else {
                latency + Self.smoothing * (min(sample, 3 * latency) - latency)
            }
    }

    mutating func noteResponse(beyondServerTime excess: Double) {
        if excesses.count == Self.responsesToJudge { excesses.removeFirst() }
        excesses.append(excess)
    }

    /// Bans the address; `chance`, between 0 and 1, spreads the end of the ban. A ban that exists already does not
    /// change: all calls that an address failed at once count as one failure.
    mutating func noteFailure(_ limits: HostSelectionLimits, at now: Duration, chance: Double) {
        exploring = nil
        isInDoubt = false
        if isBanned(at: now) { return }
        var ban = limits.firstBan
        for _ in 0..<strikes where ban < limits.longestBan { ban *= 2 }
        bannedUntil = now + min(ban, limits.longestBan) * (0.8 + 0.2 * chance)
        strikes += 1
        successes = 0
        excesses = []
        // After the ban the address may be reached by another path.
        lastSample = nil
    }
}
