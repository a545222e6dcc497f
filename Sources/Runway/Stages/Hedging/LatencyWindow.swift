/// How long the last answers took to begin.
struct LatencyWindow {
    /// How many are remembered.
    static let capacity = 64
    /// How many there have to be for a percentile to mean something.
    static let minimumCount = 16

    private var samples: [Duration] = []
    private var next = 0

    mutating func note(_ sample: Duration) {
        if samples.count < Self.capacity {
            samples.append(sample)
        } else {
            samples[next] = sample
            next = (next + 1) % Self.capacity
        }
    }

    /// The time within which 95 of 100 began; `nil` while too few are known.
    var percentile95: Duration? {
        guard samples.count >= Self.minimumCount else { return nil }
        return samples.sorted()[samples.count * 95 / 100]
    }
}
