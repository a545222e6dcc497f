import Synchronization

/// Stores cursors until the app ends.
public final class MemoryStreamCursorStore: StreamCursorStore {
    /// Guards the cursors by their keys.
    private let cursors = Mutex<[String: StreamCursor]>([:])

    /// Starts without cursors.
    public init() {}

    /// Returns the last cursor that was stored under a key; `nil` if there is none.
    public func cursor(for key: String) -> StreamCursor? { cursors.withLock { $0[key] } }

    /// Stores a cursor; `nil` removes it.
    public func store(_ cursor: StreamCursor?, for key: String) { cursors.withLock { $0[key] = cursor } }
}
