import GRDB
import RunwaySyncCore
import RunwayTables

extension ChangeCapture {
    /// Changes all rows that match as one operation for each space, which the server applies to the rows that match
    /// there (rule 14). Other conditions are left to SQL, whose changes are captured row by row.
    func updateAll(_ update: FollowedUpdate, in database: Database) throws -> Int? {
        guard let shape = shape(of: update.table), let terms = update.terms,
            !update.values.contains(where: { shape.position(of: $0.column) == nil })
        else { return nil }
        var conditions: [BatchUpdate.Condition] = []
        var spaces: Set<Identifier>?
        for term in terms {
            if term.column.isSame(as: shape.space) {
                guard term.comparison == "=", let space = Identifier(term.value) else { return nil }
                spaces = spaces.map { $0.intersection([space]) } ?? [space]
            } else {
                guard shape.position(of: term.column) != nil,
                    let comparison = BatchUpdate.Comparison(sql: term.comparison)
                else { return nil }
                conditions.append(.init(term.column, comparison, SyncValue(term.value)))
            }
        }
        let values = Columns(update.values.map { ($0.column, SyncValue($0.value)) })
        let batch = BatchUpdate(table: update.table, where: conditions, set: values)
        // The operation has the writes before it as its basis, also those of this transaction.
        _ = try endOwnWrite(in: database)
        try sealAll(in: database)
        let chosen = try spaces.map { $0.sorted() } ?? allSpaces(of: shape, in: database)
        var count = 0
        // All spaces are updated or none, also if the app catches the error.
        try database.inSavepoint {
            for space in chosen { count += try updateAll(batch, in: space, database) }
            return .commit
        }
        notifyAfterCommit(database)
        return count
    }

    private func updateAll(_ batch: BatchUpdate, in space: Identifier, _ database: Database) throws -> Int {
        var store = try store(of: space, in: database)
        let count = try store.shownCount(matching: batch)
        if count > BatchUpdate.maximumRows {
            throw TableError(.rejected, "An update of all rows that match changes more than 10,000 of them.")
        }
        if batch.byteCount > Transaction.maximumBytes || batch.byteCount * max(count, 1) > WireBounds.bodyBytes {
            throw TableError(.rejected, "An update of all rows that match has more than 32 MiB of values.")
        }
        var random = makeRandom()
        try store.applying { try device(of: store).updateAll(batch, at: now, in: &store, using: &random) }
        try store.finish()
        return count
    }

    private func allSpaces(of shape: TableShape, in database: Database) throws -> [Identifier] {
        let sql = "SELECT DISTINCT \(shape.space.quotedName) FROM \(shape.name.quotedName)"
        let shown = try DatabaseValue.fetchAll(database, sql: sql).compactMap { Identifier($0) }
        return try Set(shown + spaces(in: database)).sorted()
    }
}
