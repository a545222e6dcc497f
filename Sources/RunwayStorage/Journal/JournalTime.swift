import Foundation
import Runway

/// The clocks by which a ``Journal`` knows the age of its entries.
struct JournalTime: Sendable {
    /// The name of the time since the system started; empty if the system has no name for it.
    var boot: String
    /// The time since the system started, including sleep.
    var uptime: Duration
    /// The date, which a person may have set wrong.
    var date: Date

    /// The time that a journal counts, in milliseconds. It never goes back, and jumps of the date move it by a week at
    /// most.
    ///
    /// - Parameters:
    ///   - last: The last moment that was stored.
    ///   - time: The clocks then.
    func moment(after last: Int64, at time: JournalTime) -> Int64 {
        // What was stored may be damaged.
        let last = max(0, min(last, Int64(1) << 52))
        if boot == time.boot, !boot.isEmpty, uptime >= time.uptime, time.uptime >= .zero {
            return last + (uptime - time.uptime).milliseconds
        }
        // The system has been started since, so only the date knows how long ago that was.
        return last + Int64(max(0, min(date.timeIntervalSince(time.date), 7 * 86_400)) * 1000)
    }
}

extension Duration {
    /// Whole milliseconds, bounded to some 30,000 years, so that a sum with a moment does not overflow.
    var milliseconds: Int64 {
        let limit = Int64(1_000_000_000_000)
        return max(-limit, min(components.seconds, limit)) * 1000 + components.attoseconds / 1_000_000_000_000_000
    }
}

extension Date {
    /// Whole milliseconds since 1970, within a range that every platform can represent.
    var milliseconds: Int64 { Int64(max(-1e15, min(timeIntervalSince1970 * 1000, 1e15))) }

    init(milliseconds: Int64) { self.init(timeIntervalSince1970: Double(milliseconds) / 1000) }
}
