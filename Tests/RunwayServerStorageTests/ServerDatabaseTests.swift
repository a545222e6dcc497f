import Foundation
import GRDB
import RunwaySQLite
import Synchronization
import Testing

@testable import RunwayServerStorage

/// What a file of a server does on a disk that is full.
struct ServerDatabaseTests {
    private static let schema = ServerDatabase.Schema(
        applicationID: 7, tables: "CREATE TABLE item (bytes BLOB NOT NULL)")

    /// Writes 20 MB in small transactions, and returns the most bytes that the write-ahead log had.
    private func fill(_ database: ServerDatabase) throws -> Int {
        let bytes = Data(repeating: 7, count: 10_000)
        var largest = 0
        for _ in 0..<200 {
            try database.write { database in
                for _ in 0..<10 { try database.execute(sql: "INSERT INTO item VALUES (?)", arguments: [bytes]) }
            }
            largest = max(largest, database.logByteCount)
        }
        return largest
    }

    /// See `docs/decisions/0081-size-of-the-log.md`.
    @Test func logIsBoundedUnderSteadyWriting() throws {
        let folder = ScratchFolder()
        let database = try ServerDatabase(at: folder.file, Self.schema, waitsForDrive: false)
        let largest = try fill(database)
        #expect((1 << 20...5 << 20).contains(largest), "\(largest)")
        try database.close()
    }

    @Test func slowReaderBlocksNoWriterAndLogShrinks() throws {
        let folder = ScratchFolder()
        let database = try ServerDatabase(
            at: folder.file, Self.schema, waitsForDrive: false, bound: LogBound(byteCount: 5 << 20), busyTimeout: 0.01)
        var configuration = Configuration()
        configuration.readonly = true
        let reader = try DatabaseQueue(path: folder.file.path, configuration: configuration)
        try reader.read { snapshot in
            _ = try Int.fetchOne(snapshot, sql: "SELECT count(*) FROM item")
            #expect(try fill(database) > 16 << 20)
            #expect(try Int.fetchOne(snapshot, sql: "SELECT count(*) FROM item") == 0)
        }
        #expect(try fill(database) > 16 << 20)
        #expect(database.logByteCount <= 5 << 20)
        #expect(try database.write { try Int.fetchOne($0, sql: "SELECT count(*) FROM item") } == 4000)
        try database.close()
    }

    /// Has a reader prevent that the log is moved.
    private func overwrite(_ database: ServerDatabase, besideAReaderOf file: URL) throws {
        var configuration = Configuration()
        configuration.readonly = true
        let reader = try DatabaseQueue(path: file.path, configuration: configuration)
        try reader.read { snapshot in
            _ = try Int.fetchOne(snapshot, sql: "SELECT count(*) FROM item")
            try database.write { try $0.execute(sql: "INSERT INTO item VALUES (x'00')") }
            database.overwriteRemovedBytes()
            #expect(database.logByteCount > 0)
        }
        try reader.close()
    }

    @Test(.timeLimit(.minutes(5))) func moveOfRemovedBytesWaitsForNoReader() throws {
        let folder = ScratchFolder()
        let database = try ServerDatabase(
            at: folder.file, Self.schema, waitsForDrive: false, busyTimeout: 3600, overwriteInterval: .zero)
        try overwrite(database, besideAReaderOf: folder.file)
        // The next transaction moves them, and other locks are waited for as before.
        #expect(try database.write { try Int.fetchOne($0, sql: "PRAGMA busy_timeout") } == 3_600_000)
        #expect(database.logByteCount == 0)
        try database.close()
    }

    @Test func preventedMoveWaitsForTheLogBound() throws {
        let folder = ScratchFolder()
        let database = try ServerDatabase(
            at: folder.file, Self.schema, waitsForDrive: false, bound: LogBound(byteCount: 1 << 20),
            overwriteInterval: .seconds(86_400))
        try overwrite(database, besideAReaderOf: folder.file)
        try database.write { try $0.execute(sql: "INSERT INTO item VALUES (x'00')") }
        #expect(database.logByteCount > 0 && database.overwriteTime.withLock { $0 } != nil)
        try database.write { try $0.execute(sql: "INSERT INTO item VALUES (zeroblob(2000000))") }
        #expect(database.logByteCount == 0 && database.overwriteTime.withLock { $0 } == nil)
        try database.close()
    }

    @Test func openingMovesWhatTheLastProcessLeft() throws {
        let folder = ScratchFolder()
        let first = try ServerDatabase(at: folder.file, Self.schema, waitsForDrive: false)
        try first.write { try $0.execute(sql: "INSERT INTO item VALUES (x'00')") }
        var configuration = Configuration()
        configuration.readonly = true
        // While another connection is open, closing one moves nothing.
        let reader = try DatabaseQueue(path: folder.file.path, configuration: configuration)
        #expect(try reader.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM item") } == 1)
        try first.close()
        #expect(SQLiteFile.logByteCount(of: folder.file) > 0)
        let second = try ServerDatabase(at: folder.file, Self.schema, waitsForDrive: false)
        #expect(second.logByteCount == 0)
        try reader.close()
        try second.close()
    }

    @Test func failedMoveIsRetriedWhenTheLogDoubles() {
        var bound = LogBound(byteCount: 100)
        #expect(!bound.isExceeded(by: 100) && bound.isExceeded(by: 101))
        bound.didMove(false)
        #expect(!bound.isExceeded(by: 200) && bound.isExceeded(by: 201))
        bound.didMove(false)
        #expect(!bound.isExceeded(by: 400))
        bound.didMove(true)
        #expect(bound.isExceeded(by: 101))
        bound = LogBound(byteCount: .max)
        bound.didMove(false)
        #expect(!bound.isExceeded(by: .max))
    }

    @Test func fullDiskMovesTheWALAndRetriesOnce() throws {
        let folder = ScratchFolder()
        let schema = ServerDatabase.Schema(
            applicationID: 7, tables: "CREATE TABLE item (number INTEGER NOT NULL UNIQUE)")
        let database = try ServerDatabase(at: folder.file, schema, waitsForDrive: false)
        func logByteCount() throws -> Int { try Data(contentsOf: URL(filePath: folder.file.path + "-wal")).count }
        try database.write { try $0.execute(sql: "INSERT INTO item VALUES (1)") }
        #expect(try logByteCount() > 0)
        var attempts = 0
        try database.write { database in
            attempts += 1
            try database.execute(sql: "INSERT INTO item VALUES (2)")
            if attempts == 1 { throw DatabaseError(resultCode: .SQLITE_FULL) }
            #expect(try logByteCount() == 0)
        }
        #expect(attempts == 2)
        #expect(try database.write { try Int.fetchAll($0, sql: "SELECT number FROM item ORDER BY number") } == [1, 2])
        #expect {
            try database.write { _ in
                attempts += 1
                throw DatabaseError(resultCode: .SQLITE_FULL)
            }
        } throws: {
            ($0 as? ServerStorageError)?.kind == .full
        }
        #expect(attempts == 4)
        try database.close()
    }
}
