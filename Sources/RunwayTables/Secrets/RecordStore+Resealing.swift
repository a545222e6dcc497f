import GRDB

extension RecordStore {
    /// Opens the secrets that were sealed with a former key, and seals them with the present key (``Options/sealing``).
    ///
    /// The function works in transactions of at most 500 rows. If it is called again after a kill, it skips the rows
    /// that are sealed with the present key. When it returns, the former keys are not needed any more.
    ///
    /// - Returns: The number of rows that were sealed again.
    /// - Throws: ``TableError/Kind/keyUnavailable`` if none of the keys opens a value, or an error of the file, such as
    ///   ``TableError/Kind/corrupted`` if many primary keys are texts with a NUL or invalid UTF-8.
    @discardableResult
    public func resealSecrets() async throws -> Int {
        // Staged rows have secrets of the key with which they were staged.
        try await finishStaging()
        var count = 0
        for layout in layouts where layout.hasSecrets {
            var (last, starts): ([DatabaseValue]?, Set<[DatabaseValue]>) = (nil, [])
            repeat {
                let start = last
                let group = try await write { try $0.resealSecrets(of: layout, after: start) }
                (last, count) = (group.last, count + group.count)
                // GRDB cuts and repairs malformed texts: the group after such a key can be the same one again.
                if let last, !starts.insert(last).inserted {
                    throw TableError(.corrupted, "Keys of \(layout.name) are malformed texts.")
                }
            } while last != nil
        }
        return count
    }
}

extension TableWriter {
    /// Seals a group of rows again, in the order of the primary key.
    ///
    /// - Returns: The primary key of the last row in a full group, `nil` if there are no more rows, and the number of
    ///   rows that were sealed.
    fileprivate func resealSecrets(
        of layout: TableLayout, after start: [DatabaseValue]?
    ) throws -> (last: [DatabaseValue]?, count: Int) {
        let positions = layout.columns.indices.filter { $0 < layout.keyCount || layout.columns[$0].isSecret }
        let keys = (0..<layout.keyCount).map(layout.quotedName).joined(separator: ", ")
        let marks = (0..<layout.keyCount).map { _ in "?" }.joined(separator: ", ")
        let filter = start == nil ? "" : " WHERE (\(keys)) > (\(marks))"
        let sql = layout.selectSQL(positions) + filter + " ORDER BY \(keys) LIMIT 500"
        let sealed = try sealedRows(layout, positions, sql, start ?? [])
        var count = 0
        for row in sealed where !secrets.isCurrent(row) {
            var opened = row
            try secrets.open(&opened)
            _ = try update(opened)
            count += 1
        }
        return (sealed.count < 500 ? nil : try sealed.last?.key(), count)
    }
}
