import Synchronization

/// Stores cursors in memory, until the app ends.
package final class MemoryStreamCursorStore: StreamCursorStore {
    /// Guards the cursors by their keys.
    private let cursors = Mutex<[String: StreamCursor]>([:])

    /// Creates an empty store.
    package init() {}

    /// Returns the last cursor stored under a key; `nil` if none is stored.
    package func cursor(for key: String) -> StreamCursor? { cursors.withLock { $0[key] } }

    /// Stores a cursor, or removes the stored one if `cursor` is `nil`.
    package func store(_ cursor: StreamCursor?, for key: String) { cursors.withLock { $0[key] = cursor } }
}
