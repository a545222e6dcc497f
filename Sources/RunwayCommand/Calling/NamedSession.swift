import Foundation
import HTTPTypes
import Runway
import RunwaySignatures

/// The session that `--session` names, for calls to one origin.
///
/// Only the user can read its file. Each call replaces the whole file. If two calls run at the same time, the one that
/// ends last replaces the other's file.
struct NamedSession {
    /// The maximum size of a session file: 4 MiB.
    static let maximumByteCount = 4 << 20

    private let path: String
    private let origin: String
    private var stored = StoredSession()

    /// Reads the session from `$XDG_CONFIG_HOME/runway/sessions` or `~/.config/runway/sessions`. Starts an empty
    /// session if there is no file.
    ///
    /// A damaged file is renamed, with the suffix `.damaged`, so that the next call starts a new session.
    ///
    /// - Throws: ``CommandFailure`` for a name with other characters than letters, digits, hyphens, underscores and
    ///   dots. Also for a file that is damaged, unreadable, too large, or accessible to other users.
    init(_ name: String, for target: CallTarget) throws(CommandFailure) {
        guard name.wholeMatch(of: /[A-Za-z0-9_-][A-Za-z0-9_.-]{0,63}/) != nil else {
            throw CommandFailure("--session needs a name of at most 64 letters, digits, \"-\", \"_\" and \".\".")
        }
        let environment = ProcessInfo.processInfo.environment
        // The XDG specification requires that a relative path is ignored.
        let base = environment["XDG_CONFIG_HOME"].flatMap { $0.hasPrefix("/") ? $0 : nil }
        let folder = base ?? (environment["HOME"] ?? NSHomeDirectory()) + "/.config"
        path = "\(folder)/runway/sessions/\(name).json"
        origin = "\(target.scheme)://\(target.host):\(target.port)"
        if OutputFile.isFree(path) { return }
        let data: Data
        do throws(KeyFileError) {
            let file = try KeyFile(URL(fileURLWithPath: path))
            guard file.isPrivate else {
                throw KeyFileError(reason: "other users can read it; \"chmod 600\" makes it private")
            }
            data = file.data
        } catch {
            throw unusable(error.reason)
        }
        guard data.count <= Self.maximumByteCount,
            let session = try? JSONDecoder().decode(StoredSession.self, from: data), session.version == 1
        else { throw setAside() }
        stored = session
    }

    var cookies: [Cookie] { stored.cookies.map(\.cookie) }

    /// The `Authorization` value for the origin; `nil` if none is stored.
    var authorization: String? { stored.authorization(for: origin) }

    /// Stores the cookies after a call. Also stores the call's `Authorization` value, unless the server refused the
    /// value. Stores nothing if no response arrived.
    mutating func save(
        _ cookies: [Cookie], after result: CallSession.Result, sent head: HTTPRequest
    ) throws(CommandFailure) {
        guard let status = result.record.attempts.last?.status else { return }
        let before = stored
        stored.setCookies(cookies)
        if let value = head.headerFields[.authorization], status != .unauthorized {
            stored.setAuthorization(value, for: origin)
        }
        if stored == before { return }
        let folder = (path as NSString).deletingLastPathComponent
        do {
            try FileManager.default.createDirectory(
                atPath: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        } catch {
            throw CommandFailure("The folder \"\(folder)\" of sessions can't be made: \(error.redactedDescription).")
        }
        guard let text = try? stored.jsonText() else { throw unusable("it can't be written as JSON") }
        try OutputFile.replacePrivately(path, with: Array(text.utf8))
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
