import Foundation
import RunwaySignatures

/// A file of keys that is made, read and changed. Only the user can read it.
struct KeyRing: Sendable {
    let path: String
    private(set) var entries: [KeyEntry]
    /// Held from the reading of a file until it was replaced; `nil` for one that is only read.
    private let lock: KeyFileLock?

    /// Reads a file to change it. Others that would change it wait until this value is released.
    ///
    /// - Throws: ``CommandFailure`` if it can't be used, or if another process does not end its change in time.
    init(changing path: String) throws(CommandFailure) {
        try self.init(path: path, lock: KeyFileLock(path: path))
    }

    /// Reads a file.
    ///
    /// - Throws: ``CommandFailure`` if it can't be used.
    init(path: String) throws(CommandFailure) { try self.init(path: path, lock: nil) }

    private init(path: String, lock: KeyFileLock?) throws(CommandFailure) {
        (self.path, self.lock) = (path, lock)
        do throws(KeyFileError) {
            entries = try KeyFile(URL(fileURLWithPath: path)).entries()
        } catch {
            throw CommandFailure("The key file \"\(path)\" can't be used: \(error.reason).")
        }
    }

    /// Makes a file with one key.
    ///
    /// - Throws: ``CommandFailure`` if there is a file, or it can't be written.
    init(making path: String, with entry: KeyEntry) throws(CommandFailure) {
        (self.path, entries, lock) = (path, [entry], nil)
        let descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard descriptor >= 0 else {
            if errno == EEXIST {
                throw CommandFailure("The file \"\(path)\" exists and is not overwritten; --add adds a key to it.")
            }
            throw CommandFailure("The file \"\(path)\" can't be made: \(SystemError.current).")
        }
        defer { close(descriptor) }
        do throws(SystemError) {
            try descriptor.writeAll(Self.bytes(entries))
        } catch {
            unlink(path)
            throw CommandFailure("The file \"\(path)\" can't be written: \(error).")
        }
    }

    /// Returns the key with an identifier.
    ///
    /// - Throws: ``CommandFailure`` if there is no such key.
    func entry(_ id: String) throws(CommandFailure) -> KeyEntry {
        guard let entry = entries.first(where: { $0.id == id }) else {
            throw CommandFailure("The key file \"\(path)\" has no key \"\(id)\".")
        }
        return entry
    }

    /// Adds a key.
    ///
    /// - Throws: ``CommandFailure`` if its identifier is in use.
    mutating func add(_ entry: KeyEntry) throws(CommandFailure) {
        guard !entries.contains(where: { $0.id == entry.id }) else {
            throw CommandFailure("The key file \"\(path)\" has a key \"\(entry.id)\" already.")
        }
        entries.append(entry)
    }

    /// Changes the key with an identifier.
    mutating func change(_ id: String, _ change: (inout KeyEntry) -> Void) {
        for index in entries.indices where entries[index].id == id { change(&entries[index]) }
    }

    /// Replaces the file as a whole, for a value that was read to be changed.
    ///
    /// - Throws: ``CommandFailure`` if it can't be written.
    func save() throws(CommandFailure) {
        try OutputFile.replacePrivately(path, with: Self.bytes(entries))
    }

    /// Returns the JSON of a file.
    static func bytes(_ entries: [KeyEntry]) -> [UInt8] {
        guard let text = try? KeyFileContents(keys: entries).jsonText() else {
            preconditionFailure("Keys are strings and numbers, which JSON can hold")
        }
        return Array(text.utf8)
    }
}
