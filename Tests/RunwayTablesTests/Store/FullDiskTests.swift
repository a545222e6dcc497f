import Foundation
import GRDB
import Testing

@testable import RunwayTables

/// A store on a file system that is really full, which `Scripts/full-disk.sh` mounts.
@Suite(
    .enabled(if: ProcessInfo.processInfo.environment["RUNWAY_SMALL_DISKS"] != nil, "Scripts/full-disk.sh mounts it"),
    .timeLimit(.minutes(5)))
struct TablesFullDiskTests {
    private let disk = URL(filePath: ProcessInfo.processInfo.environment["RUNWAY_SMALL_DISKS"] ?? "")
        .appending(path: "tables")
    private var file: URL { disk.appending(path: "store/records.sqlite") }
    private var ballast: URL { disk.appending(path: "ballast") }

    private static let step = Step("texts", back: "UPDATE list SET name = ''") { database in
        try database.execute(
            sql: """
                UPDATE list SET name = printf('%.*c', 2000, 'x')
                WHERE id IN (SELECT id FROM list WHERE length(name) < 2000 LIMIT 100)
                """)
        return try Int.fetchOne(database, sql: "SELECT COUNT(*) FROM list WHERE length(name) < 2000") ?? 0
    }

    private func open(_ steps: Step...) async throws -> RecordStore {
        try await RecordStore.open(at: file, tables: [Tasks.self, Lists.self], migrations: Migrations(steps))
    }

    /// Takes all space but some.
    private func fill(leaving byteCount: Int) throws {
        try Data().write(to: ballast)
        let handle = try FileHandle(forWritingTo: ballast)
        while (try? handle.write(contentsOf: Data(count: 4096))) != nil {}
        try handle.truncate(atOffset: UInt64(max(0, Int(try handle.seekToEnd()) - byteCount)))
        try handle.close()
    }

    @Test func fullDisksStopMigrationsAndStagings() async throws {
        let first = try await open()
        let rows = (1...1500).map { list($0) }
        try await first.stage(rows)
        try await first.close()
        // A migration that needs 3 MB stops among its batches, and goes on when there is space.
        try fill(leaving: 1 << 20)
        for _ in 0..<2 { #expect(await kind { _ = try await open(Self.step) } == .full) }
        let old = try await open()
        #expect(try await old.read { try $0.count(Lists.self) } == 1500)
        try await old.close()
        try FileManager.default.removeItem(at: ballast)
        let new = try await open(Self.step)
        #expect(try await new.read { try $0.count(Lists.self, where: Lists.name_ == "it's new") } == 0)
        // A side file that does not fit leaves nothing.
        try fill(leaving: 1 << 20)
        // A transaction that does not fit leaves nothing, whether the rows come from the tables or from SQL of the app.
        let text = String(repeating: "z", count: 4 << 20)
        #expect(
            await kind { try await new.write { for id in 4001...4003 { _ = try $0.save(list(id, text)) } } } == .full)
        let sql = await kind {
            try await new.write { try $0.connection.execute(sql: "UPDATE list SET name = ?", arguments: [text]) }
        }
        #expect(sql == .full)
        #expect(try await new.read { try $0.count(Lists.self, where: Lists.id > 4000 || Lists.name_ == text) } == 0)
        try fill(leaving: 1 << 20)
        let large = (2001...3000).map { list($0, String(repeating: "y", count: 2000)) }
        #expect(await kind { _ = try await new.stage(large) } == .full)
        #expect(StoreFiles.stagings(of: file).isEmpty)
        #expect(try await new.read { try $0.count(Lists.self) } == 1500)
        // The space ends while its rows are moved.
        try fill(leaving: 12 << 20)
        let result = await kind {
            try await new.stage(large) { moved, _ in if moved < 100 { try? self.fill(leaving: 1 << 16) } }
        }
        #expect(result == .full && StoreFiles.stagings(of: file).count == 1)
        #expect(await kind { try await new.finishStaging() } == .full)
        try FileManager.default.removeItem(at: ballast)
        try await new.finishStaging()
        #expect(try await new.read { try $0.count(Lists.self) } == 2500)
        #expect(try await new.read { try String.fetchOne($0.connection, sql: "PRAGMA integrity_check") } == "ok")
        try await new.close()
    }
}
