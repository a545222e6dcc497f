/// The priority of a call when there are more calls than concurrency slots.
public enum CallPriority: Int, Sendable, Hashable, Comparable {
    /// For calls that no user waits for: a prefetch, a report.
    case low
    /// For nearly all calls.
    case normal
    /// For calls that the user waits for.
    case high
    /// For calls that other calls wait for, such as the renewal of an access token: sent at once, even if all slots are
    /// occupied.
    case urgent

    /// Whether `lhs` is lower than `rhs`.
    public static func < (lhs: CallPriority, rhs: CallPriority) -> Bool { lhs.rawValue < rhs.rawValue }
}
