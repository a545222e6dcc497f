/// The part of a space that an exchange reads. A database loads it with few statements (rule 9).
package struct SpaceNeeds: Hashable, Sendable {
    /// The devices whose records are read.
    package var devices: Set<Identifier> = []
    /// The transactions whose verdicts are read.
    package var transactions: Set<Identifier> = []
    /// The rows that are read, with the operations that wait beside them.
    package var rows: Set<RowKey> = []
    /// The batch updates whose rows are read, with the operations that wait beside them.
    package var batches: [Matches] = []
    package var entries: Entries?
    package var page: Page?

    package init() {}

    /// The rows that a batch update matches, in any order.
    package struct Matches: Hashable, Sendable {
        package let batch: BatchUpdate
        /// The largest number of rows to load.
        package let limit: Int
    }

    /// The entries of the log from a number on, in their order.
    package struct Entries: Hashable, Sendable {
        package let first: Int64
        /// The largest number of entries to load.
        package let limit: Int

        package init(first: Int64, limit: Int) { (self.first, self.limit) = (first, limit) }
    }

    /// The rows and tombstones after a key, in the order of their keys.
    package struct Page: Hashable, Sendable {
        package let after: RowKey?
        /// The largest number of rows to load.
        package let limit: Int

        package init(after: RowKey?, limit: Int) { (self.after, self.limit) = (after, limit) }
    }

    /// The size of rows or entries in bytes, by ``Row/byteCount`` or ``LogEntry/byteCount``, past which a database
    /// loads no more of a page: 1 MiB. The row or entry that exceeds the size is loaded, too.
    package static let byteLimit = SpaceServer.pageBytes
}

/// Rows, log entries and records of a space that a database has loaded, or has to save.
package struct SpaceContent: Sendable {
    /// The head and the epochs of the log; `nil` if they have not changed.
    package var history: History?
    package var devices: [Identifier: DeviceRecord] = [:]
    package var verdicts: [Identifier: Verdict] = [:]
    package var rows: [RowKey: Row] = [:]
    /// The operations that wait beside rows. A database removes its record of an empty list.
    package var waiting: [RowKey: [WaitingOperation]] = [:]
    /// Entries in the order of their numbers.
    package var entries: [LogEntry] = []
    /// The rows of a page, in the order of their keys.
    package var page: [KeyedRow] = []

    package init() {}
}

/// One space in a database, inside one transaction. Its first statement locked the counter row of the space, so that
/// everything else is read after it (rule 9).
package protocol SpaceTables {
    /// The epochs, the head and the horizon of the log, from the counter row.
    var history: History { get throws }
    /// Loads what an exchange needs. Absent rows, records and entries are left out.
    func content(for needs: SpaceNeeds) throws -> SpaceContent
    /// Saves the changes of an exchange, before the transaction is committed.
    mutating func save(_ changes: SpaceContent) throws
}

extension Row {
    /// An estimate of the space that the row takes, in bytes.
    package var byteCount: Int { columns.byteCount }
}

extension Sequence<KeyedRow> {
    /// Returns the rows that a database loads for a page: up to the one that exceeds ``SpaceNeeds/byteLimit``.
    package func loaded(limit: Int) -> [KeyedRow] {
        var byteCount = 0
        return prefix(limit).prefix { row in
            defer { byteCount += row.row.byteCount }
            return byteCount <= SpaceNeeds.byteLimit
        }
    }
}

extension LogEntry {
    /// An estimate of the space that the entry takes, in bytes.
    package var byteCount: Int { changes.reduce(64) { $0 + $1.byteCount } }

    /// Whether the entry could not be read from the log. In JSON a byte can take six bytes, so that a small estimate
    /// suffices, and the form of others is measured.
    var isTooLarge: Bool {
        let estimate = byteCount
        return estimate > WireBounds.bodyBytes || estimate > 2 << 20 && encoded().count > WireBounds.bodyBytes
    }
}
