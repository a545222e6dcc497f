import Foundation
import GRDB
import Testing

@testable import RunwayTables

/// The film of a release without stills, and a table that this release does not know.
private enum FirstFilms: RunwayTables.TableDefinition {
    static let name = "film"
    static let id = Column<Int>("id"), poster = Column<StoredFile?>("poster")
    static let columns = TableColumns<Self>(id, poster)
}

struct FileSweepTests {
    private let folder = ScratchFolder()
    private func open() async throws -> RecordStore { try await folder.open([Films.self]) }

    private func add(_ name: String) throws { try Data().write(to: folder.files.appending(path: name)) }

    @Test func anOpeningRemovesWhatNoRowNames() async throws {
        let store = try await open()
        let poster = try await store.saveFilm(1, "poster")
        try await store.close()
        let draft = UUID().uuidString.lowercased()
        for name in [draft, "\(draft)-0", "note.txt"] { try add(name) }
        _ = try await open()
        // A file of somebody else stays.
        #expect(try folder.fileNames == [poster.name, "note.txt"].sorted())
    }

    @Test func filesOfAnOpenStoreAreNotSwept() async throws {
        let store = try await open()
        let poster = try await store.withFile(Data("first".utf8)) { poster in
            let second = try await open()
            #expect(try await second.text(of: poster) == "first")
            // Its removals have no effect on the file, either.
            try await second.saveFilm(2, "second")
            try await second.write { _ = try $0.delete(Films.self, where: nil) }
            try await store.write { _ = try $0.save(film(1, poster)) }
            return poster
        }
        #expect(try await store.text(of: poster) == "first")
        #expect(try folder.fileNames == [poster.name])
    }

    @Test func youngFilesOfAppGroupsAreNotSwept() async throws {
        // Where nothing is locked, the age in the name decides.
        let group = folder.url.appending(path: "Containers/Shared/AppGroup/records.sqlite")
        let store = try await RecordStore.open(at: group, tables: [Films.self])
        try await store.close()
        let files = StoreFiles.filesFolder(of: group)
        let old = StoredFile.start(of: Date(timeIntervalSinceNow: -90_000)) + "-7000-8000-000000000000"
        let young = StoredFile.newID().uuidString.lowercased()
        for name in [old, young, "\(old)-0", "\(young)-0"] { try Data().write(to: files.appending(path: name)) }
        _ = try await RecordStore.open(at: group, tables: [Films.self])
        let names = try FileManager.default.contentsOfDirectory(atPath: files.path).sorted()
        #expect(names == [young, "\(young)-0", "lock"])
    }

    @Test func filesOfStagedRowsAreNotSwept() async throws {
        let store = try await open()
        let staging = URL(fileURLWithPath: folder.file.path + "-staging-\(UUID())")
        let poster = try await store.withFile(Data("staged".utf8)) { poster in
            try Data().write(to: staging)
            return poster
        }
        try await store.close()
        let again = try await open()
        #expect(try await again.text(of: poster) == "staged")
        try await again.close()
        try FileManager.default.removeItem(at: staging)
        _ = try await open()
        #expect(try folder.fileNames.isEmpty)
    }

    @Test func stagedRowsHaveTheirFiles() async throws {
        let store = try await open()
        let poster = try await store.withFile(Data("staged".utf8)) { poster in
            _ = try await store.stage([Draft(film(1, poster)), Draft(film(2, poster))])
            return poster
        }
        #expect(try await store.text(of: poster) == "staged")
        try await store.write { _ = try $0.delete(Films.self, where: nil) }
        #expect(try folder.fileNames.isEmpty)
        #expect(await kind { _ = try await store.stage([Draft(film(3, poster))]) } == .rejected)
    }

    @Test func aStoreOfFewerTablesRemovesNoFiles() async throws {
        let store = try await folder.open([Films.self, Lists.self])
        let poster = try await store.saveFilm(1, "poster")
        try await store.close()
        let other = try await folder.open([Lists.self])
        #expect(try folder.fileNames == [poster.name])
        // Its SQL is counted all the same.
        try await other.write { try $0.connection.execute(sql: "DELETE FROM film") }
        #expect(try folder.fileNames.isEmpty)
    }

    @Test func aRemovalThatWasInterruptedIsFinished() async throws {
        let store = try await open()
        try await store.saveFilm(1, "poster")
        // As another program does, which only the triggers notice.
        try folder.sql("DELETE FROM film")
        #expect(try folder.fileNames.count == 1)
        try await store.write { _ = try $0.save(film(2)) }
        #expect(try folder.fileNames.isEmpty)
        #expect(try await store.read { try Int.fetchOne($0.connection, sql: "SELECT COUNT(*) FROM runway_file") } == 0)
    }

    @Test(arguments: ["X'61FF62'", "CAST('{poster}' AS BLOB) || X'00'"])
    func malformedNamesAreForgotten(text: String) async throws {
        let store = try await open()
        let poster = try await store.saveFilm(1, "poster")
        let name = text.replacing("{poster}", with: poster.name)
        try folder.sql("INSERT INTO film (id, still) VALUES (2, CAST(\(name) AS TEXT)); DELETE FROM film WHERE id = 2")
        _ = try await store.queue().write { try store.files.removeUnnamed(in: $0) }
        #expect(try await store.queue().write { try store.files.removeUnnamed(in: $0) } == 0)
        #expect(try await store.read { try FileCounts.unnamedCount(in: $0.connection) } == 0)
        // A cut text is the name of a file that a row names.
        #expect(try await store.text(of: poster) == "poster")
    }

    @Test(arguments: [
        "BEFORE DELETE ON runway_file BEGIN SELECT RAISE(IGNORE); END",
        "AFTER DELETE ON runway_file BEGIN INSERT INTO runway_file VALUES (OLD.name, 0); END",
    ])
    func triggersOfTheFileEndRemovals(trigger: String) async throws {
        let store = try await open()
        try await store.saveFilm(1, "poster")
        try folder.sql("CREATE TRIGGER hostile \(trigger); DELETE FROM film")
        #expect(try await store.queue().write { try store.files.removeUnnamed(in: $0) } == 0)
        #expect(try folder.fileNames.isEmpty)
    }

    @Test func triggerNamesOfTheFileAreNotExecuted() async throws {
        let store = try await open()
        let poster = try await store.saveFilm(1, "poster")
        try await store.close()
        let other = folder.url.appending(path: "other")
        let name = "runway_file_z\"\"; ATTACH '\(other.path)' AS other; CREATE TABLE other.stolen (id); --"
        for name in [name, "runway_file_z"] {
            try folder.sql("CREATE TRIGGER \"\(name)\" AFTER INSERT ON film BEGIN SELECT 1; END")
        }
        let again = try await folder.open([Films.self], Migrations(Step("step", sql: "", back: nil)))
        #expect(!FileManager.default.fileExists(atPath: other.path))
        #expect(try await again.text(of: poster) == "poster")
    }

    @Test func stepsAndWaysBackCountFilesAnew() async throws {
        let adding = Step(
            "stills", sql: "ALTER TABLE film ADD COLUMN still TEXT; UPDATE film SET still = poster",
            back: "ALTER TABLE film DROP COLUMN still")
        let first = try await folder.open([FirstFilms.self])
        let (one, two) = (try await first.saveFirst(1, "one"), try await first.saveFirst(2, "two"))
        try await first.close()
        let second = try await folder.open([Films.self], Migrations(adding))
        try await second.write { _ = try $0.save(film(1)) }
        try await second.write { try $0.connection.execute(sql: "UPDATE film SET poster = NULL") }
        #expect(try folder.fileNames == [two.name])
        try await second.write { _ = try $0.save(film(3, two)) }
        try await second.close()
        let back = try await folder.open([FirstFilms.self])
        #expect(try await back.text(of: two) == "two")
        try await back.write { _ = try $0.delete(FirstFilms.self, where: nil) }
        #expect(try folder.fileNames.isEmpty)
        #expect(await kind { _ = try await back.url(of: one) } == .fileUnreadable)
    }

    @Test func aRemadeTableKeepsItsFiles() async throws {
        let first = try await open()
        let poster = try await first.saveFilm(1, "poster")
        try await first.saveFilm(2, "dropped")
        try await first.close()
        let remaking = Step(
            "remake",
            sql: """
                CREATE TABLE other (id INTEGER PRIMARY KEY, poster TEXT, still TEXT) STRICT;
                INSERT INTO other SELECT * FROM film WHERE id = 1; DROP TABLE film; ALTER TABLE other RENAME TO film
                """, back: nil)
        let store = try await folder.open([Films.self], Migrations(remaking))
        #expect(try folder.fileNames == [poster.name])
        try await store.write { _ = try $0.delete(Films.self, where: nil) }
        #expect(try folder.fileNames.isEmpty)
    }

    @Test func manyFilesAreSweptInBoundedTime() async throws {
        let store = try await open()
        try await store.close()
        for _ in 0..<2000 { try add("\(UUID().uuidString.lowercased())-0") }
        _ = try await open()
        #expect(try folder.fileNames.isEmpty)
    }
}

extension RecordStore {
    fileprivate func saveFirst(_ id: Int, _ bytes: String) async throws -> StoredFile {
        try await withFile(Data(bytes.utf8)) { poster in
            var values = Values<FirstFilms>()
            values[FirstFilms.id] = id
            values[FirstFilms.poster] = poster
            let row = values
            try await write { _ = try $0.save(row) }
            return poster
        }
    }
}
