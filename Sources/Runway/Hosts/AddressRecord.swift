/// The measurements and failures of one address of a host on one network.
struct AddressRecord {
    /// The number of consecutive slow responses after which an address counts as slow. A single slow response is often
    /// caused by the server's own work.
    static let responsesToJudge = 3
    /// The weight of a new measurement in the smoothed latency, from 0 to 1.
    private static let smoothing = 0.4

    /// The smoothed round-trip time of connecting, in seconds; `nil` if it was never measured.
    private(set) var latency: Double?
    private var lastSample: Double?
    /// The most recent response times since the last dial, in seconds. They do not include the time that the server
    /// itself took.
    private var excesses: [Double] = []
    private(set) var measured = Duration.zero
    private var strikes = 0
    private var successes = 0
    private(set) var bannedUntil: Duration?
    /// The time at which the pending measurement started; `nil` if no measurement is pending.
    private var exploring: Duration?
    /// Whether the address was silent for unusually long and was not measured after that.
    private(set) var isInDoubt = false

    init() {}

    /// Creates a record from a measurement in an earlier launch. The first measurement in this launch replaces the
    /// latency.
    init(latency: Double, measured: Duration) {
        self.latency = latency
        self.measured = measured
    }

    /// Whether the address has not been shown to work: it was never measured, or it failed or was silent after the last
    /// measurement.
    var isUnproven: Bool { latency == nil || bannedUntil != nil || isInDoubt }

    /// The latency by which addresses are compared, in seconds; `nil` if the address was never measured. It is the
    /// connection latency, or the response latency if all recent responses were slower.
    var score: Double? {
        guard let latency else { return nil }
        guard excesses.count == Self.responsesToJudge, let fastest = excesses.min() else { return latency }
        return max(latency, fastest)
    }

    func isBanned(at now: Duration) -> Bool { bannedUntil.map { now < $0 } ?? false }

    /// Returns whether the address is being measured. After 5 s without a result, a measurement no longer counts.
    func isExplored(at now: Duration) -> Bool { exploring.map { now < $0 + .seconds(5) } ?? false }

    mutating func beginExploring(at now: Duration) { exploring = now }

    mutating func endExploring() { exploring = nil }

    /// Ends the ban, so that the address may be dialled again. The address still counts as unproven until it works.
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

    /// Records that a round trip took longer than `bound`; its exact time is unknown. The next dial may measure it.
    mutating func noteLoss(above bound: Double) {
        if let latency, bound > latency { smooth(bound) }
    }

    /// Records that the address was silent for `time`. If that is unusually long, calls prefer other addresses until
    /// the address is measured again. No second measurement starts while one is in progress.
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
        // A single outlier counts little. Two outliers indicate a changed network path.
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

    /// Bans the address. `chance`, between 0 and 1, randomises the end of the ban. An existing ban does not change: if
    /// several calls to an address fail at once, their failures count as one.
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
        // After the ban, calls may reach the address by another network path, so the last sample no longer counts.
        lastSample = nil
    }
}
