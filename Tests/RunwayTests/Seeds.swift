import Foundation

/// The seeds with which models are played: from 1 on, or from `RUNWAY_SEED` on, for what failed or what nobody has tried.
enum Seeds {
    private static let first = ProcessInfo.processInfo.environment["RUNWAY_SEED"].flatMap { UInt64($0) } ?? 1

    /// So many seeds; at least one.
    static func some(_ count: Int) -> ClosedRange<UInt64> { first...first + UInt64(max(1, count) - 1) }
}
