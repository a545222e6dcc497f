import Foundation

/// A file that appears completely or not at all: it is written beside its target and moved there when it is complete.
struct OutputFile: Sendable {
    /// The file that is to appear.
    let path: String
    private let temporaryPath: String?
    private let descriptor: Int32

    /// Opens the file to write. An existing file stays until ``commit()``; a device or pipe is written directly.
    ///
    /// - Parameter isPrivate: Whether only the user may read the file. Otherwise it has the permissions of the file
    ///   that it replaces, or the default ones of new files.
    /// - Throws: ``CommandFailure`` if it can't be written.
    init(path: String, isPrivate: Bool = false) throws(CommandFailure) {
        var status = stat()
        let exists = stat(path, &status) == 0
        let kind = status.st_mode & S_IFMT
        // Through a symbolic link the file that it points to is replaced, not the link.
        let place = exists ? Self.resolved(path) ?? path : path
        if exists, kind == S_IFDIR { throw Self.unwritable(path, SystemError(code: EISDIR)) }
        if exists, kind != S_IFREG {
            descriptor = open(path, O_WRONLY | O_CLOEXEC)
            temporaryPath = nil
        } else {
            if exists, access(path, W_OK) != 0 { throw Self.unwritable(path, .current) }
            var template = Array("\(place).XXXXXX".utf8CString)
            descriptor = mkstemp(&template)
            temporaryPath = template.withUnsafeBufferPointer { $0.baseAddress.map { String(cString: $0) } }
        }
        guard descriptor >= 0 else { throw Self.unwritable(path, .current) }
        self.path = place
        guard let temporaryPath else { return }
        TemporaryFiles.insert(temporaryPath)
        if isPrivate { return }
        fchmod(descriptor, exists ? status.st_mode & 0o777 : Self.modeOfNewFiles)
    }

    /// The permissions of new files: all except those that the user's mask removes.
    private static var modeOfNewFiles: mode_t {
        // The mask can only be read by setting it.
        let mask = umask(0)
        _ = umask(mask)
        return 0o666 & ~mask
    }

    /// Whether nothing is at a path, not even a symbolic link.
    static func isFree(_ path: String) -> Bool {
        var status = stat()
        return lstat(path, &status) != 0
    }

    /// Sets the default permissions of new files for a file that a download has created, readable only by its user.
    static func share(_ path: String) {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
        guard descriptor >= 0 else { return }
        fchmod(descriptor, modeOfNewFiles)
        close(descriptor)
    }

    /// Replaces a file that only the user may read; returns its path.
    ///
    /// - Throws: ``CommandFailure`` if it can't be written.
    @discardableResult
    static func replacePrivately(_ path: String, with bytes: [UInt8]) throws(CommandFailure) -> String {
        let file = try OutputFile(path: path, isPrivate: true)
        do throws(CommandFailure) { try file.write(bytes) } catch {
            file.discard()
            throw error
        }
        try file.commit()
        return file.path
    }

    /// Appends bytes.
    ///
    /// - Throws: ``CommandFailure`` if they can't be written.
    func write(_ bytes: [UInt8]) throws(CommandFailure) {
        do throws(SystemError) { try descriptor.writeAll(bytes) } catch { throw Self.unwritable(path, error) }
    }

    /// Closes the file and moves it to its path.
    ///
    /// - Throws: ``CommandFailure`` if that fails; the file is then discarded.
    func commit() throws(CommandFailure) {
        let isClosed = close(descriptor) == 0
        guard let temporaryPath else {
            if isClosed { return }
            throw Self.unwritable(path, .current)
        }
        defer { TemporaryFiles.remove(temporaryPath) }
        guard isClosed, rename(temporaryPath, path) == 0 else {
            let error = SystemError.current
            unlink(temporaryPath)
            throw Self.unwritable(path, error)
        }
    }

    /// Closes the file and removes it.
    func discard() {
        close(descriptor)
        guard let temporaryPath else { return }
        unlink(temporaryPath)
        TemporaryFiles.remove(temporaryPath)
    }

    private static func resolved(_ path: String) -> String? {
        guard let resolved = realpath(path, nil) else { return nil }
        defer { free(resolved) }
        return String(cString: resolved)
    }

    private static func unwritable(_ path: String, _ error: SystemError) -> CommandFailure {
        CommandFailure("The file \"\(path)\" can't be written: \(error).")
    }
}

/// The regular file that a download would replace.
struct ReplacedFile {
    let byteCount: Int
    /// The date of the last change of its content.
    let date: Date

    /// Reads the attributes of the file; `nil` if it does not exist, or is not a file, such as a symbolic link.
    init?(path: String) {
        guard let attributes = try? FileManager.default.attributesOfItem(atPath: path),
            attributes[.type] as? FileAttributeType == .typeRegular,
            let size = attributes[.size] as? NSNumber, let date = attributes[.modificationDate] as? Date
        else { return nil }
        (byteCount, self.date) = (size.intValue, date)
    }
}
