/// Counts identical requests to detect an endless loop.
struct FloodGuard {
    /// The maximum number of different requests that are counted in a window.
    static let maximumIdentities = 4096

    private let maximumCount: Int?
    private let window: Duration
    private var counts: [Int: Int] = [:]
    private var windowEnd: Duration?

    init(maximumCount: Int?, window: Duration) {
        self.maximumCount = maximumCount
        self.window = window
    }

    /// Counts a request. Returns the time for which the request is refused, or `nil` if it may pass.
    mutating func refusal(of identity: Int, at now: Duration) -> Duration? {
        guard let maximumCount else { return nil }
        if windowEnd.map({ now >= $0 }) ?? true || counts.count >= Self.maximumIdentities && counts[identity] == nil {
            counts.removeAll(keepingCapacity: true)
            windowEnd = now + window
        }
        let count = counts[identity, default: 0]
        guard count < maximumCount else { return (windowEnd ?? now) - now }
        counts[identity] = count + 1
        return nil
    }
}
