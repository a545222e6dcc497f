import Foundation
import GRDB
import Runway
import Testing

@testable import RunwayTables

struct StoredFileTests {
    private let folder = ScratchFolder()
    private func open() async throws -> RecordStore { try await folder.open([Films.self]) }

    @Test func aFileIsWholeBeforeItsRow() async throws {
        let store = try await open()
        try await store.withFile(Data("poster".utf8)) { poster in
            #expect(poster.byteCount == 6)
            #expect(try await store.text(of: poster) == "poster")
            #expect(try await store.posters().isEmpty)
            try await store.write { _ = try $0.save(film(1, poster)) }
        }
        let poster = try #require(try await store.posters().first)
        #expect(try Data(contentsOf: try await store.url(of: poster)) == Data("poster".utf8))
        #expect(try folder.fileNames == [poster.name])
    }

    @Test func filesArePrivate() async throws {
        let store = try await open()
        let source = folder.url.appending(path: "source")
        try Data("moved".utf8).write(to: source)
        try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: source.path)
        let written = try await store.saveFilm(1, "poster")
        let moved = try await store.withFile(moving: source) { file in
            try await store.write { _ = try $0.save(film(2, file)) }
            return file
        }
        for (path, mode) in [(folder.files, 0o700), (folder.path(written), 0o600), (folder.path(moved), 0o600)] {
            let attributes = try FileManager.default.attributesOfItem(atPath: path.path)
            #expect(attributes[.posixPermissions] as? Int == mode)
        }
    }

    @Test func aRollbackRemovesItsFile() async throws {
        let store = try await open()
        await #expect(throws: Refusal.self) {
            try await store.withFile(Data("lost".utf8)) { poster in
                try await store.write { file in
                    try file.save(film(1, poster))
                    throw Refusal()
                }
            }
        }
        try await store.withFile(Data("unused".utf8)) { _ in }
        #expect(try folder.fileNames.isEmpty)
    }

    @Test func aCancelledTaskLeavesNoFile() async throws {
        let store = try await open()
        let task = Task {
            try await store.withFile(Data("lost".utf8)) { poster in
                withUnsafeCurrentTask { $0?.cancel() }
                try await store.write { _ = try $0.save(film(1, poster)) }
            }
        }
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(try folder.fileNames.isEmpty)
    }

    @Test func aDeletedRowTakesItsFileAlong() async throws {
        let store = try await open()
        let poster = try await store.saveFilm(1, "poster")
        let reader = try FileHandle(forReadingFrom: try await store.url(of: poster))
        try await store.write { _ = try $0.delete(Films.self, where: Films.id == 1) }
        #expect(try folder.fileNames.isEmpty)
        #expect(await kind { _ = try await store.url(of: poster) } == .fileUnreadable)
        // A program that has it open reads to its end.
        #expect(try reader.readToEnd() == Data("poster".utf8))
    }

    @Test func aDeleteThatFailsKeepsTheFile() async throws {
        let store = try await open()
        let poster = try await store.saveFilm(1, "poster")
        let path = folder.path(poster).path
        await #expect(throws: Refusal.self) {
            try await store.write { file in
                try file.delete(Films.self, where: nil)
                #expect(FileManager.default.fileExists(atPath: path))
                throw Refusal()
            }
        }
        #expect(try await store.text(of: poster) == "poster")
    }

    @Test func anotherFileTakesThePlaceOfTheFirst() async throws {
        let store = try await open()
        try await store.saveFilm(1, "old")
        let new = try await store.saveFilm(1, "new")
        #expect(try folder.fileNames == [new.name])
        #expect(try await store.write { try $0.updateAll(film(1).without(Films.id), where: nil) } == 1)
        #expect(try folder.fileNames.isEmpty)
    }

    @Test func theSecondRowKeepsASharedFile() async throws {
        let store = try await open()
        let poster = try await store.saveFilm(1, "shared")
        try await store.write { file in
            try file.save(film(2, nil, still: poster))
            try file.save(film(3, poster, still: poster))
            try file.delete(Films.self, where: Films.id == 1)
        }
        try await store.write { _ = try $0.save(film(2)) }
        try await store.write { _ = try $0.save(film(3, nil, still: poster)) }
        #expect(try await store.text(of: poster) == "shared")
        try await store.write { _ = try $0.save(film(3)) }
        #expect(try folder.fileNames.isEmpty)
    }

    @Test func sqlOfTheAppIsCountedToo() async throws {
        let store = try await open()
        let posters = [try await store.saveFilm(1, "one"), try await store.saveFilm(2, "two")]
        try await store.write { file in
            try file.connection.execute(sql: "INSERT INTO film SELECT id + 10, poster, NULL FROM film")
            try file.connection.execute(sql: "DELETE FROM film WHERE id < 10")
        }
        #expect(try folder.fileNames.count == 2)
        // The statement deletes a row, and its conflict clause holds inside triggers.
        try await store.write {
            try $0.connection.execute(
                sql: "INSERT OR REPLACE INTO film VALUES (11, ?, NULL)", arguments: [posters[1].name])
        }
        #expect(try folder.fileNames == [posters[1].name])
        try await store.write { try $0.connection.execute(sql: "DELETE FROM film") }
        #expect(try folder.fileNames.isEmpty)
    }

    @Test func manyFilesGoWithTheirRows() async throws {
        let store = try await folder.open([Films.self]) { $0.survivesPowerLoss = false }
        for id in 0..<1200 { try await store.saveFilm(id, "\(id)") }
        try await store.write { _ = try $0.delete(Films.self, where: Films.id != 7) }
        #expect(try folder.fileNames.count == 1)
    }

    @Test func aDamagedFileIsOneClearError() async throws {
        let store = try await open()
        for damage in ["removed", "cut", "link", "folder"] {
            let poster = try await store.saveFilm(1, "poster")
            let path = folder.path(poster)
            try FileManager.default.removeItem(at: path)
            switch damage {
            case "cut": try Data("post".utf8).write(to: path)
            case "link": try FileManager.default.createSymbolicLink(at: path, withDestinationURL: folder.file)
            case "folder": try FileManager.default.createDirectory(at: path, withIntermediateDirectories: false)
            default: break
            }
            #expect(await kind { _ = try await store.url(of: poster) } == .fileUnreadable, "\(damage)")
            #expect(await kind { _ = try await store.text(of: poster) } == .fileUnreadable, "\(damage)")
            // The row of a lost file can still be changed.
            try await store.write { _ = try $0.save(film(1, poster, still: poster)) }
        }
    }

    @Test func aFileCutWhileReadIsNoticed() async throws {
        let store = try await open()
        let poster = try await store.saveFilm(1, String(repeating: "x", count: 200_000))
        let path = folder.path(poster)
        let result = await kind {
            for try await _ in store.bytes(of: poster) {
                try FileHandle(forUpdating: path).truncate(atOffset: 100_000)
            }
        }
        #expect(result == .fileUnreadable)
    }

    @Test func aFileOfAnotherStoreIsRefused() async throws {
        let (store, other) = (try await open(), ScratchFolder())
        let foreign = try await other.open([Films.self]).saveFilm(1, "foreign")
        #expect(await kind { _ = try await store.write { try $0.save(film(1, foreign)) } } == .rejected)
        let outlived = try await store.withFile(Data("short".utf8)) { $0 }
        #expect(await kind { _ = try await store.write { try $0.save(film(1, outlived)) } } == .rejected)
        let plain = try await ScratchFolder().open()
        #expect(await kind { try await plain.withFile(Data()) { _ in } } == .rejected)
    }

    @Test(arguments: [
        "../outside", "/etc/passwd", "", "lock", "00000000-0000-4000-8000-000000000000",
        "00000000-0000-4000-8000-000000000000-+5", "00000000-0000-4000-8000-000000000000--5",
        "00000000-0000-4000-8000-000000000000-05", "00000000-0000-4000-8000-000000000000/5",
        "00000000-0000-4000-8000-00000000000A-5", "00000000-0000-4000-8000-000000000000-5/..",
        "00000000-0000-4000-8000-000000000000-99999999999999999999",
    ])
    func aHostileNameIsNoFile(_ name: String) async throws {
        #expect(StoredFile(name: name) == nil)
        let outside = folder.url.appending(path: "outside")
        let store = try await open()
        try Data("mine".utf8).write(to: outside)
        try await store.write { file in
            try file.connection.execute(sql: "INSERT INTO film VALUES (1, ?, NULL)", arguments: [name])
        }
        #expect(try await store.posters().isEmpty)
        try await store.write { _ = try $0.delete(Films.self, where: nil) }
        #expect(try Data(contentsOf: outside) == Data("mine".utf8))
        #expect(FileManager.default.fileExists(atPath: folder.files.appending(path: "lock").path))
    }

    @Test func aClosedStoreMakesNoFile() async throws {
        let store = try await open()
        try await store.close()
        let result = await kind { try await store.withFile(Data()) { _ in _ = Issue.record("was made") } }
        #expect(result == .unavailable)
        #expect(try folder.fileNames.isEmpty)
    }

    @Test(arguments: [false, true]) func aCloseRemovesFilesWithoutRows(_ isForced: Bool) async throws {
        let store = try await open()
        let result = await kind {
            try await store.withFile(Data("lost".utf8)) { poster in
                try await isForced ? store.closeConnection() : store.close()
                #expect(try folder.fileNames.isEmpty)
                try await store.write { _ = try $0.save(film(1, poster)) }
            }
        }
        #expect(result == .unavailable)
        #expect(try folder.fileNames.isEmpty)
    }

    @Test(arguments: [false, true]) func aCloseKeepsFilesWithRows(_ isForced: Bool) async throws {
        let store = try await open()
        let poster = try await store.withFile(Data("poster".utf8)) { poster in
            try await store.write { _ = try $0.save(film(1, poster)) }
            try await store.withFile(Data("loose".utf8)) { _ in
                try await isForced ? store.closeConnection() : store.close()
                #expect(try folder.fileNames == [poster.name])
            }
            return poster
        }
        #expect(try await open().text(of: poster) == "poster")
    }

    @Test func aDraftDoesNotOutliveTheClose() async throws {
        let store = try await open()
        let parts = AsyncStream<[UInt8]> {
            try? await store.close()
            return nil
        }
        #expect(await kind { try await store.withFile(from: parts) { _ in } } == .unavailable)
        #expect(try folder.fileNames.isEmpty)
    }

    @Test func aCancelledCloseLetsOthersSweep() async throws {
        let store = try await open()
        let closing = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            try await store.close()
        }
        try await closing.value
        try Data().write(to: folder.path(StoredFile(id: UUID(), byteCount: 0)))
        _ = try await open()
        #expect(try folder.fileNames.isEmpty)
        // The first store is still there.
        #expect(await kind { _ = try await store.posters() } == .unavailable)
    }

    @Test func setAsideAndBegunAnewIncludeTheFolder() async throws {
        let poster = try await open().saveFilm(1, "poster")
        try Data(repeating: 0x41, count: 8192).write(to: folder.file)
        for ending in ["-wal", "-shm"] { try? FileManager.default.removeItem(atPath: folder.file.path + ending) }
        let second = try await folder.open([Films.self]) { $0.recover = { _ in .setAside } }
        let aside = StoreFiles.filesFolder(of: try #require(second.setAside)).appending(path: poster.name)
        #expect(try Data(contentsOf: aside) == Data("poster".utf8))
        try await second.saveFilm(1, "again")
        try await second.close()
        try Data(repeating: 0x41, count: 8192).write(to: folder.file)
        _ = try await folder.open([Films.self]) { $0.recover = { _ in .beginAnew } }
        #expect(try folder.fileNames.isEmpty)
        #expect(try Data(contentsOf: aside) == Data("poster".utf8))
    }

    @Test func aStoreThatOnlyReadsRemovesNothing() async throws {
        let first = try await open()
        let poster = try await first.saveFilm(1, "poster")
        try await first.close()
        let stray = folder.path(StoredFile(id: UUID(), byteCount: 0))
        try Data().write(to: stray)
        try folder.sql("ALTER TABLE film ADD COLUMN unknown TEXT")
        let store = try await folder.open([Films.self]) { $0.recover = { _ in .readOnly } }
        #expect(store.isReadOnly)
        #expect(try await store.text(of: poster) == "poster")
        #expect(await kind { try await store.withFile(Data()) { _ in } } == .readOnly)
        #expect(FileManager.default.fileExists(atPath: stray.path))
    }
}

extension Values {
    fileprivate func without<Value>(_ column: TableColumn<Table, Value>) -> Values {
        var values = self
        values.remove(column)
        return values
    }
}
