import RunwaySignatures
import Synchronization

/// Counts the failures of sources in a table of fixed size.
///
/// Each source has one slot, chosen by its hash. If two sources have the same slot, it belongs to the one that failed
/// last: a flood from many addresses can make the table forget others, but the failures of one source never count for
/// another.
final class FailureLimiter: Sendable {
    private struct Slot {
        var source = 0
        var failures = 0
        var time = Int64.min
    }

    private let limits: FailureLimits
    /// Guards the slots.
    private let slots: Mutex<[Slot]>

    init(_ limits: FailureLimits) {
        self.limits = limits
        slots = Mutex(Array(repeating: Slot(), count: limits.maximumSources))
    }

    /// Whether a source has failed too often to be examined.
    func isExceeded(by source: String, at now: UnixTime) -> Bool {
        let hash = ExactText(source).hashValue
        return slots.withLock { slots in
            let slot = slots[index(of: hash)]
            return slot.source == hash && remaining(slot, now) >= limits.burst
        }
    }

    /// Counts a failure.
    func record(_ source: String, at now: UnixTime) {
        let hash = ExactText(source).hashValue
        slots.withLock { slots in
            let index = index(of: hash)
            let before = slots[index].source == hash ? remaining(slots[index], now) : 0
            slots[index] = Slot(source: hash, failures: min(before + 1, limits.burst), time: now.seconds)
        }
    }

    private func index(of hash: Int) -> Int { Int(UInt(bitPattern: hash) % UInt(limits.maximumSources)) }

    /// Returns the failures that the time since the last one has not made good. A clock that was set back makes all
    /// good.
    private func remaining(_ slot: Slot, _ now: UnixTime) -> Int {
        guard slot.time != .min, now.seconds >= slot.time else { return 0 }
        let (recovered, overflows) = Int(clamping: now.seconds - slot.time)
            .multipliedReportingOverflow(by: limits.perSecond)
        return overflows ? 0 : max(0, slot.failures - recovered)
    }
}
