extension SyncDevice {
    /// Merges all pending transactions into the confirmed rows, as the server will merge them (rule 5).
    func preview(over store: some DeviceStore) throws -> Merger {
        var all = ChangedRows.all
        return try preview(&all, over: store)
    }

    /// Merges the pending transactions that change one of some rows, so that thousands of others cost nothing.
    ///
    /// - Parameter changed: The rows. Those are added that the merged transactions change, too: a transaction is shown
    ///   as a whole or not at all.
    func preview(_ changed: inout ChangedRows, over store: some DeviceStore) throws -> Merger {
        let (cursor, open) = (try store.state.cursor, try store.open())
        let indexes = open.indices.filter { open[$0].isShown(at: cursor) }
        let copies = policies.makeCopies ? store.copies : [:]
        if copies == nil { changed.insertAll() }
        while true {
            var merger = Merger(policies)
            for index in changed.select(indexes, of: open, copies ?? [:]) {
                try preview(open[index].transaction, by: &merger, over: store)
            }
            let made = changed.isAll ? [] : merger.copies.keys.filter { !changed.keys.contains($0) }
            // Transactions that were not merged may change a new copy, too.
            guard try made.contains(where: { try store.previewed.contains($0) }) else { return merger }
            changed.insertAll()
        }
    }

    func preview(_ transaction: Transaction, by merger: inout Merger, over store: some DeviceStore) throws {
        let state = try store.state
        let isCovered = transaction.basis.epoch == state.cursor.epoch
        let author = Author(
            device: state.device, time: transaction.time, basis: isCovered ? transaction.basis.number : 0, number: .max)
        for operation in transaction.operations where try merger.isAbsent(operation, over: store) { return }
        for operation in transaction.operations { _ = try merger.merge(operation, by: author, over: store) }
    }

    /// Shows confirmed rows with the pending transactions on top.
    ///
    /// The shell calls it after a migration of the app, with the parked rows and those with columns that the app did
    /// not know before (rule 15).
    ///
    /// - Parameter changed: The rows whose confirmed values or pending transactions have changed.
    package func refresh(_ changed: ChangedRows, in store: inout some DeviceStore) throws {
        if isOneWay || changed.isEmpty { return }
        var changed = changed
        let merger = try preview(&changed, over: store)
        var keys = changed.keys.union(merger.rows.keys)
        if changed.isAll { try keys.formUnion(store.previewed) }
        for key in keys.sorted() {
            let values = try merger.row(key, over: store).values
            if try store.shown(key) != values { try store.show(key, values) }
        }
        try setPreviewed(merger, of: keys, isAll: changed.isAll, in: &store)
    }

    /// Records which of some rows pending transactions change.
    ///
    /// - Parameter isAll: Whether the merger has merged all pending transactions.
    func setPreviewed(_ merger: Merger, of keys: Set<RowKey>, isAll: Bool, in store: inout some DeviceStore) throws {
        try store.setPreviewed(Set(merger.rows.keys), of: keys)
        if !policies.makeCopies { return }
        var copies = isAll ? [:] : store.copies ?? [:]
        for key in keys { copies[key] = merger.copies[key] }
        store.setCopies(copies)
    }
}

/// The rows that may have to be shown anew.
package struct ChangedRows: Sendable {
    package private(set) var keys: Set<RowKey>
    /// Whether all rows with pending transactions are among them.
    private(set) var isAll = false

    package init(_ keys: Set<RowKey> = []) { self.keys = keys }

    /// All rows with pending transactions.
    package static var all: ChangedRows {
        var rows = ChangedRows()
        rows.insertAll()
        return rows
    }

    var isEmpty: Bool { keys.isEmpty && !isAll }

    mutating func insert(_ key: RowKey) { keys.insert(key) }
    mutating func insertAll() { isAll = true }

    /// Adds the rows that a transaction changes.
    mutating func insert(_ transaction: Transaction) {
        for operation in transaction.operations where operation.action != .void {
            if let key = operation.key { keys.insert(key) } else { insertAll() }
        }
    }

    /// The number of passes after which transactions that have rows in common are no longer followed one by one.
    private static let maximumPasses = 4

    /// Returns those transactions at some indexes that change one of the rows, and adds their other rows.
    ///
    /// - Parameter copies: The copies that transactions change, with the rows that they are copies of.
    mutating func select(_ indexes: [Int], of open: [Outgoing], _ copies: [RowKey: RowKey]) -> [Int] {
        var isSelected = Array(repeating: false, count: indexes.count)
        for _ in 0..<Self.maximumPasses where !isAll {
            let count = keys.count
            for (copy, row) in copies where keys.contains(copy) || keys.contains(row) { keys.formUnion([copy, row]) }
            for (place, index) in indexes.enumerated() where !isSelected[place] {
                let operations = open[index].transaction.operations
                var isMet = false
                for operation in operations where operation.action != .void {
                    guard let key = operation.key else {
                        isAll = true
                        return indexes
                    }
                    isMet = isMet || keys.contains(key)
                }
                if !isMet { continue }
                isSelected[place] = true
                for case let key? in operations.lazy.map(\.key) { keys.insert(key) }
            }
            if keys.count == count { return zip(indexes, isSelected).compactMap { $1 ? $0 : nil } }
        }
        isAll = true
        return indexes
    }
}

extension Operation {
    /// The row; `nil` for a batch, and for a void.
    package var key: RowKey? {
        switch action {
        case .insert(let key, _, _), .update(let key, _, _), .delete(let key, _, _): key
        case .batch, .void: nil
        }
    }
}
