/// What a manager does with a second call while the first is in flight.
public enum OverlapPolicy: String, Sendable, Hashable {
    /// The second call is not made, and `load` returns the number of the first. For refreshing a page.
    case ignoreNew
    /// The calls in flight are cancelled, and only the second can land. For a filter that the user changes.
    case cancelRunning
    /// Both calls are made, and land in the order in which they complete.
    case concurrent
}
