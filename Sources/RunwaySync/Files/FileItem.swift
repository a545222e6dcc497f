import Foundation
import GRDB
import RunwaySyncCore
import RunwayTables

/// A file that rows of a space name, as a row of `runway_sync_stored` (``FileSchema``).
struct FileItem: Sendable {
    /// The bytes in a space: files of equal bytes are transferred once.
    struct Key: Hashable, Sendable {
        let space: Identifier
        let digest: String

        /// The name of the bytes in the folder of parts.
        var name: String { "\(space)-\(digest)" }
    }

    let file: StoredFile
    let key: Key

    /// Reads the space and the name; `nil` if the text names no file, or a file of an unknown digest.
    init?(_ row: GRDB.Row) {
        guard let space = Identifier(row[0] as DatabaseValue), let file = StoredFile(name: row[1]),
            let digest = file.digest
        else { return nil }
        (self.file, key) = (file, Key(space: space, digest: digest))
    }

    /// Returns at most 16 files of a lane whose next attempt is due. Texts that name no file, or one of an unknown
    /// digest, wait for ever.
    static func fetchDue(_ lane: FileTurns.Lane, at now: Int64, in database: Database) throws -> [FileItem] {
        let statement = try database.cachedStatement(
            sql: """
                SELECT space, name FROM runway_sync_stored
                    WHERE settled = 0 AND space = ? AND here = ? AND due <= ? AND moved IS NULL ORDER BY due, name LIMIT 16
                """)
        while true {
            let rows = try GRDB.Row.fetchAll(statement, arguments: [lane.space.databaseValue, lane.isHere, now])
            let items = rows.compactMap { FileItem($0) }
            if !items.isEmpty || rows.isEmpty { return items }
            for row in rows {
                try database.execute(
                    sql: "UPDATE runway_sync_stored SET due = ? WHERE space = ? AND name = ?",
                    arguments: [FileSchema.never, row[0] as DatabaseValue, row[1] as DatabaseValue])
            }
        }
    }

    /// Returns the files whose next attempt of a transfer is due, by lane. Only spaces that are joined count.
    static func fetchDue(at now: Int64, in database: Database) throws -> [FileTurns.Lane: [FileItem]] {
        let spaces = try GRDB.Row.fetchAll(database, sql: "SELECT id FROM runway_sync_space WHERE joined = 1")
            .compactMap { Identifier($0[0] as DatabaseValue) }
        var due: [FileTurns.Lane: [FileItem]] = [:]
        for lane in spaces.flatMap({ [FileTurns.Lane(space: $0, isHere: true), .init(space: $0, isHere: false)] }) {
            let items = try fetchDue(lane, at: now, in: database)
            if !items.isEmpty { due[lane] = items }
        }
        return due
    }

    /// Returns the number of files that wait for their uploads.
    ///
    /// - Parameter space: The space; `nil` for all.
    static func waitingCount(in space: Identifier?, _ database: Database) throws -> Int {
        let sql = "SELECT COUNT(*) FROM runway_sync_stored WHERE settled = 0 AND here = 1 AND space = ifnull(?, space)"
        return try Int.fetchOne(database, sql: sql, arguments: [space?.databaseValue]) ?? 0
    }

    /// Whether a row of this device named the file first, or a transfer has brought it.
    func isOwn(in database: Database) throws -> Bool {
        let sql = "SELECT here FROM runway_sync_stored WHERE space = ? AND name = ?"
        return try Bool.fetchOne(database, sql: sql, arguments: [key.space.databaseValue, file.name]) ?? false
    }

    /// Sets columns of the file's row, if the file is still named.
    func set(_ columns: String, _ arguments: StatementArguments = [], in database: Database) throws {
        try database.execute(
            sql: "UPDATE runway_sync_stored SET \(columns) WHERE space = ? AND name = ?",
            arguments: arguments + [key.space.databaseValue, file.name])
    }

    /// Records the end of an attempt.
    func end(_ outcome: FileOutcome, at now: Int64, in database: Database) throws {
        if outcome == .settled {
            try set("here = 1", in: database)
            // Other files of the same bytes are at the server, too.
            try database.execute(
                sql: """
                    UPDATE runway_sync_stored
                        SET settled = 1, moved = NULL, failures = 0, problem = NULL, due = 0, missing = NULL
                        WHERE space = ? AND digest = ? AND here = 1
                    """, arguments: [key.space.databaseValue, key.digest])
            return try release(in: database)
        }
        let former = try GRDB.Row.fetchOne(
            database, sql: "SELECT failures, missing FROM runway_sync_stored WHERE space = ? AND name = ?",
            arguments: [key.space.databaseValue, file.name])
        let due = outcome.due(after: former?[0] ?? 0, at: now)
        let since = former.flatMap { $0[1] as Int64? } ?? (outcome == .missing ? now : nil)
        let problem = outcome.problem(missingFor: now - (since ?? now))
        try set(
            "moved = NULL, failures = failures + 1, problem = ?, due = ?, missing = ?",
            [problem?.description, due, since], in: database)
        if due == FileSchema.never { try release(in: database) }
    }

    /// Ends the hold of files that waited only for their upload.
    private func release(in database: Database) throws {
        try database.execute(
            sql: """
                DELETE FROM runway_sync_held WHERE space = ?1 AND tbl = ''
                    AND name IN (SELECT name FROM runway_sync_stored WHERE space = ?1 AND digest = ?2)
                """, arguments: [key.space.databaseValue, key.digest])
    }
}

extension FileItem.Key {
    /// Returns whether a row of the space names a file with these bytes.
    func isNamed(in database: Database) throws -> Bool {
        let sql = "SELECT EXISTS (SELECT 1 FROM runway_sync_stored WHERE digest = ? AND space = ?)"
        return try Bool.fetchOne(
            database.cachedStatement(sql: sql), arguments: [digest, space.databaseValue]) ?? false
    }
}
