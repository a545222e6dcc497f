import Foundation
import GRDB
import RunwaySQLite

/// Copies what is sound of a damaged file of a ``Journal`` to a new one.
///
/// An entry is copied with its id, its place, its state and its checksum, so that it is sent once, in its order, and by the same key. Numbers of
/// streams are not copied: batches are sent in new ones, and the server recognises the entries by their ids. The rest is counted as damaged.
enum JournalSalvage {
    /// What was read of a damaged file.
    struct Contents {
        fileprivate var entries: [Int64: [DatabaseValue]] = [:]
        fileprivate var settings: [(name: String, value: String)] = []
        fileprivate var losses: [JournalLoss: Int] = [:]
        fileprivate var clocks: [DatabaseValue]?
        /// How many entries the file had; `nil` if that can't be read.
        fileprivate var total: Int?
        /// How many entries were read that are damaged.
        fileprivate var damaged = 0

        /// How many entries were lost, as far as the file says.
        var lostCount: Int { max(damaged, (total ?? 0) - entries.count) }
    }

    /// The columns of an entry, of which the first six are what ``SequencedEntry`` reads.
    private static let columns = "sequence, id, scope, priority, payload, checksum, state, reason, moment"

    /// Reads what is sound of a file that nobody has open. It changes nothing.
    ///
    /// - Parameter maximumCount: The most entries that are read.
    static func read(_ url: URL, maximumCount: Int) -> Contents {
        var contents = Contents()
        var configuration = Configuration()
        configuration.readonly = true
        guard let queue = try? DatabaseQueue(path: url.path, configuration: configuration) else { return contents }
        defer { try? queue.close() }
        queue.inDatabase { database in
            // Each of them may be damaged without the others.
            contents.total = try? Int.fetchOne(database, sql: "SELECT sum(count) FROM tally")
            contents.clocks = (try? Row.fetchOne(database, sql: "SELECT moment, boot, uptime, date FROM file"))
                .map { Array($0.databaseValues) }
            for row in (try? Row.fetchAll(database, sql: "SELECT name, value FROM setting")) ?? [] {
                guard let name = String.fromDatabaseValue(row[0]), let value = String.fromDatabaseValue(row[1])
                else { continue }
                contents.settings.append((name, value))
            }
            for row in (try? Row.fetchAll(database, sql: "SELECT reason, count FROM lost")) ?? [] {
                guard let reason = String.fromDatabaseValue(row[0]).flatMap({ JournalLoss(rawValue: $0) }),
                    let count = Int.fromDatabaseValue(row[1]), count > 0
                else { continue }
                contents.losses[reason] = count
            }
            // A page that can't be read ends a pass. What is behind it is found from the other end.
            for order in ["", "DESC"] { contents.read(database, order, columns, maximumCount: maximumCount) }
        }
        return contents
    }

    /// Writes what was read to a new file, and counts what was lost.
    static func write(_ contents: Contents, to journal: Journal) throws(StorageError) {
        let lostCount = contents.lostCount
        try journal.write { database in
            if let clocks = contents.clocks, clocks.count == 4, let moment = Int64.fromDatabaseValue(clocks[0]),
                (0...(Int64(1) << 52)).contains(moment), let boot = String.fromDatabaseValue(clocks[1]),
                let uptime = Int64.fromDatabaseValue(clocks[2]), let date = Int64.fromDatabaseValue(clocks[3])
            {
                // Ages go on.
                try database.execute(
                    sql: "UPDATE file SET moment = ?, boot = ?, uptime = ?, date = ?",
                    arguments: [moment, boot, uptime, date])
            }
            let now = try Int64.fetchOne(database, sql: "SELECT moment FROM file") ?? 0
            let insert = try database.cachedStatement(
                sql: "INSERT OR IGNORE INTO entry (\(columns)) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)")
            for (_, values) in contents.entries.sorted(by: { $0.key < $1.key }) {
                let moment = Int64.fromDatabaseValue(values[8]).map { max(0, min($0, now)) } ?? now
                try insert.execute(arguments: StatementArguments(values.dropLast() + [moment.databaseValue]))
            }
            for (name, value) in contents.settings {
                try database.execute(sql: "REPLACE INTO setting VALUES (?, ?)", arguments: [name, value])
            }
            for (reason, count) in contents.losses { try journal.count(database, count, as: reason) }
            try journal.count(database, lostCount, as: .damaged)
        }
    }
}

extension JournalSalvage.Contents {
    /// Reads entries until the first page that can't be read.
    fileprivate mutating func read(_ database: Database, _ order: String, _ columns: String, maximumCount: Int) {
        var damagedCount = 0
        do {
            let rows = try Row.fetchCursor(database, sql: "SELECT \(columns) FROM entry ORDER BY sequence \(order)")
            while entries.count < maximumCount, let row = try rows.next() {
                guard let entry = SequencedEntry(row) else {
                    damagedCount += 1
                    continue
                }
                // The rest was read from the other end.
                if entries[entry.sequence] != nil { break }
                let state = Int.fromDatabaseValue(row[6]).flatMap { PlacedEntry.State(rawValue: $0) } ?? .waiting
                var values = Array(row.databaseValues)
                values[6] = state.rawValue.databaseValue
                values[7] = String.fromDatabaseValue(row[7]).databaseValue
                entries[entry.sequence] = values
            }
        } catch {
            // What was read before is sound.
        }
        damaged = max(damaged, damagedCount)
    }
}
