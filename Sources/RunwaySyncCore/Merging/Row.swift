/// A row with its life and the history of its columns. A row with an even life is a tombstone, which has no columns
/// (rule 6).
package struct Row: Hashable, Sendable {
    /// 0 if the row never existed, an odd number if it exists, an even number if it was deleted.
    package private(set) var life: Int64
    /// The log number of the last change.
    package private(set) var number: Int64
    package private(set) var columns: Columns<Cell>

    package init(life: Int64, number: Int64, columns: Columns<Cell>) {
        (self.life, self.number, self.columns) = (life, number, columns)
    }

    /// A row that never existed.
    package static let absent = Row(life: 0, number: 0, columns: [:])

    package var isLive: Bool { life % 2 == 1 }
    /// The values as the app sees them; `nil` for a tombstone.
    package var values: Columns<SyncValue>? { isLive ? columns.mapValues(\.value) : nil }
    /// The largest size of a row in bytes: 5 MiB. The stamps of its columns are counted, unlike those of a transaction,
    /// which has at most 4 MiB. In JSON each byte can take six bytes.
    static let maximumBytes = 5 << 20
    /// The life that an insert makes: the next odd one.
    package var lifeOfInsert: Int64 { life + 1 + life % 2 }
    /// The life that a delete makes: the next even one.
    package var lifeOfDelete: Int64 { life + 2 - life % 2 }

    /// Applies a decided change. Columns belong to one life: a larger life replaces all of them.
    package mutating func apply(_ change: RowChange, number: Int64) {
        guard change.life >= life else { return }
        if change.life > life { columns = [:] }
        life = change.life
        self.number = number
        columns.merge(change.columns)
    }
}

/// A value with the operation that wrote it.
package struct Cell: Hashable, Sendable {
    package let value: SyncValue
    package let stamp: Stamp

    package init(_ value: SyncValue, _ stamp: Stamp) { (self.value, self.stamp) = (value, stamp) }
}

extension Columns<Cell> {
    /// An estimate of the space that the columns take, in bytes.
    var byteCount: Int { reduce(48) { $0 + $1.name.utf8.count + $1.value.value.byteCount + 48 } }
}

/// The operation that wrote a column last (rule 5).
package struct Stamp: Hashable, Sendable {
    /// The log number; `Int64.max` while the operation is only previewed on its device.
    package let number: Int64
    package let time: HybridTime
    package let operation: Identifier
    package let device: Identifier

    package init(number: Int64, time: HybridTime, operation: Identifier, device: Identifier) {
        (self.number, self.time, self.operation, self.device) = (number, time, operation, device)
    }
}

/// The decided change of one row, as the log carries it (rule 5).
package struct RowChange: Hashable, Sendable {
    package let key: RowKey
    package let life: Int64
    /// The changed columns, with their new stamps.
    package let columns: Columns<Cell>
    /// Values that lost against a concurrent change, for an app that asks its user about them (rule 7).
    package let losers: Columns<SyncValue>
    /// The space to which the row moved, if the change deletes it for that (rule 13).
    package let movedTo: Identifier?

    /// An estimate of the space that the change takes, in bytes.
    package var byteCount: Int {
        losers.reduce(columns.byteCount) { $0 + $1.name.utf8.count + $1.value.byteCount + 48 }
    }

    package init(
        key: RowKey, life: Int64, columns: Columns<Cell>, losers: Columns<SyncValue> = [:], movedTo: Identifier? = nil
    ) {
        (self.key, self.life, self.columns, self.losers, self.movedTo) = (key, life, columns, losers, movedTo)
    }
}

/// Reads the rows of the server, or the confirmed rows of a device.
package protocol RowSource {
    /// Returns a row, or its tombstone; ``Row/absent`` if it never existed.
    func row(_ key: RowKey) throws -> Row
    /// Returns the keys of the rows that match a batch, sorted.
    ///
    /// - Parameter limit: The largest number of keys to return.
    func keys(matching batch: BatchUpdate, limit: Int) throws -> [RowKey]
}
