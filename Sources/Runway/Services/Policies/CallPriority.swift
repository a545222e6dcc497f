/// The priority of a call while it waits for a concurrency slot.
public enum CallPriority: Int, Sendable, Hashable, Comparable {
    /// For calls that no user waits for, such as a prefetch or a report.
    case low
    /// For nearly all calls.
    case normal
    /// For calls that the user waits for.
    case high
    /// For calls that other calls wait for, such as the renewal of an access token. They are sent at once, even if all
    /// slots are occupied.
    case urgent

    /// Returns whether `lhs` has a lower priority than `rhs`.
    public static func < (lhs: CallPriority, rhs: CallPriority) -> Bool { lhs.rawValue < rhs.rawValue }
}
