import RunwaySignatures
import Synchronization

/// Limits the failures of one source that are examined. 4,096 sources are remembered; a further one replaces another.
///
/// These failures do not count: requests without a signature, with a wrong clock, or with a nonce that was used or is
/// unknown to the server, failures of a store, and bodies that are refused because of their `Content-Length`.
public struct FailureLimits: Sendable, Hashable {
    /// The most failures of a source at once. The default is 100. Raise it if many clients share an address.
    public var burst: Int
    /// The number of further failures that are allowed with each second. The default is 10.
    public var perSecond: Int
    /// The greatest number of sources that are remembered, 32 bytes each; a source beyond it replaces another.
    var maximumSources = 4_096

    /// Bounds the failed verifications of a source. Each bound is at least 1; see the properties for the defaults.
    public init(burst: Int = 100, perSecond: Int = 10) {
        precondition(burst > 0 && perSecond > 0, "Limits of failures are at least 1")
        (self.burst, self.perSecond) = (burst, perSecond)
    }
}

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

    /// The failures that the time since the last one has not made good. A clock that was set back makes all good.
    private func remaining(_ slot: Slot, _ now: UnixTime) -> Int {
        guard slot.time != .min, now.seconds >= slot.time else { return 0 }
        let (recovered, overflows) = Int(clamping: now.seconds - slot.time)
            .multipliedReportingOverflow(by: limits.perSecond)
        return overflows ? 0 : max(0, slot.failures - recovered)
    }
}
