import Foundation
import GRDB
import Testing

@testable import RunwayServerStorage

/// What a file of a server does on a disk that is full.
struct ServerDatabaseTests {
    @Test func fullDiskMovesTheWriteAheadLogAndTriesAgain() throws {
        let folder = ScratchFolder()
        let schema = ServerDatabase.Schema(
            applicationID: 7, version: 1, tables: "CREATE TABLE item (number INTEGER NOT NULL UNIQUE)")
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
