public import Foundation

/// What an ``ActionLog`` holds, has sent and has lost.
///
/// While the file can't be read, which ``problem`` reports, what only the file knows is zero, empty or `false`.
public struct ActionLogState: Sendable, Hashable {
    /// Records in memory that are not on disk yet.
    public var bufferedCount = 0
    /// Records on disk that the server has not acknowledged.
    public var waitingCount = 0
    /// Their bytes.
    public var waitingByteCount = 0
    /// Records that are set aside: the server refused them or failed on them again and again.
    public var setAsideCount = 0
    /// Records of another key than the app's ``PayloadSealing`` has now. They wait for it, in this run or a later one,
    /// and are evicted as those that wait to be sent.
    public var sealedCount = 0
    /// Whether the server seems to refuse everything: it refused, or failed on, three single records in a row. Records
    /// that were set aside since then wait again when it accepts one.
    public var isServerRefusingAll = false
    /// Accounts whose records the server is yet to erase; see ``ActionLog/erase(account:atServer:)``. The records of
    /// nobody count as those of one account; see ``ActionLog/setOptedOut(_:erasingAtServer:)``.
    public var pendingErasureCount = 0
    /// Accounts whose records the server will not erase, such as because it has no route for it, with the reasons. An
    /// empty name stands for the records of nobody. The server is not asked again, unless the app calls
    /// ``ActionLog/erase(account:atServer:)`` or ``ActionLog/setOptedOut(_:erasingAtServer:)`` again.
    public var refusedErasures: [String: String] = [:]
    /// Whether the user opted out, or a file that was damaged does not say that the user did not; see
    /// ``ActionLog/setOptedOut(_:erasingAtServer:)``.
    public var isOptedOut = false
    /// Records that the server acknowledged in this run.
    public var sentCount = 0
    /// How many records were lost, by reason: those of the file in all runs, the others in this one.
    public var lost: [ActionLoss: Int] = [:]
    /// Why the last attempt to send failed, such as that the server responded with status 403 or with something else
    /// than a response to the batch, in one sentence for developers; `nil` after an attempt that succeeded, and before
    /// the first.
    public var sendingProblem: String?
    /// The bytes of the file's write-ahead log. SQLite moves them to the file when they are about 4 MiB; more than that
    /// for long means that it can't.
    public var logByteCount = 0
    /// Why the latest write to the file failed, such as that the disk is full or that the key of the app's
    /// ``PayloadSealing`` can't be read (``StorageError/Kind/keyUnavailable``), until a write succeeds; or why the file
    /// can't be read. Otherwise `nil`.
    public var problem: StorageError?
    /// Damaged files, or files of a later version, that were renamed in this run. New ones were begun, with what is
    /// sound of the damaged.
    public var unreadableFiles: [URL] = []
}

/// Why a record was never sent.
public struct ActionLoss: Sendable, Hashable, CustomStringConvertible {
    let name: String

    /// The reason in one word.
    public var description: String { name }

    /// More than ``ActionLogOptions/maximumCount`` waited.
    public static let count = ActionLoss(name: JournalLoss.count.rawValue)
    /// More than ``ActionLogOptions/maximumByteCount`` waited.
    public static let bytes = ActionLoss(name: JournalLoss.bytes.rawValue)
    /// It waited longer than ``ActionLogOptions/maximumAge``.
    public static let age = ActionLoss(name: JournalLoss.age.rawValue)
    /// Its bytes on disk were damaged. What is sound of a damaged file is copied to the new one; the rest is counted
    /// here, as far as the file says how much there was.
    public static let damaged = ActionLoss(name: JournalLoss.damaged.rawValue)
    /// More than 1,000 were set aside.
    public static let setAside = ActionLoss(name: JournalLoss.setAside.rawValue)
    /// More than 10,000 records, or more than 16 MiB, waited for the disk.
    public static let memory = ActionLoss(name: "memory")
    /// The record was not sampled.
    public static let sampled = ActionLoss(name: "sampled")
    /// The user had opted out.
    public static let optedOut = ActionLoss(name: "optedOut")
    /// The record could not be written as JSON, had too many bytes, came after ``ActionLog/close()`` had begun, or is
    /// of an account whose name has the character U+0000.
    public static let rejected = ActionLoss(name: "rejected")
}

/// A record that is set aside, or waits for its key.
public struct RefusedAction: Sendable, Hashable, Identifiable {
    /// The id of the record.
    public let id: UUID
    /// The account that recorded it; empty if nobody was signed in.
    public let account: String
    /// The record as it was sent, without its sequence number; empty if it can't be decrypted.
    public let json: [UInt8]
    /// Whether it can't be decrypted. It waits for its key, and needs no decision.
    public let isSealed: Bool
    /// Why, in words of the server or of the log.
    public let reason: String
}
