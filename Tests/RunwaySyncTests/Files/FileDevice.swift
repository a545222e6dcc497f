import Foundation
import GRDB
import Runway
import RunwaySync
import RunwayTables

/// A device that has pictures of one list.
final class FileDevice: Sendable {
    static let list = UUID(number: 1)

    let folder: TemporaryFolder
    let store: RecordStore
    let engine: SyncEngine

    init(_ server: FileServer, in folder: TemporaryFolder? = nil) async throws {
        self.folder = try folder ?? TemporaryFolder()
        store = try await RecordStore.open(at: self.folder.file, tables: [Pictures.self])
        engine = try await SyncEngine(
            store, over: server.makeNetwork(), service: Backend.self, eventsPath: "events",
            maximumFileByteCount: 64 << 20)
        try await engine.join(Self.list)
    }

    /// Saves bytes as the file of a picture.
    @discardableResult
    func save(_ bytes: Data, of id: UUID, in list: UUID = FileDevice.list) async throws -> StoredFile {
        try await store.withFile(bytes) { file in
            var picture = Values<Pictures>()
            (picture[Pictures.id], picture[Pictures.list], picture[Pictures.file]) = (id, list, file)
            let saved = picture
            try await store.write { try $0.save(saved) }
            return file
        }
    }

    /// Names a file in a row, as another program than the app does.
    func insert(naming name: String, of id: UUID, in list: UUID = FileDevice.list) async throws {
        try await store.write { file in
            try file.connection.execute(
                sql: "INSERT INTO picture (id, listId, file) VALUES (?, ?, ?)",
                arguments: [Data(id), Data(list), name])
        }
    }

    /// Names another file in a row, as another program than the app does.
    func update(naming name: String, of id: UUID) async throws {
        try await store.write { file in
            try file.connection.execute(
                sql: "UPDATE picture SET file = ? WHERE id = ?", arguments: [name, Data(id)])
        }
    }

    func delete(_ id: UUID) async throws {
        try await store.write { _ = try $0.delete(Pictures.self, where: Pictures.id == id) }
    }

    /// Waits until the file of a picture has a status.
    @MainActor @discardableResult
    func wait(for id: UUID, until isReached: @escaping (FileSyncStatus) -> Bool) async throws -> StoredFile {
        let statuses = store.observe { reader in
            let picture = try reader.fetchFirst(Pictures.self, where: Pictures.id == id)
            return try (picture?[Pictures.file] ?? nil).map { file in
                Pair(file: file, status: try reader.syncStatus(of: file, in: Self.list))
            }
        }
        for try await pair in statuses {
            if let pair, isReached(pair.status) { return pair.file }
        }
        throw CancellationError()
    }

    private struct Pair: Hashable {
        let file: StoredFile
        let status: FileSyncStatus
    }

    /// Waits until the file of a picture is here and at the server, and returns its bytes.
    func synced(_ id: UUID) async throws -> Data {
        let file = try await wait(for: id) { $0 == .synced }
        return try await Data(contentsOf: store.url(of: file))
    }

    /// Waits until the list has no picture.
    @MainActor func waitForNothing() async throws {
        for try await count in store.observe({ try $0.count(Pictures.self) }) where count == 0 { return }
    }

    /// Waits until a picture has a file.
    @MainActor func wait(for id: UUID, naming name: String?) async throws {
        let pictures = store.observe { try $0.fetchFirst(Pictures.self, where: Pictures.id == id) }
        for try await picture in pictures {
            if let picture, (picture[Pictures.file] ?? nil)?.name == name { return }
        }
        throw CancellationError()
    }

    /// Waits until the server has decided on all changes.
    @MainActor func waitForNothingWaiting(in list: UUID = FileDevice.list) async throws {
        for try await count in store.observe({ try $0.syncStatus(of: list).waitingCount }) where count == 0 { return }
        throw CancellationError()
    }

    /// Waits for a conflict, and returns the discarded file.
    @MainActor func discarded() async throws -> StoredFile? {
        for try await conflicts in store.observe({ try $0.syncConflicts(of: Pictures.self) }) {
            if let conflict = conflicts.first { return conflict[Pictures.file] ?? nil }
        }
        throw CancellationError()
    }

    func status(of file: StoredFile, in list: UUID = FileDevice.list) async throws -> FileSyncStatus {
        try await store.read { try $0.syncStatus(of: file, in: list) }
    }

    /// The names of the files of rows.
    var fileNames: [String] {
        let names = try? FileManager.default.contentsOfDirectory(atPath: folder.file.path + "-files")
        return (names ?? []).filter { $0 != "lock" }.sorted()
    }

    /// The names of parts of files.
    var partNames: [String] {
        (try? FileManager.default.contentsOfDirectory(atPath: folder.file.path + "-transfers")) ?? []
    }

    /// Waits until an upload that was begun can be continued.
    static func waitForRecord(beside file: URL, _ engine: SyncEngine) async throws {
        let folder = file.path + "-transfers"
        while true {
            let names = try? FileManager.default.contentsOfDirectory(atPath: folder)
            if names?.contains(where: { $0.hasSuffix(".upload") }) ?? false { return }
            _ = await engine.syncNow()
        }
    }

    func close() async throws {
        await engine.close()
        try await store.close()
    }
}

extension Data {
    /// The bytes of an id, as a column has them.
    init(_ id: UUID) { self = Swift.withUnsafeBytes(of: id.uuid) { Data($0) } }
}
