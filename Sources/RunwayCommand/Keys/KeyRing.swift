import Foundation
import RunwaySignatures

/// A file of keys, which only its user can read.
struct KeyRing: Sendable {
    let path: String
    private(set) var entries: [KeyEntry]
    /// The lock, held from the reading of the file until the file is replaced; `nil` if the file is only read.
    private let lock: KeyFileLock?

    /// Reads a file in order to change it. Other processes that want to change it wait until this value is released.
    ///
    /// - Throws: ``CommandFailure`` if the file can't be used, or if another process does not end its change in time.
    init(changing path: String) throws(CommandFailure) {
        try self.init(path: path, lock: KeyFileLock(path: path))
    }

    /// Reads a file without locking it.
    ///
    /// - Throws: ``CommandFailure`` if the file can't be used.
    init(path: String) throws(CommandFailure) { try self.init(path: path, lock: nil) }

    private init(path: String, lock: KeyFileLock?) throws(CommandFailure) {
        (self.path, self.lock) = (path, lock)
        do throws(KeyFileError) {
            entries = try KeyFile(URL(fileURLWithPath: path)).entries()
        } catch {
            throw CommandFailure("The key file \"\(path)\" can't be used: \(error.reason).")
        }
    }

    /// Creates a file with one key.
    ///
    /// - Throws: ``CommandFailure`` if the file exists already, or can't be written.
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

    /// - Throws: ``CommandFailure`` if there is no key with this identifier.
    func entry(_ id: String) throws(CommandFailure) -> KeyEntry {
        guard let entry = entries.first(where: { $0.id == id }) else {
            throw CommandFailure("The key file \"\(path)\" has no key \"\(id)\".")
        }
        return entry
    }

    /// - Throws: ``CommandFailure`` if the identifier of the key is in use.
    mutating func add(_ entry: KeyEntry) throws(CommandFailure) {
        guard !entries.contains(where: { $0.id == entry.id }) else {
            throw CommandFailure("The key file \"\(path)\" has a key \"\(entry.id)\" already.")
        }
        entries.append(entry)
    }

    mutating func change(_ id: String, _ change: (inout KeyEntry) -> Void) {
        for index in entries.indices where entries[index].id == id { change(&entries[index]) }
    }

    /// Replaces the whole file. The value must come from ``init(changing:)``.
    ///
    /// - Throws: ``CommandFailure`` if the file can't be written.
    func save() throws(CommandFailure) {
        try OutputFile.replacePrivately(path, with: Self.bytes(entries))
    }

    static func bytes(_ entries: [KeyEntry]) -> [UInt8] {
        guard let text = try? KeyFileContents(keys: entries).jsonText() else {
            preconditionFailure("Keys are strings and numbers, which JSON can hold")
        }
        return Array(text.utf8)
    }
}
