import Synchronization

/// Counts the unread bytes of streamed responses over one connection, including responses that have ended.
///
/// The connection uses the count for flow control. While the server must wait, the connection sets ``isHeld``, and
/// every read is reported to it.
final class UnreadBytes: Sendable {
    private let bytes = Atomic(0)
    private let isHolding = Atomic(false)

    var count: Int { bytes.load(ordering: .sequentiallyConsistent) }

    /// Whether the connection waits for its readers. The connection sets it before it reads ``count``, and a reader
    /// reads it after changing ``count``: one of them always sees the other's change.
    var isHeld: Bool {
        get { isHolding.load(ordering: .sequentiallyConsistent) }
        set { isHolding.store(newValue, ordering: .sequentiallyConsistent) }
    }

    func add(_ byteCount: Int) { bytes.wrappingAdd(byteCount, ordering: .sequentiallyConsistent) }

    func subtract(_ byteCount: Int) { bytes.wrappingSubtract(byteCount, ordering: .sequentiallyConsistent) }
}
