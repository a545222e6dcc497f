/// The recent times from sending a request to the start of its response.
struct LatencyWindow {
    /// The maximum number of recorded times.
    static let capacity = 64
    /// The minimum number of times for computing a percentile.
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

    /// The time within which 95 of 100 responses began; `nil` while too few times are recorded.
    var percentile95: Duration? {
        guard samples.count >= Self.minimumCount else { return nil }
        return samples.sorted()[samples.count * 95 / 100]
    }
}
