import Foundation
import GRDB
import Testing

@testable import RunwayServerStorage

/// What SQLite is asked to flush. Only Apple's systems have more than one way to do it; the settings are SQLite's everywhere.
struct DurabilityTests {
    private let folder = ScratchFolder()

    private func setting(_ name: String, _ database: Database) throws -> Int? {
        try Int.fetchOne(database, sql: "PRAGMA \(name)")
    }

    @Test(arguments: [(true, 2, 1), (false, 1, 0)])
    func commitsAreFlushedBeyondTheDrivesOwnMemory(waitsForDrive: Bool, synchronous: Int, fullfsync: Int) throws {
        let database = try ServerDatabase(at: folder.file, ActionLogFile.schema, waitsForDrive: waitsForDrive)
        try database.write { database in
            #expect(try setting("synchronous", database) == synchronous)
            #expect(try setting("fullfsync", database) == fullfsync)
            #expect(try setting("checkpoint_fullfsync", database) == 1)
        }
        try database.close()
    }

    @Test func eventsAreFlushedBeyondTheDrivesOwnMemory() async throws {
        try FileManager.default.createDirectory(at: folder.url, withIntermediateDirectories: true)
        let log = try SQLiteEventLog(file: folder.file)
        try await log.database.read { database in
            #expect(try setting("synchronous", database) == 2)
            #expect(try setting("fullfsync", database) == 1)
            #expect(try setting("checkpoint_fullfsync", database) == 1)
        }
    }
}
