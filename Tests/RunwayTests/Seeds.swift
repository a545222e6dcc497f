import Foundation

/// The seeds with which models are played: others in every run. What failed says its seed; `RUNWAY_SEED` plays from that one on.
enum Seeds {
    private static let first =
        ProcessInfo.processInfo.environment["RUNWAY_SEED"].flatMap { UInt64($0) } ?? UInt64.random(in: 1...1 << 40)

    /// So many seeds; at least one.
    static func some(_ count: Int) -> ClosedRange<UInt64> { first...first + UInt64(max(1, count) - 1) }
}
