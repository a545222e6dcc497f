/// The device, time and basis of the operations that are merged.
package struct Author: Sendable {
    package let device: Identifier
    package let time: HybridTime
    /// The last log number that the device had seen, counted in the history to which the rows belong.
    package let basis: Int64
    /// The log number of the transaction; `Int64.max` for a preview.
    package let number: Int64

    package init(device: Identifier, time: HybridTime, basis: Int64, number: Int64) {
        (self.device, self.time, self.basis, self.number) = (device, time, basis, number)
    }
}

/// Merges operations into rows (rules 5 to 7 and 14). The server decides with it, and a device previews with it.
///
/// The merger holds the changed rows, and reads the others from a ``RowSource`` that is passed to each function.
package struct Merger: Sendable {
    private let policies: ConflictPolicies
    /// The changed rows.
    package private(set) var rows: [RowKey: Row] = [:]
    /// The values that lost, for each row.
    private var losers: [RowKey: Columns<SyncValue>] = [:]
    /// The copies that operations change, with the rows that they are copies of (rule 7).
    package private(set) var copies: [RowKey: RowKey] = [:]
    /// The spaces to which rows moved.
    private var moves: [RowKey: Identifier] = [:]

    package enum Outcome: Hashable, Sendable {
        case merged(isConflict: Bool)
        /// The row has a newer life.
        case superseded
    }

    package init(_ policies: ConflictPolicies) { self.policies = policies }

    /// Whether a changed row has more columns or bytes than a row may have.
    var hasTooLargeRow: Bool {
        rows.values.contains { $0.columns.count > WireBounds.columns || $0.byteCount > Row.maximumBytes }
    }

    /// Returns a row with the changes that this merger has made so far.
    package func row(_ key: RowKey, over source: some RowSource) throws -> Row { try rows[key] ?? source.row(key) }

    /// Whether an operation updates a life that its row never had (rule 3).
    package func isAbsent(_ operation: Operation, over source: some RowSource) throws -> Bool {
        guard case .update(let key, let life, _) = operation.action else { return false }
        return try life > row(key, over: source).life
    }

    /// Returns the actions that an operation stands for beside its own, with the rows as they are: an insert of a row
    /// that is live updates or deletes it, and a change of which both versions stay inserts or updates a copy.
    func consequences(
        of operation: Operation, by author: Author, over source: some RowSource
    ) throws -> [Operation.Action] {
        var actions: [Operation.Action] = []
        switch operation.action {
        case .insert(let key, let life, let values):
            let row = try row(key, over: source)
            guard row.isLive, life >= row.life else { return [] }
            if life > row.life { return [.delete(key, life: row.lifeOfDelete)] }
            actions = [.update(key, life: life, values)] + (try copying(values, of: row, key, by: author, over: source))
        case .update(let key, let life, let values):
            let row = try row(key, over: source)
            if life == row.life { actions = try copying(values, of: row, key, by: author, over: source) }
        case .delete, .batch, .void: break
        }
        return actions
    }

    /// Returns the change of a copy that a change of a row makes; none if it makes no copy.
    private func copying(
        _ values: Columns<SyncValue>, of row: Row, _ key: RowKey, by author: Author, over source: some RowSource
    ) throws -> [Operation.Action] {
        guard let copy = copy(values, of: row, key, by: author) else { return [] }
        switch try self.row(copy, over: source).life {
        case 0: return [.insert(copy, life: 1, row.values(with: values))]
        case 1: return [.update(copy, life: 1, values)]
        default: return []
        }
    }

    /// Merges one operation. An update of an absent life changes nothing.
    package mutating func merge(
        _ operation: Operation, by author: Author, over source: some RowSource
    ) throws -> Outcome {
        switch operation.action {
        case .insert(let key, let life, let values):
            let row = try row(key, over: source)
            if life < row.life { return .superseded }
            if life == row.life { return try merge(values, of: operation.id, into: key, by: author, over: source) }
            let columns = values.mapValues { Cell($0, author.stamp(operation.id, after: nil)) }
            rows[key] = Row(life: life, number: author.number, columns: columns)
        case .update(let key, let life, let values):
            let row = try row(key, over: source)
            if life < row.life { return .superseded }
            if life == row.life { return try merge(values, of: operation.id, into: key, by: author, over: source) }
        case .delete(let key, let life, let space):
            let row = try row(key, over: source)
            if life < row.life { return .superseded }
            if life > row.life {
                rows[key] = Row(life: life, number: author.number, columns: [:])
                moves[key] = space
            }
        case .batch(let batch):
            for key in try keys(matching: batch, over: source) {
                _ = try merge(
                    batch.values, of: operation.id, into: key, by: author, makesCopies: false, over: source)
            }
        case .void: break
        }
        return .merged(isConflict: false)
    }

    /// Returns the keys of the rows that a batch matches now. If there are more than ``BatchUpdate/maximumRows``,
    /// returns one key more than that (rule 14).
    package func keys(matching batch: BatchUpdate, over source: some RowSource) throws -> [RowKey] {
        let limit = BatchUpdate.maximumRows + 1
        let stored = try source.keys(matching: batch, limit: limit + rows.count).filter { rows[$0] == nil }
        let changed = rows.filter { batch.matches($0.key, $0.value) }.map(\.key)
        return Array((stored + changed).sorted().prefix(limit))
    }

    private mutating func merge(
        _ values: Columns<SyncValue>, of operation: Identifier, into key: RowKey, by author: Author,
        makesCopies: Bool = true, over source: some RowSource
    ) throws -> Outcome {
        var row = try row(key, over: source)
        var (won, lost) = (Columns<Cell>(), Columns<SyncValue>())
        var overwritten = Columns<SyncValue>()
        let rival = author.rival(of: values, in: row)
        for (name, value) in values {
            let cell = row.columns[name]
            if let cell, author.isConcurrent(with: cell.stamp) {
                if (cell.stamp.time, cell.stamp.operation) > (author.time, operation) {
                    lost[name] = value
                    continue
                }
                if cell.value != value { overwritten[name] = cell.value }
            }
            won[name] = Cell(value, author.stamp(operation, after: cell?.stamp))
        }
        switch policies[table: key.table] {
        case .newestPerColumn, .ask: break
        case .wholeRow: if !lost.isEmpty { (won, lost, overwritten) = ([:], values, [:]) }
        case .keepBoth:
            if makesCopies, let rival {
                try copy(values, of: operation, row: row, key: key, rival: rival, by: author, over: source)
                return .merged(isConflict: true)
            }
        }
        if !won.isEmpty {
            row.apply(RowChange(key: key, life: row.life, columns: won), number: author.number)
            rows[key] = row
        }
        if policies[table: key.table] == .ask, rival != nil {
            losers[key, default: [:]].merge(overwritten)
            losers[key, default: [:]].merge(lost.filter { row.columns[$0]?.value != $1 })
        }
        return .merged(isConflict: rival != nil)
    }

    /// Merges a change into a copy of the row. The id of the copy is the same on every device and at the server.
    private mutating func copy(
        _ values: Columns<SyncValue>, of operation: Identifier, row: Row, key: RowKey, rival: Stamp, by author: Author,
        over source: some RowSource
    ) throws {
        let copy = author.copy(of: key, against: rival)
        let former = try self.row(copy, over: source)
        copies[copy] = key
        if former.life == 0 {
            let insert = Operation.Action.insert(copy, life: 1, row.values(with: values))
            _ = try merge(Operation(id: operation, action: insert), by: author, over: source)
        } else if former.life == 1 {
            // The ids of copies are no secret, so that a copy of a copy could have thousands of copies.
            _ = try merge(values, of: operation, into: copy, by: author, makesCopies: false, over: source)
        }
    }

    /// Returns the key of the copy that a change of a row makes (rule 7); `nil` if it makes none.
    func copy(_ values: Columns<SyncValue>, of row: Row, _ key: RowKey, by author: Author) -> RowKey? {
        guard case .keepBoth = policies[table: key.table], let rival = author.rival(of: values, in: row) else {
            return nil
        }
        return author.copy(of: key, against: rival)
    }

    /// Returns the decided changes of the transaction with a log number, in the order of their rows.
    package func changes(at number: Int64) -> [RowChange] {
        let keys = rows.keys.filter { rows[$0]?.number == number }
        return Set(keys).union(losers.keys).sorted().map { key in
            let columns = rows[key]?.columns.filter { $1.stamp.number == number } ?? [:]
            return RowChange(
                key: key, life: rows[key]?.life ?? 0, columns: columns, losers: losers[key] ?? [:],
                movedTo: moves[key])
        }
    }
}

extension Row {
    /// Returns the values of all columns, some of them replaced.
    fileprivate func values(with replacements: Columns<SyncValue>) -> Columns<SyncValue> {
        var all = columns.mapValues(\.value)
        all.merge(replacements)
        return all
    }
}

extension Author {
    /// Whether another device made a change that this device had not seen.
    fileprivate func isConcurrent(with stamp: Stamp) -> Bool { basis < stamp.number && device != stamp.device }

    /// Returns the newest concurrent stamp of a column to which other values are assigned.
    fileprivate func rival(of values: Columns<SyncValue>, in row: Row) -> Stamp? {
        values.compactMap { name, value in
            row.columns[name].flatMap { $0.value != value && isConcurrent(with: $0.stamp) ? $0.stamp : nil }
        }.max()
    }

    /// Returns the key of the copy of a row.
    fileprivate func copy(of key: RowKey, against rival: Stamp) -> RowKey {
        RowKey(key.table, Identifier.version5(of: rival.operation.bytes + device.bytes, in: key.id))
    }

    /// Returns the stamp of a value that wins. Its time is larger than that of the stamp it replaces.
    fileprivate func stamp(_ operation: Identifier, after former: Stamp?) -> Stamp {
        Stamp(number: number, time: max(time, former?.time.next ?? time), operation: operation, device: device)
    }
}

extension Stamp: Comparable {
    /// Orders by time, then by operation.
    package static func < (left: Self, right: Self) -> Bool {
        (left.time, left.operation) < (right.time, right.operation)
    }
}
