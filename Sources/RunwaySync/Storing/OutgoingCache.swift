import RunwaySyncCore
import Synchronization

/// The open transactions of each space, decoded, and the rows that they change, from one transaction of the file to the
/// next. Another process may change them: each change of them has another version in the file.
final class OutgoingCache: Sendable {
    struct Entry {
        let version: Int64
        /// `nil` if they were not read.
        var open: [Outgoing]?
        var previewed: Set<RowKey>?
        var copies: [RowKey: RowKey]?
    }

    /// Guards the entries, by the number of their space in the file.
    private let entries = Mutex<[Int64: Entry]>([:])

    func entry(of space: Int64, version: Int64) -> Entry? {
        entries.withLock { $0[space].flatMap { $0.version == version ? $0 : nil } }
    }

    /// Sets what a transaction of the file has read or changed. The rest stays if it is of the same version.
    func set(_ entry: Entry, of space: Int64) {
        entries.withLock { entries in
            var entry = entry
            if let former = entries[space], former.version == entry.version {
                entry.open = entry.open ?? former.open
                entry.previewed = entry.previewed ?? former.previewed
                entry.copies = entry.copies ?? former.copies
            }
            entries[space] = entry
        }
    }
}
