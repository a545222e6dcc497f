import Foundation
import GRDB
import Runway
import RunwaySQLite
import RunwayStorage
import Synchronization

/// The files of one store, in a folder beside the database.
///
/// Files are removed only in write transactions, so that no row can begin to name a file while it is removed. A file
/// that no row names yet is safe while its store is open: each store holds a shared lock of the folder, and a sweep
/// needs the exclusive lock.
final class FileFolder: Sendable {
    private struct State {
        /// Whether a table of the file has a column of files.
        var isUsed = false
        /// The handle that holds the lock of the folder; `nil` if the store was closed, or is read only.
        var lock: FileHandle?
        var isClosed = false
        /// Whether the names of new files have the digests of their bytes.
        var hasDigests = false
        /// Files whose `withFile` has not ended.
        var unsettled: Set<StoredFile> = []
    }

    /// The age in seconds from which a sweep removes a file in the container of an app group, where the folder can't be
    /// locked (``AppGroup``).
    private static let sweptAge: TimeInterval = 86400

    private let url: URL
    private let database: URL
    private let options: RecordStore.Options
    /// Guards whether there are files, the lock of the folder, and which files a closing store removes.
    private let state = Mutex(State())

    init(of database: URL, _ options: RecordStore.Options) {
        (url, self.database, self.options) = (StoreFiles.filesFolder(of: database), database, options)
    }

    /// Creates the folder, the counts and the triggers that are absent, and removes the files that no row names. Does
    /// nothing if no table has files.
    ///
    /// - Parameters:
    ///   - layouts: The declared tables. The file may have others.
    ///   - held: The column of a module that follows the files; `nil` if none does.
    ///   - isReadOnly: Whether nothing is created or removed.
    /// - Throws: An error of the file.
    func prepare(for layouts: [TableLayout], _ held: HeldFiles?, _ queue: DatabaseQueue, isReadOnly: Bool) throws {
        let isUsed = try queue.read { try FileCounts.areUsed(by: layouts, in: $0) }
        state.withLock { ($0.isUsed, $0.isClosed, $0.hasDigests) = (isUsed, false, held != nil) }
        if !isUsed || isReadOnly { return }
        if try StorageFolder.prepare(url) {
            try StorageFolder.protect([url], isBackedUp: options.isBackedUp)
            try Self.sync(Self.open(url.deletingLastPathComponent().path, O_RDONLY))
        }
        let isLockable = !AppGroup.contains(url.path)
        let handle = try Self.open(path("lock"), O_RDWR | O_CREAT)
        try queue.writeMakingRoom { database in
            try FileCounts.prepare(for: layouts, held, in: database)
            if !isLockable {
                return try sweep(in: database, before: StoredFile.start(of: Date(timeIntervalSinceNow: -Self.sweptAge)))
            }
            if flock(handle.fileDescriptor, LOCK_EX | LOCK_NB) == 0 {
                try sweep(in: database)
            }
            // Every store takes the exclusive lock only inside a write transaction, and this is one. So this loop waits
            // only for a process that is being killed, if its lock of the database was released before its lock of the
            // folder.
            while flock(handle.fileDescriptor, LOCK_SH) != 0, errno == EINTR {}
        }
        state.withLock { $0.lock = handle }
        while try queue.writeMakingRoom({ try removeUnnamed(in: $0) }) > 0 {}
    }

    /// Removes the files that no row names yet, since no later write can name them. Releases the lock of the folder, so
    /// that another store can sweep.
    func close(_ queue: DatabaseQueue) {
        let unsettled = state.withLock { state in
            state.isClosed = true
            return state.unsettled
        }
        if !unsettled.isEmpty { try? queue.write { for file in unsettled { _ = try removeUnlessNamed(file, in: $0) } } }
        state.withLock { $0.lock = nil }
    }

    /// Leaves a file to its rows.
    func settle(_ file: StoredFile) { state.withLock { _ = $0.unsettled.remove(file) } }

    /// - Throws: ``TableError/Kind/rejected`` if no table has files.
    func checkUsed() throws {
        if state.withLock({ $0.isUsed }) { return }
        throw TableError(.rejected, "No table of \(database.lastPathComponent) has a column of files.")
    }

    /// Runs an operation that may wait for the disk, and throws its errors as ``TableError``.
    func run<Value: Sendable>(_ operation: @escaping @Sendable (FileFolder) throws -> Value) async throws -> Value {
        try await RecordStore.inBackground { [self] in try TableError.of(database) { try operation(self) } }
    }

    /// Writes a draft, and renames it when it is whole and synced.
    ///
    /// - Parameter fill: Creates a file with the bytes at a path.
    /// - Throws: The error of `fill`, or ``TableError``; nothing is left.
    func make(
        isolation: isolated (any Actor)?, _ fill: (_ draft: String) async throws -> Void
    ) async throws -> StoredFile {
        let id = StoredFile.newID()
        let draft = path(id.uuidString.lowercased())
        do {
            try await fill(draft)
            return try await run { try $0.finish(draft, id) }
        } catch {
            try? await run { _ in _ = unlink(draft) }
            throw error
        }
    }

    private func finish(_ draft: String, _ id: UUID) throws -> StoredFile {
        let handle = try Self.open(draft, O_RDONLY)
        guard let byteCount = Self.byteCount(at: draft) else {
            throw TableError(.rejected, "Only a plain file can be stored.")
        }
        let digest = try state.withLock(\.hasDigests) ? Self.digest(of: handle) : nil
        let file = StoredFile(id: id, byteCount: byteCount, digest: digest)
        try secure(handle, draft)
        try state.withLock { state in
            // A draft that ends after the close would stay, also beside a sealed account.
            if state.isClosed { throw TableError(.unavailable, "\(database.lastPathComponent) was closed.") }
            guard rename(draft, path(file.name)) == 0 else { throw Self.systemError() }
            state.unsettled.insert(file)
        }
        if options.survivesPowerLoss { try Self.sync(Self.open(url.path, O_RDONLY)) }
        return file
    }

    /// Makes a whole file private, and waits until it is on the drive if the store does.
    private func secure(_ handle: FileHandle, _ path: String) throws {
        // A file that was moved here may have a mode that lets other users read it.
        guard fchmod(handle.fileDescriptor, 0o600) == 0 else { throw Self.systemError() }
        try StorageFolder.protect([URL(fileURLWithPath: path)], isBackedUp: options.isBackedUp)
        if options.survivesPowerLoss { try Self.sync(handle) }
    }

    /// Moves the bytes of a file that rows name into the folder. If no row names it any more, the source is removed.
    ///
    /// - Returns: Whether a row names the file.
    /// - Throws: ``TableError/Kind/rejected`` if the source has other bytes; it stays. ``TableError/Kind/unavailable``
    ///   if the store was closed.
    func land(_ file: StoredFile, moving source: String, _ queue: DatabaseQueue) throws -> Bool {
        let handle = try Self.open(source, O_RDONLY)
        guard Self.byteCount(at: source) == file.byteCount, try Self.digest(of: handle) == file.digest else {
            throw TableError(.rejected, "A file of \(database.lastPathComponent) has arrived with other bytes.")
        }
        try secure(handle, source)
        // Files are removed only in write transactions, so that the row still names the file after this one.
        let isNamed = try queue.write { database in
            guard try FileCounts.isNamed(file, in: database) else {
                unlink(source)
                return false
            }
            try state.withLock { state in
                if state.isClosed { throw TableError(.unavailable, "\(self.database.lastPathComponent) was closed.") }
                guard rename(source, path(file.name)) == 0 else { throw Self.systemError() }
            }
            return true
        }
        if isNamed, options.survivesPowerLoss { try Self.sync(Self.open(url.path, O_RDONLY)) }
        return isNamed
    }

    private static func digest(of handle: FileHandle) throws -> String {
        var hash = SHA256Hash()
        while let part = try handle.read(upToCount: 1 << 18), !part.isEmpty { hash.update(Array(part)) }
        return hash.digest.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }

    /// Opens a file for reading.
    ///
    /// - Throws: ``TableError/Kind/fileUnreadable`` if it is absent, no plain file, or of another size.
    func open(_ file: StoredFile) throws -> (handle: FileHandle, url: URL) {
        let path = path(file.name)
        guard Self.byteCount(at: path) == file.byteCount, let handle = try? Self.open(path, O_RDONLY) else {
            throw damage
        }
        return (handle, URL(fileURLWithPath: path))
    }

    var damage: TableError {
        TableError(.fileUnreadable, "A stored file of \(database.lastPathComponent) is absent, or damaged.")
    }

    /// - Parameter database: A database whose rows may name a lost file, which is then accepted. The default is none.
    /// - Throws: ``TableError/Kind/rejected`` if the row names a file that is absent from the folder, unless a row of
    ///   `database` names it already.
    func check(_ row: RowValues, in database: Database? = nil) throws {
        for (position, column) in row.layout.columns.enumerated() where column.isFile {
            guard let value = row.slots[position].stored, let file = StoredFile.value(of: value) else { continue }
            if (try? open(file)) == nil, try database.map({ try FileCounts.isNamed(file, in: $0) }) != true {
                throw TableError(.rejected, "A value of \(row.layout.name).\(column.name) is no file of this store.")
            }
        }
    }

    /// Whether a transaction leaves a file that rows have named, and that no row names now.
    func hasUnnamed(in database: Database) throws -> Bool {
        try state.withLock { $0.isUsed } && !FileCounts.unnamed(limit: 1, in: database).isEmpty
    }

    /// Removes a file, unless a row names it, or staged rows may.
    ///
    /// - Returns: Whether a row names it.
    func removeUnlessNamed(_ file: StoredFile, in database: Database) throws -> Bool {
        if try FileCounts.isNamed(file, in: database) { return true }
        if !StoreFiles.hasStagedRows(self.database) { unlink(path(file.name)) }
        return false
    }

    /// Removes at most 500 files that rows have named, and that no row names now.
    ///
    /// - Returns: The decrease of the number of such names: 0 also if a trigger of the database prevents it.
    func removeUnnamed(in database: Database) throws -> Int {
        let count = try FileCounts.unnamedCount(in: database)
        if count == 0 || StoreFiles.hasStagedRows(self.database) { return 0 }
        // After a power loss, the commit that left the files without a row must still be there.
        if !options.survivesPowerLoss { try Self.sync(Self.open(self.database.path + "-wal", O_RDONLY)) }
        try FileCounts.forgetMalformed(in: database)
        for name in try FileCounts.unnamed(limit: 500, in: database) {
            // A text that is not the name of a stored file has no file to remove.
            if let file = StoredFile(name: name), unlink(path(file.name)) != 0, errno != ENOENT { continue }
            try FileCounts.forget(name, in: database)
        }
        return try count - FileCounts.unnamedCount(in: database)
    }

    /// Removes the files that no row names: those of drafts and transactions that a kill ended. Other files in the
    /// folder stay.
    ///
    /// - Parameter limit: Files whose name is not smaller than this text stay. The default is larger than every name.
    private func sweep(in database: Database, before limit: String = "g") throws {
        if StoreFiles.hasStagedRows(self.database) { return }
        let named = try FileCounts.named(in: database)
        for name in try FileManager.default.contentsOfDirectory(atPath: url.path)
        where !named.contains(name) && UUID(uuidString: String(name.prefix(36))) != nil && name < limit {
            unlink(path(name))
        }
    }

    private func path(_ name: String) -> String { url.appending(path: name).path }

    static func open(_ path: String, _ flags: Int32) throws -> FileHandle {
        let descriptor = Foundation.open(path, flags | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0o600)
        guard descriptor >= 0 else { throw systemError() }
        return FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
    }

    /// Returns the size of a plain file; `nil` if the path has no file, or something else, such as a link.
    static func byteCount(at path: String) -> Int? {
        let values = try? URL(fileURLWithPath: path).resourceValues(forKeys: [.isRegularFileKey, .fileSizeKey])
        return values?.isRegularFile == true ? values?.fileSize : nil
    }

    static func sync(_ handle: FileHandle) throws {
        #if canImport(Darwin)
            // On Apple's systems, `fsync` leaves the bytes in the drive's own cache.
            if fcntl(handle.fileDescriptor, F_FULLFSYNC) == 0 { return }
        #endif
        // Some file systems synchronise files only, and not folders.
        guard fsync(handle.fileDescriptor) == 0 || errno == EINVAL || errno == ENOTSUP else { throw systemError() }
    }

    /// The error of the system call that just failed on this thread.
    private static func systemError() -> any Error {
        errno == ENOSPC || errno == EDQUOT
            ? CocoaError(.fileWriteOutOfSpace) : POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO)
    }
}
