import Foundation
import GRDB
import RunwaySQLite

/// Copies the undamaged entries and settings of a damaged ``Journal`` file to a new file.
///
/// - Entries are copied with their id, position, state and age, so that each is sent once, in its order, and with the
///   same key. The other entries are counted as damaged.
/// - Stream numbers are not copied. Batches are sent in new streams, and the server recognises entries by id.
/// - Settings are copied if their checksum is correct. A damaged one could name another account, or undo a decision.
/// - The settings of the installation (``Journal/installationSettings``) are not copied: the new file is another
///   installation.
/// - Damaged clocks are replaced by the moment of the newest entry, so that no entry becomes older.
enum JournalSalvage {
    /// The entries and settings that were read from a damaged file.
    struct Contents {
        /// The entries by position, each with the moment at which it was stored.
        fileprivate var entries: [Int64: (entry: JournalEntry, moment: Int64)] = [:]
        fileprivate var settings: [JournalSetting] = []
        fileprivate var losses: [JournalLoss: Int] = [:]
        fileprivate var clocks: JournalClock?
        /// The number of entries in the file; `nil` if it can't be read.
        fileprivate var total: Int?
        /// The number of damaged rows. On a damaged page, SQLite may find rows that were never written.
        fileprivate var damaged = 0

        /// The number of lost entries. Damaged rows count only if the total can't be read or is too small.
        var lostCount: Int {
            guard let total, total >= entries.count else { return damaged }
            return total - entries.count
        }

        /// Whether the user opted out. If the decision can't be read, a file without entries counts as an opt-out,
        /// since an opt-out removes all entries.
        var isOptedOut: Bool {
            settings.first { $0.name == Journal.optOutName }.map { $0.value != "0" } ?? entries.isEmpty
        }
    }

    /// Reads the undamaged entries and settings of a file that is not open. Changes nothing.
    ///
    /// - Parameter maximumCount: The maximum number of entries to read.
    /// - Throws: ``StorageError`` if the file can't be read now. The content need not be damaged then.
    static func read(_ url: URL, maximumCount: Int) throws(StorageError) -> Contents {
        var contents = Contents()
        var configuration = Configuration()
        configuration.readonly = true
        do {
            guard let queue = try readUnlessDamaged({ try DatabaseQueue(path: url.path, configuration: configuration) })
            else { return contents }
            defer { try? queue.close() }
            try queue.inDatabase { database in
                // Each part is read separately, since one part may be damaged while the other parts are not.
                contents.total =
                    try readUnlessDamaged { try Int.fetchOne(database, sql: "SELECT sum(count) FROM tally") } ?? nil
                contents.clocks = try readUnlessDamaged { try JournalClock.read(database) } ?? nil
                let settings = try readUnlessDamaged {
                    try Row.fetchAll(database, sql: "SELECT \(JournalSetting.columns) FROM setting")
                }
                contents.settings = (settings ?? []).compactMap { try? JournalSetting($0) }
                for row in try readUnlessDamaged({ try Row.fetchAll(database, sql: "SELECT reason, count FROM lost") })
                    ?? []
                {
                    guard let reason = String.fromDatabaseValue(row[0]).flatMap({ JournalLoss(rawValue: $0) }),
                        let count = Int.fromDatabaseValue(row[1]), count > 0
                    else { continue }
                    contents.losses[reason] = count
                }
                // An unreadable page ends a pass. The second pass reads the entries behind it from the other end.
                for order in ["", "DESC"] { try contents.read(database, order, maximumCount: maximumCount) }
            }
        } catch {
            throw StorageError(error, at: url)
        }
        return contents
    }

    /// Runs a part of the reading. Returns `nil` if the data are damaged.
    ///
    /// - Throws: Any other error, for example that the file is locked.
    fileprivate static func readUnlessDamaged<Value>(_ read: () throws -> Value) throws -> Value? {
        do {
            return try read()
        } catch let error as DatabaseError {
            switch error.resultCode {
            case .SQLITE_BUSY, .SQLITE_LOCKED, .SQLITE_CANTOPEN, .SQLITE_AUTH, .SQLITE_PERM, .SQLITE_NOMEM,
                .SQLITE_FULL:
                throw error
            // This error means that the device is locked.
            case .SQLITE_IOERR where error.extendedResultCode == .SQLITE_IOERR_AUTH: throw error
            default: return nil
            }
        } catch {
            return nil
        }
    }

    /// Writes the entries and settings to a new file, and counts the lost entries.
    static func write(_ contents: Contents, to journal: Journal) throws(StorageError) {
        try journal.write { database in
            guard var row = try contents.clocks ?? JournalClock.read(database) else { return }
            if contents.clocks == nil { row.moment = contents.entries.values.map(\.moment).max() ?? 0 }
            // The moment is preserved, so that the ages of the entries do not change.
            (row.installation, row.moment) = (journal.installation, max(0, min(row.moment, Int64(1) << 52)))
            try row.update(database)
            let insert = try database.cachedStatement(
                sql: """
                    INSERT OR IGNORE INTO entry (\(JournalEntry.columns))
                    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
                    """)
            for (sequence, found) in contents.entries.sorted(by: { $0.key < $1.key }) {
                let (entry, moment) = (found.entry, max(0, min(found.moment, row.moment)))
                try insert.execute(arguments: [
                    sequence, Data(entry.id.bytes), entry.scope, entry.priority, Data(entry.payload),
                    RowChecksum.of(entry, at: moment), moment, entry.state.rawValue,
                    entry.reason.isEmpty ? nil : entry.reason,
                ])
            }
            for setting in contents.settings where !Journal.installationSettings.contains(setting.name) {
                try setting.write(to: database)
            }
            for (reason, count) in contents.losses { try journal.count(database, count, as: reason) }
            try journal.count(database, contents.lostCount, as: .damaged)
        }
        try journal.storeDecision(contents.isOptedOut)
    }
}

extension JournalSalvage.Contents {
    /// Reads entries up to the first page that can't be read.
    fileprivate mutating func read(_ database: Database, _ order: String, maximumCount: Int) throws {
        var damagedCount = 0
        // Entries that were read before an error are undamaged.
        _ = try JournalSalvage.readUnlessDamaged {
            let rows = try Row.fetchCursor(
                database, sql: "SELECT \(JournalEntry.columns) FROM entry ORDER BY sequence \(order)")
            while entries.count < maximumCount, let row = try rows.next() {
                guard let entry = JournalEntry(row, orIn: .waiting), let moment = Int64.fromDatabaseValue(row[6]) else {
                    damagedCount += 1
                    continue
                }
                // The remaining entries were read from the other end.
                if entries[entry.sequence] != nil { break }
                entries[entry.sequence] = (entry, moment)
            }
        }
        damaged = max(damaged, damagedCount)
    }
}
