import Synchronization

/// How many bytes of streamed answers that came over one connection wait for their readers, whether the answers have ended or not.
///
/// The connection lets the server send accordingly. Where it had to hold it back it says so here, and is then told of every byte that is
/// read.
final class UnreadBytes: Sendable {
    private let bytes = Atomic(0)
    private let isHolding = Atomic(false)

    /// How many bytes there are.
    var count: Int { bytes.load(ordering: .sequentiallyConsistent) }

    /// Whether the connection waits for its readers. Set before ``count`` is looked at and looked at after ``count`` was changed, so that
    /// one side always sees the other.
    var isHeld: Bool {
        get { isHolding.load(ordering: .sequentiallyConsistent) }
        set { isHolding.store(newValue, ordering: .sequentiallyConsistent) }
    }

    func add(_ byteCount: Int) { bytes.wrappingAdd(byteCount, ordering: .sequentiallyConsistent) }

    func subtract(_ byteCount: Int) { bytes.wrappingSubtract(byteCount, ordering: .sequentiallyConsistent) }
}
