import Foundation

/// Opens the file of a ``Journal``, whatever state it is in.
///
/// A file that can't be read is renamed. What is sound of a damaged one is copied to the new file (``JournalSalvage``).
enum JournalFile {
    /// How many files that could not be read are left beside the present one; older ones are removed.
    static let maximumSetAsideCount = 3

    /// Opens a file; one that is damaged, or that a later version wrote, is renamed first, and a new one is begun.
    ///
    /// - Parameter report: Receives why the file was renamed, and the new name.
    /// - Throws: ``StorageError`` if the file may be opened later: it is locked, the disk is full, the folder can't be written.
    static func open(
        at url: URL, limits: JournalLimits, durability: StorageDatabase.Durability,
        sealing: (any PayloadSealing)? = nil, time: JournalTime,
        report: (StorageError, URL) -> Void
    ) throws(StorageError) -> Journal {
        try finishReplacement(of: url)
        do throws(StorageError) {
            return try Journal(at: url, limits: limits, durability: durability, sealing: sealing, time: time)
        } catch {
            switch error.kind {
            case .corrupted:
                return try replace(at: url, limits: limits, durability: durability, sealing: sealing, time: time) {
                    report(error, $0)
                }
            // A later version may mean something else by the same columns.
            case .newerSchema:
                report(error, try setAside(url))
                return try Journal(at: url, limits: limits, durability: durability, sealing: sealing, time: time)
            default: throw error
            }
        }
    }

    /// Replaces a damaged file that nobody has open by a new one with what is sound of it, and renames it.
    ///
    /// The damaged file stays in its place until the new one is complete: after an error, and after the end of the process, the next opening
    /// begins anew.
    ///
    /// - Parameter report: Receives the new name of the damaged file.
    static func replace(
        at url: URL, limits: JournalLimits, durability: StorageDatabase.Durability,
        sealing: (any PayloadSealing)? = nil, time: JournalTime, report: (URL) -> Void
    ) throws(StorageError) -> Journal {
        let copy = replacement(of: url)
        do { try remove(copy) } catch { throw StorageError(error, at: copy) }
        let (sum, isOver) = limits.maximumCount.addingReportingOverflow(limits.maximumSetAsideCount)
        let contents = JournalSalvage.read(url, maximumCount: isOver ? .max : max(1, sum))
        let journal = try Journal(at: copy, limits: limits, durability: durability, sealing: sealing, time: time)
        try JournalSalvage.write(contents, to: journal)
        try journal.close()
        // SQLite closes a file also if it could not move all of the log to it.
        guard !FileManager.default.fileExists(atPath: copy.path + "-wal") else {
            throw StorageError(.unavailable, "What is sound of a damaged file could not be written.")
        }
        report(try setAside(url))
        try finishReplacement(of: url)
        return try Journal(at: url, limits: limits, durability: durability, sealing: sealing, time: time)
    }

    private static func replacement(of url: URL) -> URL { url.appendingPathExtension("new") }

    /// Puts the new file in the place of a damaged one that was renamed. Does nothing if there is a file.
    private static func finishReplacement(of url: URL) throws(StorageError) {
        let copy = replacement(of: url)
        guard !FileManager.default.fileExists(atPath: url.path), FileManager.default.fileExists(atPath: copy.path)
        else { return }
        do {
            // Those of the damaged file, if the process ended while it was renamed.
            try remove(url)
            try FileManager.default.moveItem(at: copy, to: url)
        } catch {
            throw StorageError(error, at: url)
        }
    }

    /// Removes a file with those that SQLite has beside it.
    private static func remove(_ url: URL) throws {
        for part in parts where FileManager.default.fileExists(atPath: url.path + part) {
            try FileManager.default.removeItem(atPath: url.path + part)
        }
    }

    /// The names that SQLite adds to that of a file.
    private static let parts = ["", "-wal", "-shm"]

    private static func name(_ url: URL, _ number: Int) -> URL { url.appendingPathExtension("unreadable-\(number)") }

    /// Removes the files that were set aside, and a new one that was not completed.
    ///
    /// - Throws: An error of Foundation.
    static func removeSetAside(_ url: URL) throws {
        for number in 1...maximumSetAsideCount { try remove(name(url, number)) }
        try remove(replacement(of: url))
    }

    /// Renames a file that nobody has open, with those that SQLite has beside it, and returns the new name.
    static func setAside(_ url: URL) throws(StorageError) -> URL {
        let files = FileManager.default
        do {
            for number in (0..<maximumSetAsideCount).reversed() {
                let (file, target) = ((number == 0 ? url : name(url, number)).path, name(url, number + 1))
                guard files.fileExists(atPath: file) else { continue }
                // All of its parts: SQLite would read the log of another file as that of this one.
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
