import Foundation
import GRDB
import RunwaySyncCore

extension SQLiteDeviceStore {
    /// Returns the keys of the confirmed rows that match a batch.
    ///
    /// SQLite finds the rows whose shown values are the confirmed ones. This function compares all other rows itself.
    func keys(matching batch: BatchUpdate, limit: Int) throws -> [RowKey] {
        guard let shape = capture.shape(of: batch.table), let condition = condition(of: batch, shape) else {
            let keys = try keys(in: "runway_sync_row").filter { $0.isIn(batch.table) }
            return try Array(keys.sorted().filter { batch.matches(try row($0)) }.prefix(limit))
        }
        let sql = shape.keys + condition.sql
        let ids = try DatabaseValue.fetchAll(
            database.cachedStatement(sql: sql),
            arguments: StatementArguments([space.databaseValue] + condition.arguments))
        var keys = Set(ids.compactMap { Identifier($0).map { RowKey(batch.table, $0) } })
        let changed = "SELECT DISTINCT id FROM runway_sync_change WHERE space = ? AND tbl = ?"
        let ownIDs = try DatabaseValue.fetchAll(
            database.cachedStatement(sql: changed), arguments: [space.databaseValue, batch.table])
        keys.formUnion(ownIDs.compactMap { Identifier($0).map { RowKey(batch.table, $0) } })
        keys.formUnion(try previewed.filter { $0.isIn(batch.table) })
        keys.formUnion(try self.keys(in: "runway_sync_parked").filter { $0.isIn(batch.table) })
        var matching: [RowKey] = []
        for key in keys.sorted() where batch.matches(try row(key)) {
            matching.append(key)
            if matching.count == limit { break }
        }
        return matching
    }

    /// Returns the number of shown rows that a batch matches.
    func shownCount(matching batch: BatchUpdate) throws -> Int {
        guard let shape = capture.shape(of: batch.table), let condition = condition(of: batch, shape) else { return 0 }
        let sql = "SELECT COUNT(*) FROM (\(shape.keys)\(condition.sql))"
        return try Int.fetchOne(
            database.cachedStatement(sql: sql),
            arguments: StatementArguments([space.databaseValue] + condition.arguments)) ?? 0
    }

    /// Returns a condition that holds for each shown row that the batch matches, and may hold for others; `nil` if the
    /// table lacks a column.
    private func condition(of batch: BatchUpdate, _ shape: TableShape) -> (sql: String, arguments: [DatabaseValue])? {
        var (sql, arguments) = ("", [DatabaseValue]())
        for condition in batch.conditions {
            guard shape.position(of: condition.column) != nil else { return nil }
            guard let constant = condition.constant.databaseValue else { return nil }
            // The sign keeps SQLite from converting values to the type of the column.
            let column = "+\(condition.column.quotedName) COLLATE BINARY"
            sql += " AND \(column) \(condition.comparison.sql) ?"
            arguments.append(constant)
        }
        return (sql, arguments)
    }
}

extension BatchUpdate.Comparison {
    /// The operator of SQL. NULL equals itself.
    var sql: String {
        switch self {
        case .equal: "IS"
        case .notEqual: "IS NOT"
        case .less: "<"
        case .lessOrEqual: "<="
        case .greater: ">"
        case .greaterOrEqual: ">="
        }
    }

    /// Reads an operator of a condition of `RunwayTables`.
    init?(sql: String) {
        switch sql {
        case "=": self = .equal
        case "<>", "IS NOT": self = .notEqual
        case "<": self = .less
        case "<=": self = .lessOrEqual
        case ">": self = .greater
        case ">=": self = .greaterOrEqual
        default: return nil
        }
    }
}
