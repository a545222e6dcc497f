import RunwaySyncCore

/// Divides the transfers in flight between lanes, so that no space delays the files of another, however many files its
/// rows name.
///
/// A free slot goes to the lane with the fewest transfers in flight, and of equal lanes to the one that started a
/// transfer least recently.
struct FileTurns {
    /// The files of one space in one direction.
    struct Lane: Hashable {
        let space: Identifier
        /// Whether the files are here, and wait for their upload.
        let isHere: Bool
    }

    /// The largest number of transfers in flight.
    static let maximumCount = 8
    /// The largest number of transfers in flight in one lane.
    static let maximumCountOfLane = 3

    /// The number of lanes from which those are forgotten that have no files.
    static let maximumHistoryCount = 1_000

    /// The number of the last transfer that each lane started.
    private(set) var lastStarts: [Lane: Int] = [:]
    private var startCount = 0

    /// Returns the lane that starts the next transfer; `nil` if all have to wait.
    mutating func next(among waiting: some Sequence<Lane>, inFlight: some Sequence<Lane>) -> Lane? {
        let counts = inFlight.reduce(into: [Lane: Int]()) { $0[$1, default: 0] += 1 }
        guard counts.values.reduce(0, +) < Self.maximumCount else { return nil }
        let free = waiting.filter { counts[$0] ?? 0 < Self.maximumCountOfLane }
        let next = free.min { first, second in
            (counts[first] ?? 0, lastStarts[first] ?? 0) < (counts[second] ?? 0, lastStarts[second] ?? 0)
        }
        guard let next else { return nil }
        startCount += 1
        lastStarts[next] = startCount
        if lastStarts.count > Self.maximumHistoryCount {
            let waiting = Set(waiting)
            lastStarts = lastStarts.filter { waiting.contains($0.key) || counts[$0.key] != nil }
        }
        return next
    }
}
