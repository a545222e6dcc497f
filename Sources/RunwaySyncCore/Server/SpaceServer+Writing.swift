extension SpaceServer {
    /// Writes rows as a device of the server's own, in one transaction of the store (rule 21). The rights are not
    /// asked.
    ///
    /// - Parameters:
    ///   - rows: The columns to set, of rows that are inserted if they do not exist; `nil` deletes a row. Later values
    ///     of a row replace earlier ones.
    ///   - device: The id of the server's device, always the same one for a space.
    ///   - milliseconds: The time since 1970 by the clock of the database.
    /// - Returns: The transaction and its verdict; `nil` if nothing changes.
    /// - Throws: ``TransactionTooLarge``, and errors of the store.
    package func write(
        _ rows: [(key: RowKey, values: Columns<SyncValue>?)], as device: Identifier, at milliseconds: Int64,
        in store: inout some SpaceStore, using random: inout some RandomNumberGenerator
    ) throws -> (transaction: Transaction, verdict: Verdict)? {
        var after: [RowKey: Columns<SyncValue>?] = [:]
        for (key, values) in rows {
            guard let values else {
                after[key] = .some(nil)
                continue
            }
            let former = if let known = after[key] { known } else { try store.row(key).values }
            var merged = former ?? [:]
            merged.merge(values)
            after[key] = merged
        }
        let actions = try after.keys.sorted().compactMap { key in
            let row = try store.row(key)
            return Operation.Action(
                on: key, from: row.values, to: after[key] ?? nil, of: row, by: policies[table: key.table])
        }
        return try commit(actions, as: device, at: milliseconds, in: &store, using: &random)
    }

    /// Updates all rows that match, as a device of the server's own. See ``write(_:as:at:in:using:)``.
    package func updateAll(
        _ batch: BatchUpdate, as device: Identifier, at milliseconds: Int64, in store: inout some SpaceStore,
        using random: inout some RandomNumberGenerator
    ) throws -> (transaction: Transaction, verdict: Verdict)? {
        try commit([.batch(batch)], as: device, at: milliseconds, in: &store, using: &random)
    }

    private func commit(
        _ actions: [Operation.Action], as device: Identifier, at milliseconds: Int64,
        in store: inout some SpaceStore, using random: inout some RandomNumberGenerator
    ) throws -> (transaction: Transaction, verdict: Verdict)? {
        if actions.isEmpty { return nil }
        var record = try store.device(device) ?? DeviceRecord()
        let transaction = Transaction(
            number: record.end.number + 1, previous: record.end.operation,
            time: max(HybridTime(milliseconds: milliseconds), record.time.next), basis: try store.history.head.basis,
            operations: actions.map { Operation(id: .version7(at: milliseconds, using: &random), action: $0) })
        if transaction.operations.count > Transaction.maximumOperations
            || transaction.byteCount > Transaction.maximumBytes
        {
            throw TransactionTooLarge()
        }
        let decisions = try decide(
            [transaction], from: device, in: &record, at: milliseconds, in: &store, isOwn: true)
        if decisions[0].verdict.refusal == .tooLarge { throw TransactionTooLarge() }
        try store.setDevice(device, record)
        return (transaction, decisions[0].verdict)
    }
}
