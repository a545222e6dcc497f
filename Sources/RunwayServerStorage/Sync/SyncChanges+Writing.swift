import Foundation
import GRDB
import RunwaySQLite
import RunwayServer
import RunwaySyncCore

extension SyncChanges {
    /// Writes the changes, by statements for many rows of a table.
    ///
    /// - Parameters:
    ///   - now: The time of new log entries.
    func write(to database: Database, _ space: Data, at now: Int64) throws {
        let space = space.databaseValue
        func run(_ statement: (head: String, tail: String), _ rows: [[DatabaseValue]]) throws {
            try SQLiteStatements.forEachPart(of: rows) { part in
                let tuple = SQLiteStatements.list(of: part[part.startIndex].count + 1)
                let tuples = Array(repeating: tuple, count: part.count).joined(separator: ", ")
                try database.cachedStatement(sql: "\(statement.head) VALUES \(tuples) \(statement.tail)")
                    .execute(arguments: StatementArguments(values: part.flatMap { [space] + $0 }))
            }
        }
        try run(
            (
                "INSERT INTO runway_sync_device (space, device, subject, record)",
                """
                ON CONFLICT (space, device) DO UPDATE SET subject = ifnull(excluded.subject, subject),
                record = excluded.record
                """
            ),
            devices.map { [$0.databaseValue, subjects[$0]?.databaseValue ?? .null, blob($1)] })
        try run(
            ("INSERT INTO runway_sync_verdict (space, id, verdict)", "ON CONFLICT DO NOTHING"),
            verdicts.map { [$0.databaseValue, blob($1)] })
        try run(
            (
                "INSERT INTO runway_sync_row (space, name, id, life, body)",
                "ON CONFLICT (space, name, id) DO UPDATE SET life = excluded.life, body = excluded.body"
            ),
            rows.map { [$0.table.databaseValue, $0.id.databaseValue, $1.life.databaseValue, blob($1)] })
        try run(
            ("INSERT INTO runway_sync_log (space, number, time, total, entry)", ""),
            entries.map {
                [$0.number.databaseValue, now.databaseValue, $0.total.databaseValue, Data($0.entry).databaseValue]
            })
        for key in waiting.keys {
            try database.cachedStatement(
                sql: "DELETE FROM runway_sync_waiting WHERE space = ? AND name = ? AND id = ?"
            ).execute(arguments: [space, key.table, key.id.databaseValue])
        }
        try run(
            ("INSERT INTO runway_sync_waiting (space, name, id, subject, operations)", ""),
            waiting.filter { !$0.value.isEmpty }.map {
                [
                    $0.table.databaseValue, $0.id.databaseValue, $1.subject?.databaseValue ?? .null,
                    blob(WaitingList($1)),
                ]
            })
        if let (history, total) = self.space {
            try run(
                (
                    "INSERT INTO runway_sync_space (space, history, total)",
                    "ON CONFLICT (space) DO UPDATE SET history = excluded.history, total = excluded.total"
                ),
                [[blob(history), total.databaseValue]])
        }
    }

    private func blob(_ value: some WireCodable) -> DatabaseValue { Data(value.encoded()).databaseValue }
}

extension Identifier {
    fileprivate var databaseValue: DatabaseValue { data.databaseValue }
}

/// Statements that read or write several rows.
enum SQLiteStatements {
    /// The largest number of rows of a statement.
    private static let maximumCount = 64

    /// Divides elements into parts whose sizes are powers of two, so that few statements are prepared.
    static func forEachPart<Element>(of elements: [Element], _ run: (ArraySlice<Element>) throws -> Void) rethrows {
        var rest = elements[...]
        while !rest.isEmpty {
            let count = min(maximumCount, 1 << (Int.bitWidth - 1 - rest.count.leadingZeroBitCount))
            try run(rest.prefix(count))
            rest = rest.dropFirst(count)
        }
    }

    /// Returns a list of parameters in parentheses.
    static func list(of count: Int) -> String { "(\(Array(repeating: "?", count: count).joined(separator: ", ")))" }
}
