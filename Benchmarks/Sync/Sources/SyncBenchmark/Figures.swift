import Foundation

/// The figures of several rounds, of which the best counts.
enum Figures {
    enum Bound {
        case atLeast(Double)
        case atMost(Double)
        case none
    }

    // One task runs all parts, one after the other.
    nonisolated(unsafe) private(set) static var isMissed = false

    static var rounds: Int { number("ROUNDS", 5) }

    /// The value of an environment variable.
    static func number(_ name: String, _ standard: Int) -> Int {
        max(1, ProcessInfo.processInfo.environment[name].flatMap { Int($0) } ?? standard)
    }

    /// The mean number of processes that ran or waited during the last minute.
    static var load: String {
        var average = 0.0
        getloadavg(&average, 1)
        return String(format: "%.1f", average)
    }

    /// The time that this process has used of all processors.
    static var processorTime: Duration {
        .microseconds(Int(Double(clock()) / Double(CLOCKS_PER_SEC) * 1_000_000))
    }

    /// Prints the best and the median figure, and those of a control beside them.
    static func report(
        _ name: String, _ values: [Double], _ unit: String, _ bound: Bound, beside control: Control? = nil
    ) {
        let sorted = values.sorted()
        let (best, isReached, target) =
            switch bound {
            case .atLeast(let least):
                (sorted[sorted.count - 1], sorted[sorted.count - 1] >= least, "at least \(text(least))")
            case .atMost(let most): (sorted[0], sorted[0] <= most, "at most \(text(most))")
            case .none: (sorted[sorted.count - 1], true, "no target")
            }
        if !isReached { isMissed = true }
        // The figures appear at once, also in a file.
        defer { fflush(nil) }
        print(isReached ? "reached" : "MISSED ", name)
        print("        best \(text(best)), median \(text(sorted[sorted.count / 2])) \(unit), \(target)")
        guard let control else { return }
        let median = control.values.sorted()[control.values.count / 2]
        let ratio = String(format: "%.2f", sorted[sorted.count / 2] / median)
        print("        \(control.name): median \(text(median)); ratio of the medians \(ratio)")
    }

    /// The same figures of another way.
    struct Control {
        let name: String
        let values: [Double]
    }

    private static func text(_ value: Double) -> String { String(format: value < 100 ? "%.2f" : "%.0f", value) }
}

extension Duration {
    var inSeconds: Double { self / .seconds(1) }
    var inMilliseconds: Double { self / .milliseconds(1) }
}
