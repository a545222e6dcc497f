import Foundation
import GRDB
import Testing

@testable import RunwayServerStorage

/// What SQLite is asked to flush. Only Apple's systems have more than one way to do it; the settings are SQLite's everywhere.
struct DurabilityTests {
    private let folder = ScratchFolder()

    private static func settings(_ database: Database) throws -> [Int?] {
        try ["synchronous", "fullfsync", "checkpoint_fullfsync"].map {
            try Int.fetchOne(database, sql: "PRAGMA \($0)")
        }
    }

    @Test(arguments: [(true, [2, 1, 1]), (false, [1, 0, 1])])
    func commitsAreFlushedBeyondTheDrivesOwnMemory(waitsForDrive: Bool, settings: [Int?]) throws {
        let database = try ServerDatabase(at: folder.file, ActionLogFile.schema, waitsForDrive: waitsForDrive)
        #expect(try database.write { try Self.settings($0) } == settings)
        try database.close()
    }

    @Test func eventsAreFlushedBeyondTheDrivesOwnMemory() async throws {
        try FileManager.default.createDirectory(at: folder.url, withIntermediateDirectories: true)
        let log = try SQLiteEventLog(file: folder.file)
        let settings = try await log.database.read { try Self.settings($0) }
        #expect(settings == [2, 1, 1])
    }
}
