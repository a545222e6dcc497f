import Foundation
import HTTPTypes
import Runway
import RunwayTables

/// The end of an attempt to transfer a file, and the time of the next one.
enum FileOutcome: Hashable {
    /// The file is here and at the server.
    case settled
    /// The server does not have the file yet.
    case missing
    /// The attempt failed. The server may have named a pause.
    case failed(SyncProblem, pause: Duration? = nil)

    init(_ error: any Error) {
        self =
            switch error {
            case let error as NetworkError where error.status?.code == 413: .failed(.tooLarge)
            case let error as NetworkError where error.kind == .storage: .failed(.file)
            case let error as NetworkError: .failed(SyncProblem(error), pause: error.retryAfter)
            default: .failed(.file)
            }
    }

    private static let day: Int64 = 86_400_000

    /// Returns the problem that the screen shows; `nil` if the user can do nothing but wait.
    ///
    /// - Parameter milliseconds: The time since the server was found not to have the file.
    func problem(missingFor milliseconds: Int64) -> SyncProblem? {
        switch self {
        case .missing where milliseconds >= Self.day: .missing
        case .failed(let problem, _) where problem != .offline: problem
        case .settled, .missing, .failed: nil
        }
    }

    /// Returns the time of the next attempt, in milliseconds since 1970. The pause begins at 4 s, and doubles up to
    /// five minutes, or up to 24 hours for a file that the server lacks or refuses: rows may name any number of them.
    ///
    /// - Parameter failures: The number of attempts that failed before.
    func due(after failures: Int, at now: Int64) -> Int64 {
        let isRefused = if case .failed(.forbidden, _) = self { true } else { false }
        let longest: Int64 = self == .missing || isRefused ? Self.day : 300_000
        let pause = min(4_000 << Int64(min(max(failures, 0), 15)), longest)
        guard case .failed(let problem, let requested) = self else { return now + pause }
        // Another attempt would move all bytes again, with the same end.
        if problem == .tooLarge || problem == .damaged { return FileSchema.never }
        return now + max(pause, min(requested?.components.seconds ?? 0, 86_400) * 1_000)
    }
}
