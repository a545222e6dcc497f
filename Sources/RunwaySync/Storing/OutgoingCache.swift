import RunwaySyncCore
import Synchronization

/// Caches the open transactions of each space in decoded form, and the rows that they change, between two transactions
/// on the file. Another process may change them in the file. Each change there increases a version, and an entry with
/// another version is not used.
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

    /// Stores the parts of an entry that a transaction on the file has read or changed. The other parts of the former
    /// entry stay if its version is the same.
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
