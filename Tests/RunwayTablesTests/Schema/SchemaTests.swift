import Foundation
import GRDB
import RunwayTesting
import Testing

@testable import RunwayTables

struct SchemaTests {
    private let folder = ScratchFolder()

    @Test(arguments: [
        ("ALTER TABLE task ADD COLUMN extra TEXT", "The column task.extra is not declared."),
        ("ALTER TABLE task DROP COLUMN done", "There is no column task.done."),
        ("DROP INDEX taskByList", "There is no index taskByList on task as declared."),
        ("CREATE INDEX other ON task (title)", "The index other on task is not declared."),
        ("DROP TABLE list", "There is no table list."),
        (
            "DROP TABLE list; CREATE TABLE list (id INTEGER PRIMARY KEY, name BLOB NOT NULL DEFAULT 'it''s new') STRICT",
            "list.name is BLOB, and declared as TEXT."
        ),
        (
            "DROP TABLE list; CREATE TABLE list (id INTEGER PRIMARY KEY, name TEXT DEFAULT 'it''s new') STRICT",
            "list.name can be NULL, and is declared otherwise."
        ),
        (
            "DROP TABLE list; CREATE TABLE list (id INTEGER PRIMARY KEY, name TEXT NOT NULL DEFAULT 'new') STRICT",
            "list.name has another default than declared."
        ),
        (
            "DROP TABLE list; CREATE TABLE list (id INTEGER, name TEXT NOT NULL DEFAULT 'it''s new' PRIMARY KEY) STRICT",
            "The key of list is (name), and declared as (id)."
        ),
        (
            "DROP TABLE list; CREATE TABLE list (id INTEGER PRIMARY KEY, name TEXT NOT NULL DEFAULT 'it''s new')",
            "list is not STRICT, as declared."
        ),
        (Self.list("CHECK (id > 0)"), "list has a CHECK constraint, which is not declared."),
        (Self.list("COLLATE NOCASE"), "list has a COLLATE constraint, which is not declared."),
        (Self.list("UNIQUE"), "list has a UNIQUE constraint, which is not declared."),
    ])
    func differencesAreNamed(_ sql: String, _ sentence: String) async throws {
        try await folder.open().close()
        try folder.sql(sql)
        let error = await #expect(throws: TableError.self) { try await folder.open() }
        #expect(error?.kind == .differentSchema && error?.description == "records.sqlite: \(sentence)")
    }

    private static func list(_ constraint: String) -> String {
        """
        DROP TABLE list; CREATE TABLE "list" (id INTEGER PRIMARY KEY, -- CHECK
        name TEXT NOT NULL DEFAULT 'it''s new' /* UNIQUE
        */ \(constraint)) STRICT
        """
    }

    @Test func commentsAndTextsAreNoConstraints() async throws {
        try await folder.open().close()
        try folder.sql(Self.list(""))
        try await folder.open().close()
    }

    @Test func aFileStaysAsItIsDeclared() async throws {
        for _ in 0..<3 { try await folder.open().close() }
        let modes = ["", "-wal"].compactMap {
            try? FileManager.default.attributesOfItem(atPath: folder.file.path + $0)[.posixPermissions] as? Int
        }
        #expect(!modes.isEmpty && modes.allSatisfy { $0 == 0o600 })
        #expect(try FileManager.default.attributesOfItem(atPath: folder.url.path)[.posixPermissions] as? Int == 0o700)
    }

    @Test func filesOfAnAdoptedDatabaseBecomePrivate() async throws {
        try folder.sql("PRAGMA journal_mode = WAL; CREATE TABLE list (id INTEGER PRIMARY KEY, name TEXT)")
        let other = try DatabaseQueue(path: folder.file.path)
        try await other.write { try $0.execute(sql: "INSERT INTO list VALUES (1, 'in the log')") }
        let paths = ["", "-wal", "-shm"].map { folder.file.path + $0 }
        for path in paths { try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: path) }
        let store = try await folder.open([Lists.self]) { $0.adopting = .init() }
        for path in paths {
            #expect(try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int == 0o600)
        }
        #expect(try await store.read { try $0.count(Lists.self) } == 1)
    }

    @Test func aRefusedFileDoesNotChange() async throws {
        try folder.sql("CREATE TABLE task (id TEXT PRIMARY KEY); INSERT INTO task VALUES ('stays')")
        try FileManager.default.setAttributes([.posixPermissions: 0o640], ofItemAtPath: folder.file.path)
        let bytes = try Data(contentsOf: folder.file)
        #expect(await kind { _ = try await folder.open() } == .differentSchema)
        let unknown = await kind { _ = try await folder.open { $0.adopting = .init(userVersions: 1...2) } }
        #expect(unknown == .newerSchema)
        #expect(try Data(contentsOf: folder.file) == bytes)
        let mode = try FileManager.default.attributesOfItem(atPath: folder.file.path)[.posixPermissions]
        #expect(mode as? Int == 0o640)
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.url.path) == ["records.sqlite"])
    }

    /// What FMDB leaves: no journal of its own, dates in seconds, texts of UUIDs, a version of the app's own.
    @Test func aFileOfFMDBIsAdopted() async throws {
        try folder.sql(
            """
            CREATE TABLE task (id TEXT PRIMARY KEY, listId TEXT, title TEXT, done INTEGER, due REAL, legacy TEXT);
            INSERT INTO task VALUES ('\(UUID().uuidString)', '\(UUID().uuidString)', 'old', 1, 86400.5, 'x');
            PRAGMA user_version = 3
            """)
        #expect(await kind { _ = try await folder.open([Tasks.self]) } == .differentSchema)
        let unknown = await kind {
            _ = try await folder.open([Tasks.self]) { $0.adopting = .init(userVersions: 0...2) }
        }
        #expect(unknown == .newerSchema)
        let store = try await folder.open([Tasks.self]) { $0.adopting = .init(userVersions: 3...3) }
        let row = try #require(try await store.read { try $0.fetchFirst(Tasks.self) })
        #expect(row[Tasks.title] == "old" && row[Tasks.done] == true && row[Tasks.id] != nil)
        #expect(row[Tasks.due] == Date(timeIntervalSince1970: 86400.5))
        try await store.write { try $0.insert(task("new")) }
        #expect(try await store.read { try $0.count(Tasks.self) } == 2)
        let (legacy, version) = try await store.read { file in
            (
                try String.fetchOne(file.connection, sql: "SELECT legacy FROM task WHERE title = 'old'"),
                try Int.fetchOne(file.connection, sql: "PRAGMA user_version")
            )
        }
        #expect(legacy == "x" && version == 3)
    }

    @Test func anAdoptedFileNeedsEachDeclaredColumn() async throws {
        try folder.sql("CREATE TABLE list (id INTEGER PRIMARY KEY); INSERT INTO list VALUES (1)")
        let bytes = try Data(contentsOf: folder.file)
        do {
            _ = try await folder.open([Lists.self]) { $0.adopting = .init() }
            Issue.record("a table without a declared column is adopted")
        } catch let error as TableError {
            #expect(error.kind == .differentSchema && error.description.contains("name"))
        }
        #expect(try Data(contentsOf: folder.file) == bytes)
        let store = try await folder.open([Lists.self]) {
            $0.adopting = .init(preparing: "ALTER TABLE list ADD COLUMN name TEXT DEFAULT 'added'")
        }
        #expect(try await store.read { try $0.fetchFirst(Lists.self) }?[Lists.name_] == "added")
    }

    @Test func aFileOfGRDBIsAdopted() async throws {
        try FileManager.default.createDirectory(at: folder.url, withIntermediateDirectories: true)
        var migrator = DatabaseMigrator()
        migrator.registerMigration("v1") { database in
            try database.create(table: "list") { table in
                table.autoIncrementedPrimaryKey("id")
                table.column("name", .text).notNull()
            }
            try database.execute(sql: "INSERT INTO list (name) VALUES ('stays')")
        }
        let queue = try DatabaseQueue(path: folder.file.path)
        try migrator.migrate(queue)
        try queue.close()
        let steps = Migrations(
            Step("count", sql: "ALTER TABLE list ADD COLUMN count INTEGER", back: "ALTER TABLE list DROP COLUMN count"))
        let store = try await folder.open([Lists.self], steps) { $0.adopting = .init() }
        #expect(try await store.read { try $0.fetchFirst(Lists.self) }?[Lists.name_] == "stays")
        let applied = try await store.read {
            try String.fetchAll($0.connection, sql: "SELECT identifier FROM grdb_migrations")
        }
        #expect(Set(applied) == ["v1", "runway.count"])
    }

    /// CTPersistance keeps its version in a table, and its keys as integers.
    @Test func aFileOfCTPersistanceIsAdopted() async throws {
        try folder.sql(
            """
            CREATE TABLE kCTPersistanceVersionTableName (identifier INTEGER PRIMARY KEY AUTOINCREMENT, databaseVersion TEXT);
            INSERT INTO kCTPersistanceVersionTableName (databaseVersion) VALUES ('2.1');
            CREATE TABLE list (id INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT);
            INSERT INTO list (name) VALUES ('stays')
            """)
        let store = try await folder.open([Lists.self]) {
            $0.adopting = .init(preparing: "DROP TABLE kCTPersistanceVersionTableName")
        }
        #expect(try await store.read { try $0.fetchFirst(Lists.self) }?[Lists.name_] == "stays")
        #expect(try await store.read { try $0.connection.tableExists("kCTPersistanceVersionTableName") } == false)
    }
}
