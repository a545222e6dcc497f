import Foundation
import GRDB
import GRDBSQLite
import Runway

/// Brings one file to the version of this build: GRDB's migrator takes steps, and SQL in the file undoes them.
struct Migrator {
    let queue: DatabaseQueue
    let migrations: Migrations
    var follower: (any StoreFollower)?
    var report: @Sendable (MigrationProgress) -> Void = { _ in }

    /// Brings the file to the last step of this build, or to another step.
    ///
    /// - Throws: ``TableError``; the file is then at its last whole step.
    func migrate(to target: Int? = nil) throws {
        let target = target ?? migrations.steps.count
        let entries = try queue.read { try StepLog.entries(in: $0) }
        for (entry, step) in zip(entries, migrations.steps) where entry.name != step.name {
            throw TableError(
                .migration,
                "Step \(entry.number) of the file is \"\(entry.name)\", and that of this build "
                    + "\"\(step.name)\".")
        }
        if entries.count > target { return try goBack(over: entries[target...]) }
        for number in entries.count..<target { try take(number + 1) }
    }

    private func take(_ number: Int) throws {
        let step = migrations.steps[number - 1]
        func progress(_ remaining: Int?) {
            report(
                MigrationProgress(
                    step: step.name, number: number, lastNumber: migrations.steps.count, remaining: remaining))
        }
        do {
            if case .batches(let batch) = step.work {
                var batches = Batches()
                var remaining = 0
                repeat {
                    remaining = try queue.write { try pausing(in: $0, batch) }
                    progress(remaining)
                } while try batches.goOn(remaining)
            } else {
                progress(nil)
            }
            var migrator = DatabaseMigrator()
            migrator.registerMigration(StepLog.identifier(step.name)) { database in
                try pausing(in: database) { database in
                    try FileCounts.pausing(in: database) {
                        switch step.work {
                        case .once(let change): try change(database)
                        // Another process may have written since the last batch.
                        case .batches(let batch):
                            var batches = Batches()
                            while try batches.goOn(batch(database)) {}
                        }
                    }
                }
                try StepLog.append(step, number: number, to: database)
            }
            try migrator.migrate(queue)
        } catch {
            throw failure(error, "Step \(number) (\(step.name)) failed; the file is at step \(number - 1).")
        }
    }

    /// Runs a change that the follower of the tables does not record.
    private func pausing<Value>(in database: Database, _ change: (Database) throws -> Value) throws -> Value {
        guard let follower else { return try change(database) }
        var value: Value?
        try follower.pausing(in: database) { value = try change(database) }
        guard let value else { preconditionFailure("a follower runs the change") }
        return value
    }

    private func goBack(over entries: ArraySlice<StepLog.Entry>) throws {
        if let last = entries.last(where: { $0.back == nil }) {
            throw TableError(
                .newerSchema, "The file is of a later version: step \(last.number) (\(last.name)) has no way back.")
        }
        for entry in entries.reversed() {
            guard let back = entry.back else { continue }
            do {
                try queue.writeWithoutTransaction { database in
                    // SQL that replaces a table would delete the rows that refer to it.
                    try database.execute(sql: "PRAGMA foreign_keys = OFF")
                    defer { try? database.execute(sql: "PRAGMA foreign_keys = ON") }
                    // The file may be hostile: its SQL may not attach other files, or copy this one with VACUUM INTO.
                    let limit = sqlite3_limit(database.sqliteConnection, SQLITE_LIMIT_ATTACHED, 0)
                    defer { _ = sqlite3_limit(database.sqliteConnection, SQLITE_LIMIT_ATTACHED, limit) }
                    try database.inTransaction(.immediate) {
                        try pausing(in: database) { database in
                            try FileCounts.pausing(in: database) { try database.execute(sql: back) }
                        }
                        try database.checkForeignKeys()
                        try StepLog.removeLast(entry, from: database)
                        return .commit
                    }
                }
            } catch {
                throw failure(
                    error, "The way back over step \(entry.number) (\(entry.name)) failed; the file is at that step.")
            }
        }
    }

    /// Returns the error of a step that failed. A full disk, a lock, damage, and a file that can't be written or used
    /// are errors of the file, and not of the step.
    private func failure(_ error: any Error, _ sentence: String) -> TableError {
        if let error = TableError(error, at: URL(fileURLWithPath: queue.path)),
            [.full, .locked, .corrupted, .readOnly, .unavailable].contains(error.kind)
        {
            return error
        }
        return TableError(
            .migration, "\(sentence) Reason: \((error as? DatabaseError)?.message ?? error.redactedDescription)")
    }
}

/// Notices a step in batches that would never end.
private struct Batches {
    private var (lowest, idleCount) = (Int.max, 0)

    /// Returns whether rows remain after a batch.
    ///
    /// - Throws: ``TableError/Kind/migration`` if 100 batches in a row have not reduced the number of remaining rows. A
    ///   few such batches are no error, since other processes may add rows.
    mutating func goOn(_ remaining: Int) throws -> Bool {
        (lowest, idleCount) = remaining < lowest ? (remaining, 0) : (lowest, idleCount + 1)
        if idleCount == 100 { throw TableError(.migration, "100 batches have left \(remaining) rows unchanged.") }
        return remaining > 0
    }
}
