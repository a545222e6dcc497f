import Foundation
import Runway

/// The file of a named session, which only the user can read. It is replaced as a whole; of two calls at a time, the
/// last one's stays.
struct SessionFile: Sendable {
    /// The largest file that is read: 4 MiB.
    static let maximumByteCount = 4 << 20

    let path: String

    /// Names the file of a session: in `$XDG_CONFIG_HOME/runway/sessions`, or in `~/.config/runway/sessions`.
    ///
    /// - Throws: ``CommandFailure`` for a name with other characters than letters, digits, hyphens, underscores and
    ///   dots.
    init(name: String, environment: [String: String] = ProcessInfo.processInfo.environment) throws(CommandFailure) {
        let isName = name.utf8.allSatisfy {
            (0x30...0x39).contains($0) || (0x41...0x5A).contains($0) || (0x61...0x7A).contains($0)
                || "-_.".utf8.contains($0)
        }
        guard isName, (1...64).contains(name.utf8.count), !name.hasPrefix(".") else {
            throw CommandFailure("--session needs a name of at most 64 letters, digits, \"-\", \"_\" and \".\".")
        }
        // The specification ignores a path that is not absolute.
        let base = environment["XDG_CONFIG_HOME"].flatMap { $0.hasPrefix("/") ? $0 : nil }
        let folder = base ?? (environment["HOME"] ?? NSHomeDirectory()) + "/.config"
        path = "\(folder)/runway/sessions/\(name).json"
    }

    /// Reads the session; an empty one if there is no file.
    ///
    /// A damaged file is moved to a name that ends in `.damaged`, so that the next call starts a new session.
    ///
    /// - Throws: ``CommandFailure`` if the file is damaged, can't be read, is too large, or is accessible to other
    ///   users.
    func load() throws(CommandFailure) -> StoredSession {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
        guard descriptor >= 0 else {
            if errno == ENOENT { return StoredSession() }
            throw unusable("\(SystemError.current)")
        }
        let file = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
        var status = stat()
        guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
            throw unusable("it is not a regular file")
        }
        guard status.st_uid == geteuid(), status.st_mode & 0o077 == 0 else {
            throw unusable("other users can read it, or it belongs to one; \"chmod 600\" makes it private")
        }
        guard let data = try? file.read(upToCount: Self.maximumByteCount + 1) ?? Data() else {
            throw unusable("\(SystemError.current)")
        }
        guard data.count <= Self.maximumByteCount,
            let session = try? JSONDecoder().decode(StoredSession.self, from: data),
            session.version == 1
        else { throw setAside() }
        return session
    }

    /// Replaces the file.
    ///
    /// - Throws: ``CommandFailure`` if it can't be written.
    func save(_ session: StoredSession) throws(CommandFailure) {
        let folder = (path as NSString).deletingLastPathComponent
        do {
            try FileManager.default.createDirectory(
                atPath: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        } catch {
            throw CommandFailure("The folder \"\(folder)\" of sessions can't be made: \(error.redactedDescription).")
        }
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        guard let bytes = try? encoder.encode(session) else { throw unusable("it can't be written as JSON") }
        let file = try OutputFile(path: path, isPrivate: true)
        do throws(CommandFailure) { try file.write(Array(bytes)) } catch {
            file.discard()
            throw error
        }
        try file.commit()
    }

    private func setAside() -> CommandFailure {
        let aside = path + ".damaged"
        guard rename(path, aside) == 0 else {
            return unusable("it is damaged, and can't be moved: \(SystemError.current)")
        }
        return CommandFailure(
            "The session file \"\(path)\" is damaged and was moved to \"\(aside)\"; the next call starts a new session."
        )
    }

    private func unusable(_ reason: String) -> CommandFailure {
        CommandFailure("The session file \"\(path)\" can't be used: \(reason).")
    }
}
