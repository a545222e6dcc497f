import RunwaySignatures
import Synchronization

/// Counts the failures of sources in a table of fixed size.
///
/// Each source has one slot, chosen by its hash. If two sources share a slot, the slot belongs to the source that
/// failed last. A flood from many addresses can therefore replace the counts of other sources, but the failures of one
/// source never count for another source.
final class FailureLimiter: Sendable {
    private struct Slot {
        var source = 0
        var failures = 0
        var time = Int64.min
    }

    private let limits: FailureLimits
    /// Guards the slots, each of which counts the failures of one source.
    private let slots: Mutex<[Slot]>

    init(_ limits: FailureLimits) {
        self.limits = limits
        slots = Mutex(Array(repeating: Slot(), count: limits.maximumSources))
    }

    /// Returns whether a source has reached its limit. Its request is then refused without verification.
    func isExceeded(by source: String, at now: UnixTime) -> Bool {
        let hash = ExactText(source).hashValue
        return slots.withLock { slots in
            let slot = slots[index(of: hash)]
            return slot.source == hash && remaining(slot, now) >= limits.burst
        }
    }

    func record(_ source: String, at now: UnixTime) {
        let hash = ExactText(source).hashValue
        slots.withLock { slots in
            let index = index(of: hash)
            let before = slots[index].source == hash ? remaining(slots[index], now) : 0
            slots[index] = Slot(source: hash, failures: min(before + 1, limits.burst), time: now.seconds)
        }
    }

    private func index(of hash: Int) -> Int { Int(UInt(bitPattern: hash) % UInt(limits.maximumSources)) }

    /// Returns the number of failures of a slot that have not yet expired. If the clock was set back, all have expired.
    private func remaining(_ slot: Slot, _ now: UnixTime) -> Int {
        guard slot.time != .min, now.seconds >= slot.time else { return 0 }
        let (recovered, overflows) = Int(clamping: now.seconds - slot.time)
            .multipliedReportingOverflow(by: limits.perSecond)
        return overflows ? 0 : max(0, slot.failures - recovered)
    }
}
