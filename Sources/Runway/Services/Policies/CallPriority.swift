/// Whose turn it is when more calls want to fly than the layer lets.
public enum CallPriority: Int, Sendable, Hashable, Comparable {
    /// For what nobody waits for: a prefetch, a report.
    case low
    /// For nearly everything.
    case normal
    /// For what the user looks at and waits for.
    case high
    /// For what other calls wait for, such as a new access token: flies at once however many others do.
    case urgent

    /// Whether `lhs` comes after `rhs`.
    public static func < (lhs: CallPriority, rhs: CallPriority) -> Bool { lhs.rawValue < rhs.rawValue }
}
