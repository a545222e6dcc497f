import Foundation

/// Opens the file of a ``Journal``, whatever state the file is in, and holds its lock: no other process uses, renames
/// or replaces the file as long as this object exists, even while the journal is closed.
///
/// A file that can't be read is renamed. The sound entries of a damaged file are copied to the new file
/// (``JournalSalvage``).
final class JournalFile: Sendable {
    /// The number of unreadable files that stay next to the present one; older ones are removed.
    static let maximumSetAsideCount = 3

    private let url: URL
    private let limits: JournalLimits
    private let durability: StorageDatabase.Durability
    private let sealing: (any PayloadSealing)?
    private let lock: FileLock

    /// Locks the file by a lock file in the same folder, and creates the folder unless it exists.
    ///
    /// - Throws: ``StorageError/Kind/locked`` if another value, of any process, has the lock;
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
            // Files that are created in the folder get the protection of the folder.
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

    /// Opens the file. One that is damaged, or that a later version wrote, is replaced first.
    ///
    /// - Parameter report: Receives why the file was renamed, and the new name.
    /// - Throws: ``StorageError`` if the file may be opened later: it is locked, the disk is full, the folder can't be
    ///   written.
    func open(time: JournalTime, report: (StorageError, URL) -> Void) throws(StorageError) -> Journal {
        try finishReplacement()
        do throws(StorageError) {
            return try journal(at: url, time)
        } catch {
            guard [.corrupted, .newerSchema].contains(error.kind) else { throw error }
            return try replace(isNewer: error.kind == .newerSchema, time: time) { report(error, $0) }
        }
    }

    /// Replaces a file, whose journal is closed, by a new one with the sound entries of the old file, and renames the
    /// old one.
    ///
    /// The old file is not renamed until the new one is complete: after an error, and after the end of the process, the
    /// next opening begins anew.
    ///
    /// - Parameters:
    ///   - isNewer: Whether a later version wrote the file. The meaning of its columns may have changed: the only thing
    ///     that is read of it is whether the user opted out. The default is `false`: the file is damaged.
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
        // SQLite closes a file even if it could not move all of the log to it.
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

    /// Puts the new file in the place of an old one that was renamed. Does nothing if the file exists.
    private func finishReplacement() throws(StorageError) {
        guard !FileManager.default.fileExists(atPath: url.path),
            FileManager.default.fileExists(atPath: replacement.path)
        else { return }
        do {
            // Files of SQLite that belong to the old file, if the process ended while it was renamed.
            try Self.remove(url)
            try FileManager.default.moveItem(at: replacement, to: url)
        } catch {
            throw StorageError(error, at: url)
        }
    }

    /// Removes a file together with the other files that SQLite has for it.
    private static func remove(_ url: URL) throws {
        for part in parts where FileManager.default.fileExists(atPath: url.path + part) {
            try FileManager.default.removeItem(atPath: url.path + part)
        }
    }

    /// The suffixes of the names of SQLite's files; the first one is that of the file itself.
    private static let parts = ["", "-wal", "-shm"]

    private static func name(_ url: URL, _ number: Int) -> URL { url.appendingPathExtension("unreadable-\(number)") }

    /// Removes the files that were set aside, and a new one that was not completed.
    ///
    /// - Throws: An error of Foundation.
    static func removeSetAside(_ url: URL) throws {
        for number in 1...maximumSetAsideCount { try remove(name(url, number)) }
        try remove(replacement(of: url))
    }

    /// Renames a file that nothing has open, together with the other files that SQLite has for it, and returns the new
    /// name.
    static func setAside(_ url: URL) throws(StorageError) -> URL {
        let files = FileManager.default
        do {
            for number in (0..<maximumSetAsideCount).reversed() {
                let (file, target) = ((number == 0 ? url : name(url, number)).path, name(url, number + 1))
                guard files.fileExists(atPath: file) else { continue }
                // All of its files: SQLite would read the log of another file as the log of this one.
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
