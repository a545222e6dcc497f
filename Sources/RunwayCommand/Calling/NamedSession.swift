import HTTPTypes
import Runway

/// The session that `--session` names, for a call to one origin.
struct NamedSession {
    private let file: SessionFile
    private let origin: String
    private var stored: StoredSession

    /// Reads the session.
    ///
    /// - Throws: ``CommandFailure``; see ``SessionFile``.
    init(_ name: String, for target: CallTarget) throws(CommandFailure) {
        file = try SessionFile(name: name)
        origin = target.originName
        stored = try file.load()
    }

    var cookies: [Cookie] { stored.cookies.map(\.cookie) }

    /// The value of `Authorization` for the origin; `nil` if none is stored.
    var authorization: String? { stored.authorization(for: origin) }

    /// Stores the cookies after a call, and its `Authorization` unless the server refused it. Without a response,
    /// nothing changes.
    mutating func save(_ cookies: [Cookie], after result: CallSession.Result, sent head: HTTPRequest)
        throws(CommandFailure)
    {
        guard let status = result.record.attempts.last?.status else { return }
        let before = stored
        stored.setCookies(cookies)
        if let value = head.headerFields[.authorization], status != .unauthorized {
            stored.setAuthorization(value, for: origin)
        }
        if stored != before { try file.save(stored) }
    }
}
