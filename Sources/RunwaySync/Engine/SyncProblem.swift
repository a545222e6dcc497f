import HTTPTypes
import Runway

/// The reason why a space is not being synchronised now.
///
/// A switch over kinds needs a `default`, since later versions may add kinds.
public struct SyncProblem: Hashable, Sendable, CustomStringConvertible {
    /// The kind in one word, which stays the same from release to release.
    public let description: String

    init(description: String) { self.description = description }

    /// The device has no network, or the server did not respond in time.
    public static let offline = SyncProblem(description: "offline")
    /// The server requires a sign-in.
    public static let signedOut = SyncProblem(description: "signedOut")
    /// The server refuses the account.
    public static let forbidden = SyncProblem(description: "forbidden")
    /// The server failed, or asked for a pause.
    public static let unavailable = SyncProblem(description: "unavailable")
    /// The response was not one of this protocol, for example the page of a public Wi-Fi.
    public static let unreadable = SyncProblem(description: "unreadable")
    /// The app has to be updated.
    public static let outdated = SyncProblem(description: "outdated")
    /// The file of records can't be written now, for example because the disk is full.
    public static let file = SyncProblem(description: "file")
    /// The rows of this device differed from those of the server, by a mistake of one of them; see
    /// ``SyncStatus/mismatchCount``. All rows are read again, at most once an hour. The record of the call that showed
    /// the difference has the decision `mismatch`.
    public static let mismatch = SyncProblem(description: "mismatch")

    init(_ error: NetworkError) {
        self =
            switch (error.kind, error.status?.code) {
            case (.needsLogin, _), (.needsAccessToken, _), (.loginCancelled, _), (_, 401): .signedOut
            case (_, 403): .forbidden
            case (.noNetwork, _), (.timedOut, _): .offline
            case (.invalidResponse, _): .unreadable
            default: .unavailable
            }
    }
}
