public import Foundation
import GRDB
import Runway
import RunwaySQLite
public import RunwayStorage
import Synchronization

/// The stores of an app's accounts: a folder for each account, in one folder of the app.
///
/// ```swift
/// let accounts = AccountFiles(in: folder)
/// let store = try await accounts.open("ada", tables: [Tasks.self])
/// try await accounts.remove("ada", closing: store)  // or seal, or store.close()
/// ```
///
/// At sign-out an app chooses whether the file stays as it is (``RecordStore/close()``), is sealed, or is removed. The
/// name of an account's folder is a hash of the account's id: the id can't form a path, and can't be read from the
/// name.
public struct AccountFiles: Sendable {
    private let folder: URL

    /// Names the folder of all accounts, which is created when the first one opens.
    public init(in folder: URL) { self.folder = folder }

    /// Opens the store of an account. Sealed files are opened first, with ``RecordStore/Options/sealing`` or a former
    /// sealing.
    ///
    /// - Parameters:
    ///   - account: The id of the account. Ids that are equal as strings have one file.
    ///   - tables: All tables of the file.
    ///   - migrations: The changes since the first release. The default is none.
    ///   - options: The way in which the file is opened and used.
    /// - Throws: ``TableError/Kind/keyUnavailable`` if a sealed file can't be opened; it stays sealed.
    ///   ``TableError/Kind/locked`` if another opening, a sealing or a removal of the account takes more than 5 s. Or
    ///   the errors of ``RecordStore/open(at:tables:migrations:options:)``, or `CancellationError`.
    public func open(
        _ account: String, tables: [any TableDefinition.Type], migrations: Migrations = Migrations(),
        options: RecordStore.Options = RecordStore.Options()
    ) async throws -> RecordStore {
        let (url, sealings) = (url(of: account), [options.sealing].compactMap { $0 } + options.formerSealings)
        let home = url.deletingLastPathComponent()
        // Until the store has its connection, which a removal or a sealing notices.
        let lock = try await run { isCancelled in
            if try StorageFolder.prepare(home) {
                try StorageFolder.protect([home], isBackedUp: options.isBackedUp)
            }
            return try lockFolder(of: url, isCancelled)
        }
        defer { try? lock?.close() }
        try await run { isCancelled in
            try removeRest()
            for file in try files(beside: url) where file.pathExtension == SealedFile.pathExtension {
                try SealedFile.open(file, in: folder, with: sealings, isCancelled)
            }
        }
        var options = options
        options.account = home.lastPathComponent
        return try await RecordStore.open(
            at: url, tables: tables, migrations: migrations, options: options)
    }

    /// Seals all files of an account, so that nothing in them can be read without the key. The next opening of the
    /// account opens them.
    ///
    /// The former bytes on the drive are not overwritten: on flash memory an overwrite has no effect, and the system
    /// encrypts the drive. A kill or an error leaves each file either sealed or unsealed; call the function again.
    ///
    /// - Parameters:
    ///   - account: The id of the account.
    ///   - sealing: Seals pieces of 1 MiB.
    ///   - store: The account's store, which is closed first. The default, `nil`, is for one that is not open.
    /// - Throws: ``TableError/Kind/locked`` if another store or process still has the file open after 5 s: then nothing
    ///   was sealed. ``TableError/Kind/keyUnavailable``, an error of the files, or `CancellationError`.
    public func seal(
        _ account: String, with sealing: any PayloadSealing, closing store: RecordStore? = nil
    ) async throws {
        try await store?.closeConnection()
        let url = url(of: account)
        try await run { isCancelled in
            let lock = try lockFolder(of: url, isCancelled)
            defer { try? lock?.close() }
            try Self.expectClosed(url)
            for file in try files(beside: url) where file.pathExtension != SealedFile.pathExtension {
                try SealedFile.seal(file, in: folder, with: sealing, isCancelled)
            }
        }
    }

    /// Removes all files of an account at once, even if the process is killed: the database, its logs, staged rows and
    /// stored files. Their bytes on the drive are not overwritten, as in ``seal(_:with:closing:)``.
    ///
    /// - Parameters:
    ///   - account: The id of the account. Without files of it nothing happens.
    ///   - store: The account's store, which is closed first. The default, `nil`, is for one that is not open.
    /// - Throws: ``TableError/Kind/locked`` if another store or process still has the file open after 5 s: then nothing
    ///   was removed. Or an error of the files.
    public func remove(_ account: String, closing store: RecordStore? = nil) async throws {
        try await store?.closeConnection()
        let url = url(of: account)
        try await run { _ in
            let lock = try lockFolder(of: url) { false }
            defer { try? lock?.close() }
            try Self.expectClosed(url)
            if FileManager.default.fileExists(atPath: url.deletingLastPathComponent().path) {
                // The new name removes all at once; a kill leaves files that the next opening or removal removes.
                try FileManager.default.moveItem(
                    at: url.deletingLastPathComponent(),
                    to: folder.appending(path: Self.removedPrefix + UUID().uuidString))
            }
            try removeRest()
        }
    }

    /// The database file of an account.
    public func url(of account: String) -> URL {
        // Equal strings have equal bytes in this form.
        var hash = SHA256Hash()
        hash.update(Array(account.precomposedStringWithCanonicalMapping.utf8))
        let name = hash.digest.map { String(0x100 + Int($0), radix: 16).suffix(2) }.joined()
        return folder.appending(path: name).appending(path: "records.sqlite")
    }

    private static let removedPrefix = "removed-"

    /// Locks the folder of an account until it is closed, also against other tasks of this process.
    ///
    /// - Returns: `nil` if there is no folder, or it is in a container where nothing is locked (``AppGroup``).
    /// - Throws: ``TableError/Kind/locked`` after 5 s, or `CancellationError`.
    private func lockFolder(of url: URL, _ isCancelled: () -> Bool) throws -> FileHandle? {
        let home = url.deletingLastPathComponent().path
        if AppGroup.contains(home) { return nil }
        for _ in 0..<100 {
            if isCancelled() { throw CancellationError() }
            guard let handle = try? FileFolder.open(home, O_RDONLY) else { return nil }
            var (locked, present) = (stat(), stat())
            if flock(handle.fileDescriptor, LOCK_EX | LOCK_NB) == 0, fstat(handle.fileDescriptor, &locked) == 0,
                // A removal may have renamed the folder meanwhile.
                stat(home, &present) == 0, locked.st_ino == present.st_ino
            {
                return handle
            }
            usleep(50_000)
        }
        throw TableError(.locked, "The files of an account are being opened, sealed or removed.")
    }

    private func removeRest() throws {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []
        for name in names where name.hasPrefix(Self.removedPrefix) {
            try FileManager.default.removeItem(at: folder.appending(path: name))
        }
    }

    /// Returns the database of an account, and all other files in its folder and subfolders. Removes files that a kill
    /// has left incomplete.
    private func files(beside url: URL) throws -> [URL] {
        let home = url.deletingLastPathComponent()
        let names = (try? FileManager.default.subpathsOfDirectory(atPath: home.path)) ?? []
        return try names.sorted().map { home.appending(path: $0) }.filter { file in
            if file.pathExtension == SealedFile.partialExtension { try FileManager.default.removeItem(at: file) }
            return (try? file.resourceValues(forKeys: [.isRegularFileKey]))?.isRegularFile == true
        }
    }

    /// Copies the write-ahead logs into their databases, and removes the logs.
    ///
    /// - Throws: ``TableError/Kind/locked`` if a connection has one of the databases open.
    private static func expectClosed(_ url: URL) throws {
        for file in [url] + StoreFiles.stagings(of: url) where FileManager.default.fileExists(atPath: file.path) {
            do {
                var configuration = Configuration()
                configuration.busyMode = .timeout(5)
                let queue = try DatabaseQueue(path: file.path, configuration: configuration)
                defer { try? queue.close() }
                // SQLite does that only while no other connection is open.
                try queue.writeWithoutTransaction { try $0.execute(sql: "PRAGMA journal_mode = DELETE") }
            } catch let error as DatabaseError where error.failure(of: file) == .locked {
                throw TableError(.locked, "\(file.lastPathComponent) is still open, here or in another process.")
            } catch {
                // A damaged file is sealed and removed as it is.
            }
        }
    }

    private func run<Value: Sendable>(
        _ operation: @escaping @Sendable (_ isCancelled: @escaping @Sendable () -> Bool) throws -> Value
    ) async throws -> Value {
        let isCancelled = Atomic(false)
        return try await withTaskCancellationHandler {
            try await RecordStore.inBackground {
                try TableError.of(folder) { try operation { isCancelled.load(ordering: .relaxed) } }
            }
        } onCancel: {
            isCancelled.store(true, ordering: .relaxed)
        }
    }
}
