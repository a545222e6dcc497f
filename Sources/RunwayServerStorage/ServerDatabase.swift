import Foundation
import GRDB
import Synchronization

/// A SQLite file that one process writes, and others may read.
///
/// All writes and checkpoints use one connection: before SQLite 3.51.3, two connections that write or checkpoint at once can lose a
/// commit. A lock on a file beside it stops a second writer; the system releases it with the process, however that ends.
final class ServerDatabase: Sendable {
    /// What a file contains.
    struct Schema: Sendable {
        /// Marks the files of this kind, in the header of SQLite.
        var applicationID: Int
        /// The version that the code reads and writes.
        var version: Int
        /// The statements that create the tables of version 1.
        var tables: String
    }

    let url: URL
    private let queue: DatabaseQueue
    private let lock: WriterLock

    /// Opens a file, and creates it if there is none, for its user alone.
    ///
    /// - Parameter waitsForDrive: Whether a commit returns when it is on the drive.
    /// - Throws: ``ServerStorageError``. A damaged file is not replaced: what it knows of clients would be lost, and duplicates stored.
    init(at url: URL, _ schema: Schema, waitsForDrive: Bool) throws(ServerStorageError) {
        self.url = url
        do {
            let files = FileManager.default
            try files.createDirectory(
                at: url.deletingLastPathComponent(), withIntermediateDirectories: true,
                attributes: [.posixPermissions: 0o700])
            lock = try WriterLock(for: url)
            // SQLite takes an empty file for a new database, and creates the other files with the permissions of this one.
            if !files.fileExists(atPath: url.path) {
                guard files.createFile(atPath: url.path, contents: nil, attributes: [.posixPermissions: 0o600]) else {
                    throw ServerStorageError(.unavailable, "\(url.lastPathComponent) can't be created.")
                }
            }
            var configuration = Configuration()
            configuration.prepareDatabase { database in
                try database.execute(
                    sql: """
                        PRAGMA journal_mode = WAL; PRAGMA synchronous = \(waitsForDrive ? "FULL" : "NORMAL");
                        PRAGMA fullfsync = \(waitsForDrive ? 1 : 0); PRAGMA checkpoint_fullfsync = 1;
                        PRAGMA journal_size_limit = 16777216; PRAGMA secure_delete = ON
                        """)
            }
            // A reader may hold a lock for a moment while the file is opened.
            configuration.busyMode = .timeout(5)
            queue = try DatabaseQueue(path: url.path, configuration: configuration)
            try queue.write { try Self.prepare($0, schema, url) }
        } catch {
            throw ServerStorageError(error, at: url)
        }
    }

    private static func prepare(_ database: Database, _ schema: Schema, _ url: URL) throws {
        if try Int.fetchOne(database, sql: "SELECT count(*) FROM sqlite_schema") == 0 {
            try database.execute(sql: schema.tables)
            try database.execute(
                sql: "PRAGMA application_id = \(schema.applicationID); PRAGMA user_version = \(schema.version)")
        }
        try check(database, schema, url)
    }

    private static func check(_ database: Database, _ schema: Schema, _ url: URL) throws {
        guard try Int.fetchOne(database, sql: "PRAGMA application_id") == schema.applicationID else {
            throw ServerStorageError(.foreign, "\(url.lastPathComponent) is a database with other contents.")
        }
        let version = try Int.fetchOne(database, sql: "PRAGMA user_version") ?? 0
        guard version <= schema.version else {
            throw ServerStorageError(.newerSchema, "\(url.lastPathComponent) was written by a later version.")
        }
    }

    /// Runs one transaction. It blocks. If the disk is full, it may run `change` twice.
    func write<Value>(_ change: (Database) throws -> Value) throws(ServerStorageError) -> Value {
        do { return try queue.writeMakingRoom(change) } catch { throw ServerStorageError(error, at: url) }
    }

    /// Moves all that was committed to the database file, so that nothing erased stays in the log of SQLite.
    func checkpoint() throws(ServerStorageError) {
        do {
            try queue.writeWithoutTransaction { _ = try $0.checkpoint(.truncate) }
        } catch {
            throw ServerStorageError(error, at: url)
        }
    }

    /// Closes the file and releases its lock. Nothing else may be called after it.
    func close() throws(ServerStorageError) {
        do {
            try queue.close()
            lock.release()
        } catch {
            throw ServerStorageError(error, at: url)
        }
    }

    /// Reads a file that a server may be writing at the same time.
    static func read<Value>(
        _ url: URL, _ schema: Schema, _ read: (Database) throws -> Value
    ) throws(ServerStorageError) -> Value {
        guard FileManager.default.fileExists(atPath: url.path) else {
            throw ServerStorageError(.missing, "There is no file \(url.lastPathComponent).")
        }
        do {
            var configuration = Configuration()
            configuration.readonly = true
            configuration.busyMode = .timeout(5)
            let queue = try DatabaseQueue(path: url.path, configuration: configuration)
            return try queue.read { database in
                try check(database, schema, url)
                return try read(database)
            }
        } catch {
            throw ServerStorageError(error, at: url)
        }
    }
}

/// The lock of the one process that writes a file.
private final class WriterLock: Sendable {
    /// Guards the descriptor of the locked file; `nil` once it is released.
    private let descriptor: Mutex<Int32?>

    /// Locks the file beside a database file.
    init(for url: URL) throws(ServerStorageError) {
        let descriptor = open(url.path + "-lock", O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else {
            throw ServerStorageError(.unavailable, "The folder of \(url.lastPathComponent) can't be written.")
        }
        guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
            Foundation.close(descriptor)
            throw ServerStorageError(.locked, "Another server writes \(url.lastPathComponent).")
        }
        self.descriptor = Mutex(descriptor)
    }

    deinit { release() }

    func release() {
        descriptor.withLock { descriptor in
            guard let open = descriptor else { return }
            // A process that was just forked still has the file: closing it here alone would not release the lock.
            flock(open, LOCK_UN)
            Foundation.close(open)
            descriptor = nil
        }
    }
}

extension DatabaseQueue {
    /// Runs a transaction. If the disk is full, moves the write-ahead log to the database file, and runs the transaction once more.
    ///
    /// SQLite itself moves the log at about 4 MB. On a small disk the log takes all space before, and what is freed later, too.
    fileprivate func writeMakingRoom<Value>(_ change: (Database) throws -> Value) throws -> Value {
        do {
            return try write(change)
        } catch let error as DatabaseError where error.resultCode == .SQLITE_FULL {
            guard (try? writeWithoutTransaction { _ = try $0.checkpoint(.truncate) }) != nil else { throw error }
            return try write(change)
        }
    }
}

extension Row {
    /// The value of a column. The subscript of `Row` traps for a value of another type, which a damaged file may have.
    func value<Value: DatabaseValueConvertible>(_ column: Int) throws(ServerStorageError) -> Value {
        guard let value = Value.fromDatabaseValue(self[column]) else {
            throw ServerStorageError(.corrupted, "A column of the file has a value of another type.")
        }
        return value
    }

    /// The value of a column, or `nil` if it has none.
    func optionalValue<Value: DatabaseValueConvertible>(_ column: Int) throws(ServerStorageError) -> Value? {
        let stored: DatabaseValue = self[column]
        return stored.isNull ? nil : try value(column)
    }
}

extension UUID {
    /// The 16 bytes, in the order in which they are written.
    var data: Data { withUnsafeBytes(of: uuid) { Data($0) } }

    /// Reads the 16 bytes of a column.
    init(_ row: Row, _ column: Int) throws { self = try row.value(column) }
}
