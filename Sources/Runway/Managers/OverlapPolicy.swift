/// What a manager does with a second call while the first flies.
public enum OverlapPolicy: String, Sendable, Hashable {
    /// The second call is not made; it gets the handle of the one that flies. For refreshing a page.
    case ignoreNew
    /// The calls that fly are cancelled, and only the second can land. For a filter that the user changes.
    case cancelRunning
    /// Both fly, and both land, in the order in which their answers come.
    case concurrent
}
