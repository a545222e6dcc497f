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
        do throws(StorageError) {
            return try Journal(at: url, limits: limits, durability: durability, sealing: sealing, time: time)
        } catch {
            guard error.kind == .corrupted || error.kind == .newerSchema else { throw error }
            let file = try setAside(url)
            report(error, file)
            let journal = try Journal(at: url, limits: limits, durability: durability, sealing: sealing, time: time)
            // A later version may mean something else by the same columns.
            if error.kind == .corrupted { try? salvage(file, to: journal, limits) }
            return journal
        }
    }

    /// Copies what is sound of a damaged file that was set aside.
    private static func salvage(_ file: URL, to journal: Journal, _ limits: JournalLimits) throws(StorageError) {
        let maximumCount = limits.maximumCount &+ limits.maximumSetAsideCount
        try JournalSalvage.write(JournalSalvage.read(file, maximumCount: max(1, maximumCount)), to: journal)
    }

    /// Sets a file aside that turned out to be damaged after it was opened, and that is closed by now; begins a new one with what is sound.
    ///
    /// - Parameter report: Receives the new name of the damaged file.
    static func replace(
        at url: URL, limits: JournalLimits, durability: StorageDatabase.Durability,
        sealing: (any PayloadSealing)? = nil, time: JournalTime, report: (URL) -> Void
    ) throws(StorageError) -> Journal {
        let file = try setAside(url)
        report(file)
        let journal = try Journal(at: url, limits: limits, durability: durability, sealing: sealing, time: time)
        try? salvage(file, to: journal, limits)
        return journal
    }

    /// The names that SQLite adds to that of a file.
    private static let parts = ["", "-wal", "-shm"]

    private static func name(_ url: URL, _ number: Int) -> URL { url.appendingPathExtension("unreadable-\(number)") }

    /// Removes the files that were set aside.
    ///
    /// - Throws: An error of Foundation.
    static func removeSetAside(_ url: URL) throws {
        for number in 1...maximumSetAsideCount {
            for part in parts {
                let path = name(url, number).path + part
                if FileManager.default.fileExists(atPath: path) { try FileManager.default.removeItem(atPath: path) }
            }
        }
    }

    /// Renames a file that nobody has open, with those that SQLite has beside it, and returns the new name.
    static func setAside(_ url: URL) throws(StorageError) -> URL {
        let files = FileManager.default
        do {
            for part in parts {
                for number in (0..<maximumSetAsideCount).reversed() {
                    let file = URL(fileURLWithPath: (number == 0 ? url : name(url, number)).path + part)
                    guard files.fileExists(atPath: file.path) else { continue }
                    let target = URL(fileURLWithPath: name(url, number + 1).path + part)
                    try? files.removeItem(at: target)
                    try files.moveItem(at: file, to: target)
                }
            }
        } catch {
            throw StorageError(error, at: url)
        }
        return name(url, 1)
    }
}
