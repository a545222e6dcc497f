/// The times to the start of the last responses.
struct LatencyWindow {
    /// The most times that are stored.
    static let capacity = 64
    /// The fewest times that a percentile needs.
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

    /// The time within which 95 of 100 responses began; `nil` while there are too few.
    var percentile95: Duration? {
        guard samples.count >= Self.minimumCount else { return nil }
        return samples.sorted()[samples.count * 95 / 100]
    }
}
