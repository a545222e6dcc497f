import Foundation

/// Opens the file of a ``Journal`` in any state, and holds its lock. While this object exists, no other process uses,
/// renames or replaces the file, even if the journal is closed.
///
/// A file that can't be read is renamed. The undamaged entries of a damaged file are copied to the new file
/// (``JournalSalvage``).
final class LockedJournalFile: Sendable {
    /// The maximum number of unreadable files next to the current one. Older ones are removed.
    static let maximumSetAsideCount = 3

    private let url: URL
    private let limits: JournalLimits
    private let durability: StorageDatabase.Durability
    private let sealing: (any PayloadSealing)?
    private let lock: FileLock

    /// Locks the file with a lock file in the same folder. Creates the folder if it does not exist.
    ///
    /// - Throws: ``StorageError/Kind/locked`` if another object, in any process, holds the lock.
    ///   ``StorageError/Kind/unavailable`` if the folder can't be written.
    init(
        at url: URL, limits: JournalLimits, durability: StorageDatabase.Durability,
        sealing: (any PayloadSealing)? = nil
    ) throws(StorageError) {
        self.url = url
        self.limits = limits
        self.durability = durability
        self.sealing = sealing
        let (folder, file) = (url.deletingLastPathComponent(), URL(fileURLWithPath: url.path + "-lock"))
        do {
            // New files inherit the protection of their folder.
            if try StorageFolder.prepare(folder) { try StorageFolder.protect([folder]) }
            guard let lock = try FileLock(file) else {
                throw StorageError(.locked, "\(url.lastPathComponent) is open elsewhere.")
            }
            self.lock = lock
            try StorageFolder.protect([file])
        } catch {
            throw StorageError(error, at: url)
        }
    }

    deinit { lock.release() }

    /// Opens the file. A file that is damaged or has a later version is replaced first.
    ///
    /// - Parameter report: Receives the reason for the replacement, and the new name of the old file.
    /// - Throws: ``StorageError`` if it may be possible to open the file later: it is locked, the disk is full, or the
    ///   folder can't be written.
    func open(time: JournalTime, report: (StorageError, URL) -> Void) throws(StorageError) -> Journal {
        try finishReplacement()
        do throws(StorageError) {
            return try journal(at: url, time)
        } catch {
            guard [.corrupted, .newerSchema].contains(error.kind) else { throw error }
            return try replace(isNewer: error.kind == .newerSchema, time: time) { report(error, $0) }
        }
    }

    /// Replaces a file whose journal is closed. The new file has the undamaged entries, and the old file is renamed.
    ///
    /// The old file is not renamed until the new one is complete. After an error or the end of the process, the next
    /// opening starts the replacement again.
    ///
    /// - Parameters:
    ///   - isNewer: Whether the file has a later version. Its columns may have another meaning, so only the user's
    ///     opt-out is read. The default is `false`: the file is damaged.
    ///   - report: Receives the new name of the old file.
    /// - Throws: The errors of ``open(time:report:)``.
    func replace(isNewer: Bool = false, time: JournalTime, report: (URL) -> Void) throws(StorageError) -> Journal {
        let copy = replacement
        do { try Self.remove(copy) } catch { throw StorageError(error, at: copy) }
        let (sum, isOver) = limits.maximumCount.addingReportingOverflow(limits.maximumSetAsideCount)
        let contents = try JournalSalvage.read(url, maximumCount: isNewer ? 1 : isOver ? .max : max(1, sum))
        let journal = try journal(at: copy, time)
        if isNewer {
            try journal.storeDecision(contents.isOptedOut)
        } else {
            try JournalSalvage.write(contents, to: journal)
        }
        try journal.close()
        // SQLite closes a file even if it could not move the whole log to it.
        guard !FileManager.default.fileExists(atPath: copy.path + "-wal") else {
            throw StorageError(.unavailable, "What is sound of a damaged file could not be written.")
        }
        report(try Self.setAside(url))
        try finishReplacement()
        return try self.journal(at: url, time)
    }

    private func journal(at url: URL, _ time: JournalTime) throws(StorageError) -> Journal {
        try Journal(at: url, limits: limits, durability: durability, sealing: sealing, time: time)
    }

    private var replacement: URL { Self.replacement(of: url) }

    private static func replacement(of url: URL) -> URL { url.appendingPathExtension("new") }

    /// Moves the new file to the place of a renamed old one. Does nothing if there is a file already.
    private func finishReplacement() throws(StorageError) {
        guard !FileManager.default.fileExists(atPath: url.path),
            FileManager.default.fileExists(atPath: replacement.path)
        else { return }
        do {
            // SQLite's additional files for the old database may remain if the process ended during the renaming.
            try Self.remove(url)
            try FileManager.default.moveItem(at: replacement, to: url)
        } catch {
            throw StorageError(error, at: url)
        }
    }

    /// Removes a database with SQLite's other files for it.
    private static func remove(_ url: URL) throws {
        for part in parts where FileManager.default.fileExists(atPath: url.path + part) {
            try FileManager.default.removeItem(atPath: url.path + part)
        }
    }

    /// The suffixes of SQLite's file names. The first is the database's own, which is empty.
    private static let parts = ["", "-wal", "-shm"]

    private static func name(_ url: URL, _ number: Int) -> URL { url.appendingPathExtension("unreadable-\(number)") }

    /// Removes the files that were set aside, and an incomplete new file.
    ///
    /// - Throws: An error of Foundation.
    static func removeSetAside(_ url: URL) throws {
        for number in 1...maximumSetAsideCount { try remove(name(url, number)) }
        try remove(replacement(of: url))
    }

    /// Renames a database that is not open, with SQLite's other files for it. Returns the new name.
    static func setAside(_ url: URL) throws(StorageError) -> URL {
        let files = FileManager.default
        do {
            for number in (0..<maximumSetAsideCount).reversed() {
                let (file, target) = ((number == 0 ? url : name(url, number)).path, name(url, number + 1))
                guard files.fileExists(atPath: file) else { continue }
                // All old files are removed, since SQLite would apply the log of another database to this one.
                try remove(target)
                for part in parts where files.fileExists(atPath: file + part) {
                    try files.moveItem(atPath: file + part, toPath: target.path + part)
                }
            }
        } catch {
            throw StorageError(error, at: url)
        }
        return name(url, 1)
    }
}
