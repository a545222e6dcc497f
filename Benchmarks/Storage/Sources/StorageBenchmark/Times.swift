import Foundation

/// How long operations took.
enum Times {
    /// Prints median and 99th percentile, and returns the median.
    @discardableResult
    static func report(_ name: String, _ times: [Duration]) -> Duration {
        let sorted = times.sorted()
        let (median, late) = (sorted[sorted.count / 2], sorted[sorted.count * 99 / 100])
        print(
            name.padding(toLength: 60, withPad: " ", startingAt: 0), "p50", text(median), " p99", text(late), " most",
            text(sorted[sorted.count - 1]))
        return median
    }

    static func late(_ times: [Duration]) -> Duration { times.sorted()[times.count * 99 / 100] }

    private static func text(_ time: Duration) -> String { String(format: "%9.1f µs", time / .microseconds(1)) }
}

/// What the figures have to be.
enum Targets {
    // One task runs all parts, one after the other.
    nonisolated(unsafe) private(set) static var isMissed = false

    static func expect(_ name: String, _ value: Double, atMost maximum: Double, _ unit: String) {
        let text = String(format: "%.2f %@, at most %.2f", value, unit, maximum)
        if value > maximum { isMissed = true }
        print(value > maximum ? "MISSED" : "reached", "\(name): \(text)")
    }
}
