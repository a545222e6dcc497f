import Foundation
import GRDB
import RunwaySQLite

/// The tables of a ``Journal``.
enum JournalSchema {
    /// The schema version of this code, stored in `user_version`.
    static let version = 5

    /// Migrates the database to ``version`` in one transaction.
    ///
    /// - Throws: ``StorageError/Kind/newerSchema`` if the database has a later version; a `DatabaseError`.
    static func migrate(_ database: Database) throws {
        let found = try Int.fetchOne(database, sql: "PRAGMA user_version") ?? 0
        guard found <= version else {
            throw StorageError(.newerSchema, "The schema has version \(found); this version knows \(version).")
        }
        if found < 1 { try create(database) }
        if found < 2 { try addSettings(database) }
        if found < 3 { try addSealedState(database) }
        if found < 4 { try addChecksums(database) }
        if found < 5 { try addSecret(database) }
        try database.execute(sql: "PRAGMA user_version = \(version)")
    }

    /// Creates the tables of the first version. `state` of an entry is a raw value of ``JournalEntry/State``.
    ///
    /// The triggers update the counts in `tally` in the transaction that changes entries.
    private static func create(_ database: Database) throws {
        try database.execute(
            sql: """
                CREATE TABLE file (installation BLOB NOT NULL, checksum INTEGER NOT NULL,
                    moment INTEGER NOT NULL, boot TEXT NOT NULL, uptime INTEGER NOT NULL, date INTEGER NOT NULL);
                CREATE TABLE entry (sequence INTEGER PRIMARY KEY AUTOINCREMENT, id BLOB NOT NULL UNIQUE, scope TEXT NOT NULL,
                    priority INTEGER NOT NULL, moment INTEGER NOT NULL, payload BLOB NOT NULL, checksum INTEGER NOT NULL,
                    state INTEGER NOT NULL DEFAULT 0, reason TEXT);
                CREATE INDEX entry_by_scope ON entry (state, scope);
                CREATE INDEX entry_by_priority ON entry (priority) WHERE state = 0;
                CREATE TABLE stream (scope TEXT PRIMARY KEY, id BLOB NOT NULL, number INTEGER NOT NULL,
                    checksum INTEGER NOT NULL) WITHOUT ROWID;
                CREATE TABLE lost (reason TEXT PRIMARY KEY, count INTEGER NOT NULL) WITHOUT ROWID;
                CREATE TABLE tally (state INTEGER NOT NULL, scope TEXT NOT NULL, count INTEGER NOT NULL, bytes INTEGER NOT NULL,
                    PRIMARY KEY (state, scope)) WITHOUT ROWID;
                CREATE TRIGGER entry_added AFTER INSERT ON entry BEGIN
                    INSERT INTO tally VALUES (NEW.state, NEW.scope, 1, length(NEW.payload))
                        ON CONFLICT DO UPDATE SET count = count + 1, bytes = bytes + excluded.bytes;
                END;
                CREATE TRIGGER entry_removed AFTER DELETE ON entry BEGIN
                    UPDATE tally SET count = count - 1, bytes = bytes - length(OLD.payload)
                        WHERE state = OLD.state AND scope = OLD.scope;
                    DELETE FROM tally WHERE state = OLD.state AND scope = OLD.scope AND count <= 0;
                END;
                CREATE TRIGGER entry_changed AFTER UPDATE OF state ON entry WHEN NEW.state <> OLD.state BEGIN
                    UPDATE tally SET count = count - 1, bytes = bytes - length(OLD.payload)
                        WHERE state = OLD.state AND scope = OLD.scope;
                    DELETE FROM tally WHERE state = OLD.state AND scope = OLD.scope AND count <= 0;
                    INSERT INTO tally VALUES (NEW.state, NEW.scope, 1, length(NEW.payload))
                        ON CONFLICT DO UPDATE SET count = count + 1, bytes = bytes + excluded.bytes;
                END;
                """)
    }

    /// Migrates to version 2: adds an index for finding entries that are too old, and the settings of the owner.
    private static func addSettings(_ database: Database) throws {
        try database.execute(
            sql: """
                CREATE INDEX entry_by_moment ON entry (moment) WHERE state = 0;
                CREATE TABLE setting (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
                """)
    }

    /// Migrates to version 3: adds a state for entries that can't be decrypted. They are evicted like waiting entries.
    private static func addSealedState(_ database: Database) throws {
        try database.execute(
            sql: """
                DROP INDEX entry_by_priority;
                DROP INDEX entry_by_moment;
                CREATE INDEX entry_by_priority ON entry (priority) WHERE state IN (0, 3);
                CREATE INDEX entry_by_moment ON entry (moment) WHERE state IN (0, 3);
                UPDATE entry SET state = 3, reason = NULL
                    WHERE state = 2 AND reason = 'It can''t be decrypted: it was encrypted with another key.';
                """)
    }

    /// Migrates to version 4: adds checksums to settings and clocks. From this version on, the user's decision is
    /// always stored, so that its absence means damage. The checksums of older entries do not cover their moments.
    private static func addChecksums(_ database: Database) throws {
        try database.execute(
            sql: """
                ALTER TABLE setting ADD COLUMN checksum INTEGER NOT NULL DEFAULT 0;
                INSERT OR IGNORE INTO setting (name, value) VALUES ('\(Journal.optOutName)', '0');
                """)
        for row in try Row.fetchAll(database, sql: "SELECT name, value FROM setting") {
            try JournalSetting(name: try row.value(0), value: try row.value(1)).write(to: database)
        }
        let columns = "installation, moment, boot, uptime, date, checksum"
        guard let row = try Row.fetchOne(database, sql: "SELECT \(columns) FROM file") else { return }
        let (stored, checksum): (JournalClock, Int64) = (try JournalClock(row), try row.value(5))
        guard checksum == RowChecksum.of(stored.installation, 0, "") else {
            throw DatabaseError(resultCode: .SQLITE_CORRUPT)
        }
        try stored.update(database)
    }

    /// Migrates to version 5: adds a secret from which the id of the file is computed. An older file gets a new id. Its
    /// batches are sent in new streams, and the server recognises known entries by their ids. Only a batch that has not
    /// ended stays in its stream, until it ends or the server refuses its number.
    private static func addSecret(_ database: Database) throws {
        guard var row = try JournalClock.read(database) else { return }
        let secret = InstallationSecret()
        try secret.write(to: database)
        row.installation = secret.installation
        try row.update(database)
        try database.execute(sql: "DELETE FROM stream WHERE scope NOT IN (SELECT scope FROM entry WHERE state = 1)")
        // Waiting records without an account are sent under the new id, so an opt-out has to know of them.
        if try Bool.fetchOne(database, sql: "SELECT EXISTS (SELECT 1 FROM entry WHERE scope = '')") == true {
            try JournalSetting(name: Journal.nobodyRecordedName, value: "").write(to: database)
        }
    }

    /// Counts the entries again, and thereby reads every page with an entry.
    ///
    /// - Throws: `SQLITE_CORRUPT` if an entry has an unknown state, or if the index for claims contradicts the table.
    static func recount(_ database: Database) throws {
        try database.execute(
            sql: """
                DELETE FROM tally;
                INSERT INTO tally SELECT state, scope, count(*), sum(length(payload)) FROM entry NOT INDEXED
                    GROUP BY state, scope;
                """)
        let counted = try Row.fetchAll(database, sql: "SELECT state, scope, count FROM tally ORDER BY state, scope")
        // Checksums do not cover the index. An entry with a wrong scope in the index would never be claimed.
        let indexed = try Row.fetchAll(
            database,
            sql: """
                SELECT state, scope, count(*) AS count FROM entry INDEXED BY entry_by_scope
                GROUP BY state, scope ORDER BY state, scope
                """)
        let areStatesKnown = try counted.allSatisfy { JournalEntry.State(rawValue: try $0.value(0)) != nil }
        guard counted == indexed, areStatesKnown else { throw DatabaseError(resultCode: .SQLITE_CORRUPT) }
    }
}
