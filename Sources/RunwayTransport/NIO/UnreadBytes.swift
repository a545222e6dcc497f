import Synchronization

/// Counts the unread bytes of streamed responses over one connection, including those of responses that have ended.
///
/// The connection lets the server send accordingly. While it holds the server back, it sets ``isHeld``, and every read
/// is reported to it.
final class UnreadBytes: Sendable {
    private let bytes = Atomic(0)
    private let isHolding = Atomic(false)

    /// The number of unread bytes.
    var count: Int { bytes.load(ordering: .sequentiallyConsistent) }

    /// Whether the connection waits for its readers. The connection sets it before it reads ``count``, and a reader
    /// reads it after it changed ``count``: one of them always sees the other's change.
    var isHeld: Bool {
        get { isHolding.load(ordering: .sequentiallyConsistent) }
        set { isHolding.store(newValue, ordering: .sequentiallyConsistent) }
    }

    func add(_ byteCount: Int) { bytes.wrappingAdd(byteCount, ordering: .sequentiallyConsistent) }

    func subtract(_ byteCount: Int) { bytes.wrappingSubtract(byteCount, ordering: .sequentiallyConsistent) }
}
