import RunwaySyncCore
import Synchronization

/// The open transactions of each space, decoded, from one transaction of the file to the next. Another process may
/// change them: each change of the file's transactions has another version.
final class OutgoingCache: Sendable {
    struct Entry {
        let version: Int64
        let open: [Outgoing]
    }

    /// Guards the transactions, by the number of their space in the file.
    private let entries = Mutex<[Int64: Entry]>([:])

    func open(in space: Int64, version: Int64) -> [Outgoing]? {
        entries.withLock { $0[space].flatMap { $0.version == version ? $0.open : nil } }
    }

    func set(_ open: [Outgoing], in space: Int64, version: Int64) {
        entries.withLock { $0[space] = Entry(version: version, open: open) }
    }
}
