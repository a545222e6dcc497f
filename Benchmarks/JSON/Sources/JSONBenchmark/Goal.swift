import Foundation

/// A figure of a peer: nanoseconds or KiB.
typealias Figure = (name: String, value: Double)

/// A ratio of two peers' figures, and where it should be.
struct Goal {
    let dividend: String
    let divisor: String
    let range: ClosedRange<Double>

    static let times = [
        Goal(dividend: "foundation-full", divisor: "runway", range: 20...(.infinity)),
        Goal(dividend: "foundation-minimal", divisor: "runway", range: 7...(.infinity)),
        Goal(dividend: "json-serialization", divisor: "runway", range: 20...(.infinity)),
        Goal(dividend: "runway", divisor: "simdjson", range: 0...3),
        Goal(dividend: "foundation-full", divisor: "runway-decoder-full", range: 4...(.infinity)),
        Goal(dividend: "view-data", divisor: "dictionary", range: 0...1),
        Goal(dividend: "foundation-full", divisor: "view-data", range: 20...(.infinity)),
    ]
    static let memory = Goal(dividend: "runway", divisor: "foundation-full", range: 0...0.25)

    /// Prints the ratio beside the goal; nothing when a peer is not there.
    func report(_ figures: [Figure]) {
        guard let one = figures.first(where: { $0.name == dividend }),
            let other = figures.first(where: { $0.name == divisor })
        else { return }
        let ratio = one.value / other.value
        let bound = range.upperBound.isFinite ? "at most \(range.upperBound)" : "at least \(range.lowerBound)"
        let verdict = range.contains(ratio) ? "reached" : "MISSED"
        print("  \(dividend) / \(divisor) = \(String(format: "%.2f", ratio)), \(bound): \(verdict)")
    }
}
