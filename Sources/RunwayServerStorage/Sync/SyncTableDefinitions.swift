import GRDB

/// The tables of spaces. Every key begins with the space. Rows, log entries and records are JSON, coded by the core.
enum SyncTableDefinitions {
    /// In `runway_sync_log`, `total` is the size of all entries of the space that were ever stored, up to this one, and
    /// `time` is in milliseconds since 1970. In `runway_sync_waiting`, `subject` is that of the first operation.
    static let statements = """
        CREATE TABLE runway_sync_space (space BLOB PRIMARY KEY, history BLOB NOT NULL, total INTEGER NOT NULL) WITHOUT ROWID;
        CREATE TABLE runway_sync_device (space BLOB NOT NULL, device BLOB NOT NULL, subject TEXT, record BLOB NOT NULL,
            PRIMARY KEY (space, device)) WITHOUT ROWID;
        CREATE TABLE runway_sync_verdict (space BLOB NOT NULL, id BLOB NOT NULL, verdict BLOB NOT NULL,
            PRIMARY KEY (space, id)) WITHOUT ROWID;
        CREATE TABLE runway_sync_row (space BLOB NOT NULL, name TEXT NOT NULL, id BLOB NOT NULL, life INTEGER NOT NULL,
            body BLOB NOT NULL, PRIMARY KEY (space, name, id)) WITHOUT ROWID;
        CREATE TABLE runway_sync_log (space BLOB NOT NULL, number INTEGER NOT NULL, time INTEGER NOT NULL,
            total INTEGER NOT NULL, entry BLOB NOT NULL, PRIMARY KEY (space, number)) WITHOUT ROWID;
        CREATE TABLE runway_sync_waiting (space BLOB NOT NULL, name TEXT NOT NULL, id BLOB NOT NULL, subject TEXT,
            operations BLOB NOT NULL, PRIMARY KEY (space, name, id)) WITHOUT ROWID;
        CREATE INDEX runway_sync_waiting_subject ON runway_sync_waiting (space, subject);
        """

    static let schema = ServerDatabase.Schema(applicationID: 0x5257_5359, tables: statements)

    /// Creates the tables in a database of the app, unless they are there.
    static func create(in database: Database) throws {
        guard try !database.tableExists("runway_sync_space") else { return }
        try database.execute(sql: statements)
    }
}
