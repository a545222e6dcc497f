import Foundation
import GRDB
import Runway
import RunwaySQLite

/// The files of an open ``DiskCache``: a lock, the database of its index and of small responses, and one file per large
/// response.
///
/// Only one thread at a time may use the store, except for ``read(_:)`` and ``readFromMemory(_:)``.
final class DiskCacheStore: Sendable {
    /// The version of the schema that this code reads and writes.
    static let version = 3

    private let folder: URL
    private let lock: FileLock
    private let database: DatabaseQueue
    private let files: ContentFiles

    static let databaseName = "cache.sqlite"
    private static let setAsideName = "set-aside"

    /// Opens a folder, which is created if it does not exist. A database that can't be read is set aside and replaced.
    init(_ folder: URL, _ report: (StorageError) -> Void) throws {
        self.folder = folder
        if AppGroup.contains(folder.path) { throw DiskCacheError.shared }
        // Other users lose access even to a folder that existed before.
        _ = try StorageFolder.prepare(folder)
        try StorageFolder.protect([folder])
        try FileManager.default.setAttributes([.posixPermissions: 0o700], ofItemAtPath: folder.path)
        lock = try Self.lock(folder)
        files = try ContentFiles(folder.appending(path: "bodies"))
        do {
            database = try Self.openDatabase(folder)
        } catch let error where Self.isDamage(error, in: folder) {
            try Self.setAside(folder, files)
            report(StorageError(.corrupted, "The index was set aside, and the cache is empty: \(error)"))
            database = try Self.openDatabase(folder)
        }
    }

    private static func lock(_ folder: URL) throws -> FileLock {
        guard let lock = try FileLock(folder.appending(path: "lock")) else { throw DiskCacheError.inUse }
        return lock
    }

    func close() {
        // Closing fails only while a statement runs, and no statement runs here.
        try? database.close()
        lock.release()
    }

    private static func openDatabase(_ folder: URL) throws -> DatabaseQueue {
        // Deleted rows are overwritten, so that no data of a cleared account remain.
        let database = try StorageDatabase.open(
            at: folder.appending(path: databaseName), durability: .normal, overwritesRemovedBytes: true)
        try database.write { database in
            let found = try Int.fetchOne(database, sql: "PRAGMA user_version") ?? 0
            guard found <= version else { throw NewerSchema(version: found) }
            if found == version { return }
            // Earlier versions had another checksum, so all their entries would count as damaged.
            try database.execute(
                sql: """
                    DROP TABLE IF EXISTS entries;
                    DROP TABLE IF EXISTS contents;
                    CREATE TABLE entries (
                        id INTEGER PRIMARY KEY, key BLOB NOT NULL, service TEXT NOT NULL, endpoint TEXT,
                        account TEXT, target BLOB, metadataByteCount INTEGER NOT NULL,
                        bodyByteCount INTEGER NOT NULL, checksum INTEGER NOT NULL, seal INTEGER NOT NULL,
                        lastUse INTEGER NOT NULL, kind TEXT NOT NULL);
                    CREATE TABLE contents (id INTEGER PRIMARY KEY, bytes BLOB NOT NULL);
                    PRAGMA user_version = \(version);
                    """)
        }
        return database
    }

    /// Sets the database files aside, and removes the files of responses. Database files that were set aside earlier
    /// are replaced.
    private static func setAside(_ folder: URL, _ files: ContentFiles) throws {
        let manager = FileManager.default
        let place = folder.appending(path: setAsideName)
        if manager.fileExists(atPath: place.path) { try manager.removeItem(at: place) }
        try manager.createDirectory(
            at: place, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
        for suffix in ["", "-wal", "-shm"] {
            let name = databaseName + suffix
            if manager.fileExists(atPath: folder.appending(path: name).path) {
                try manager.moveItem(at: folder.appending(path: name), to: place.appending(path: name))
            }
        }
        try files.removeAll(besides: [])
    }

    /// Removes all files of a cache that is not open. It needs no disk space.
    static func removeAll(in folder: URL) throws {
        let lock = try lock(folder)
        defer { lock.release() }
        // The database is removed first. If the process ends before the other files are removed, the next opening
        // removes them.
        let manager = FileManager.default
        let names = ["", "-wal", "-shm"].map { databaseName + $0 } + [setAsideName]
        for name in names where manager.fileExists(atPath: folder.appending(path: name).path) {
            try manager.removeItem(at: folder.appending(path: name))
        }
        try ContentFiles(folder.appending(path: "bodies")).removeAll(besides: [])
    }

    func setAside() throws {
        defer { close() }
        try database.close()
        try Self.setAside(folder, files)
    }

    /// Returns whether an error means that the disk is too full for the database.
    static func isFull(_ error: any Error, in folder: URL) -> Bool { failure(error, in: folder) == .full }

    /// Returns whether an error means that the database is damaged, or has a later version. Other errors, such as a
    /// full disk, are temporary.
    static func isDamage(_ error: any Error, in folder: URL) -> Bool {
        if error is NewerSchema { return true }
        return failure(error, in: folder) == .damaged
    }

    private static func failure(_ error: any Error, in folder: URL) -> SQLiteFailure? {
        (error as? DatabaseError)?.failure(of: folder.appending(path: databaseName))
    }
}

/// The error of a database that a later version of the app wrote.
private struct NewerSchema: Error, CustomStringConvertible {
    let version: Int
    var description: String { "a newer version of the app wrote it (schema \(version))" }
}

extension DiskCacheStore {
    /// Reads the index. Removes damaged rows, rows beyond the limits, and files without a row.
    func load(
        _ limits: DiskCacheLimits, isSealed: Bool, _ report: (StorageError) -> Void
    ) throws -> DiskCacheIndex {
        var index = DiskCacheIndex(limits, isSealed: isSealed)
        var damaged: [Int64] = []
        var removed: [DiskCacheEntry] = []
        var ids: Set<Int64> = []
        try database.read { database in
            let rows = try Row.fetchCursor(database, sql: "SELECT \(Self.columns) FROM entries ORDER BY lastUse, id")
            while let row = try rows.next() {
                guard let entry = Self.entry(row) else {
                    damaged += Int64.fromDatabaseValue(row[0]).map { [$0] } ?? []
                    continue
                }
                ids.insert(entry.id)
                removed += index.restore(entry)
            }
        }
        if !damaged.isEmpty {
            report(StorageError(.corrupted, "\(damaged.count) damaged rows of the index were removed."))
        }
        if !damaged.isEmpty || !removed.isEmpty { try write([], removing: damaged + removed.map(\.id), uses: [:]) }
        ids.subtract(removed.map(\.id))
        try files.removeAll(besides: ids)
        return index
    }

    /// Each column is named, so that SQLite reports an error if a damaged schema has other names.
    private static var columns: String {
        "id, key, service, endpoint, account, target, metadataByteCount, bodyByteCount, checksum, seal, lastUse, kind"
    }

    private static func entry(_ row: Row) -> DiskCacheEntry? {
        func value<Value: DatabaseValueConvertible>(_ column: Int) -> Value? { Value.fromDatabaseValue(row[column]) }
        guard let id: Int64 = value(0), let key: Data = value(1), let digest = CacheDigest(reading: Array(key)),
            let service: String = value(2), let metadata: Int = value(6), metadata >= 0,
            let body: Int = value(7), body >= 0, let checksum: Int64 = value(8),
            let seal: Int64 = value(9), let lastUse: Int64 = value(10),
            let kind: String = value(11)
        else { return nil }
        let target: Data? = value(5)
        let entry = DiskCacheEntry(
            id: id, key: digest, service: service, endpoint: value(3), account: value(4),
            target: target.flatMap { CacheDigest(reading: Array($0)) },
            kind: CacheKind(kind), metadataByteCount: metadata, bodyByteCount: body,
            checksum: UInt64(bitPattern: checksum), lastUse: lastUse)
        return entry.seal == UInt64(bitPattern: seal) ? entry : nil
    }

    /// Returns the content of a stored response if it is undamaged and can be read without access to the drive;
    /// otherwise `nil`.
    func readFromMemory(_ entry: DiskCacheEntry) -> CacheTierEntry? {
        guard entry.isInFile, let content = files.readFromMemory(entry),
            entry.contentChecksum(content) == entry.checksum
        else { return nil }
        return content
    }

    /// Returns the content of a stored response; `nil` if it is missing or damaged.
    func read(_ entry: DiskCacheEntry) throws -> CacheTierEntry? {
        let content = entry.isInFile ? try files.read(entry) : try readRow(entry)
        guard let content, entry.contentChecksum(content) == entry.checksum else { return nil }
        return content
    }

    private func readRow(_ entry: DiskCacheEntry) throws -> CacheTierEntry? {
        try database.unsafeRead { database in
            let statement = try database.cachedStatement(sql: "SELECT bytes FROM contents WHERE id = ?")
            guard let bytes = try Data.fetchOne(statement, arguments: [entry.id]), bytes.count == entry.contentByteCount
            else { return nil }
            return CacheTierEntry(
                metadata: Array(bytes.prefix(entry.metadataByteCount)),
                body: Array(bytes.dropFirst(entry.metadataByteCount)), kind: entry.kind)
        }
    }

    /// Writes the planned changes, and the sequence numbers of last uses by entry id, in one transaction.
    func write(_ plan: DiskCacheIndex.Plan, uses: [Int64: Int64]) throws {
        let large = plan.stored.filter(\.entry.isInFile)
        do {
            for (entry, content) in large { try files.create(content, entry.id) }
            try write(plan.stored, removing: plan.removed.map(\.id), uses: uses)
        } catch {
            for (entry, _) in large { files.remove(entry.id) }
            throw error
        }
        for entry in plan.removed where entry.isInFile {
            if !files.remove(entry.id) { throw FileFailure("remove a file", errno) }
        }
    }

    private func write(
        _ stored: [(entry: DiskCacheEntry, content: CacheTierEntry)], removing ids: [Int64], uses: [Int64: Int64]
    ) throws {
        // On a full disk, most clears fit into the write-ahead log. If not, `DiskCache` removes all files.
        try database.writeMakingRoom { database in
            for id in ids {
                for table in ["entries", "contents"] {
                    try database.cachedStatement(sql: "DELETE FROM \(table) WHERE id = ?").execute(arguments: [id])
                }
            }
            let insert = try database.cachedStatement(
                sql: "INSERT INTO entries (\(Self.columns)) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)")
            let fill = try database.cachedStatement(sql: "INSERT INTO contents VALUES (?, ?)")
            for (entry, content) in stored {
                try insert.execute(arguments: [
                    entry.id, Data(entry.key.bytes), entry.service, entry.endpoint, entry.account,
                    entry.target.map { Data($0.bytes) }, entry.metadataByteCount, entry.bodyByteCount,
                    Int64(bitPattern: entry.checksum), Int64(bitPattern: entry.seal), entry.lastUse,
                    entry.kind.name,
                ])
                if !entry.isInFile { try fill.execute(arguments: [entry.id, Data(content.metadata) + content.body]) }
            }
            let renew = try database.cachedStatement(sql: "UPDATE entries SET lastUse = ? WHERE id = ?")
            for (id, use) in uses { try renew.execute(arguments: [use, id]) }
        }
    }

    /// Overwrites deleted rows, also in the write-ahead log, and removes the files that were set aside. If no response
    /// is left, shrinks the database.
    func erase() throws {
        try database.moveLog()
        database.shrink(ifEmpty: "entries")
        let place = folder.appending(path: Self.setAsideName)
        if FileManager.default.fileExists(atPath: place.path) { try FileManager.default.removeItem(at: place) }
    }

    /// Limits the size of the database until it is closed, for tests of a full disk.
    func limit(toPages count: Int) throws {
        try database.writeWithoutTransaction { try $0.execute(sql: "PRAGMA max_page_count = \(count)") }
    }
}
