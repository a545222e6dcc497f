/// Counts the refusals of one document by their kind: the first ten are recorded whole, later ones as totals.
struct RefusalCounter {
    static let wholeCount = 10
    static let interval = Duration.seconds(1)

    private struct Count {
        var whole = 0
        var pending = 0
    }

    private var counts: [BridgeError.Kind: Count] = [:]
    /// The instant of the next totals; `nil` while there is nothing to total.
    private(set) var nextTotals: Duration?

    /// Counts refusals. Returns whether they are recorded whole.
    mutating func add(_ kind: BridgeError.Kind, count: Int = 1, at now: Duration) -> Bool {
        if count == 1, counts[kind, default: Count()].whole < Self.wholeCount {
            counts[kind, default: Count()].whole += 1
            return true
        }
        let pending = counts[kind, default: Count()].pending
        counts[kind, default: Count()].pending = min(pending + count, 1_000_000_000)
        nextTotals = nextTotals ?? now + Self.interval
        return false
    }

    /// Removes and returns the totals.
    mutating func takeTotals() -> [(kind: BridgeError.Kind, count: Int)] {
        defer {
            nextTotals = nil
            for kind in counts.keys { counts[kind]?.pending = 0 }
        }
        return counts.filter { $0.value.pending > 0 }.map { ($0.key, $0.value.pending) }
            .sorted { $0.kind.description < $1.kind.description }
    }
}
