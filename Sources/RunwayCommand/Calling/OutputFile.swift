import Foundation

/// A file that appears completely or not at all. It is written under a temporary name, and renamed when complete.
struct OutputFile: Sendable {
    let path: String
    private let temporaryPath: String?
    private let descriptor: Int32

    /// Opens a temporary file for writing. An existing file at the path stays until ``commit()``. A device or pipe is
    /// written directly.
    ///
    /// - Parameter isPrivate: Whether only the user may read the file. Otherwise the file gets the permissions of the
    ///   file that it replaces, or the default ones of new files.
    /// - Throws: ``CommandFailure`` if the file can't be written.
    init(path: String, isPrivate: Bool = false) throws(CommandFailure) {
        var status = stat()
        let exists = stat(path, &status) == 0
        let kind = status.st_mode & S_IFMT
        // If the path is a symbolic link, the file that it points to is replaced, not the link.
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

    /// The permissions of new files: all except those that the process's umask removes.
    private static var modeOfNewFiles: mode_t {
        // A process can read its umask only by setting it.
        let mask = umask(0)
        _ = umask(mask)
        return 0o666 & ~mask
    }

    /// Whether there is no file at a path, and no symbolic link either.
    static func isFree(_ path: String) -> Bool {
        var status = stat()
        return lstat(path, &status) != 0
    }

    /// Sets the permissions of a file to the default of new files. A download creates its file readable only by the
    /// user.
    static func share(_ path: String) {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
        guard descriptor >= 0 else { return }
        fchmod(descriptor, modeOfNewFiles)
        close(descriptor)
    }

    /// Replaces a file that only the user may read. Returns its path.
    ///
    /// - Throws: ``CommandFailure`` if the file can't be written.
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

    /// - Throws: ``CommandFailure`` if the bytes can't be written.
    func write(_ bytes: [UInt8]) throws(CommandFailure) {
        do throws(SystemError) { try descriptor.writeAll(bytes) } catch { throw Self.unwritable(path, error) }
    }

    /// Closes the file, and moves it to its final path.
    ///
    /// - Throws: ``CommandFailure`` if this fails. The file is discarded then.
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

    /// Closes and removes the temporary file.
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

/// The existing file that a download would replace.
struct ReplacedFile {
    let byteCount: Int
    let date: Date

    /// Reads the attributes of the file. Returns `nil` if it does not exist, or is not a regular file.
    init?(path: String) {
        guard let attributes = try? FileManager.default.attributesOfItem(atPath: path),
            attributes[.type] as? FileAttributeType == .typeRegular,
            let size = attributes[.size] as? NSNumber, let date = attributes[.modificationDate] as? Date
        else { return nil }
        (byteCount, self.date) = (size.intValue, date)
    }
}
