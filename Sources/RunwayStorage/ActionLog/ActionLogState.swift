public import Foundation

/// The numbers of records that an ``ActionLog`` holds, has sent and has lost.
///
/// While the file can't be read, which ``problem`` reports, the values that only the file knows are zero, empty or
/// `false`.
public struct ActionLogState: Sendable, Hashable {
    /// The number of records in memory that are not on disk yet.
    public var bufferedCount = 0
    /// The number of records on disk that the server has not acknowledged.
    public var waitingCount = 0
    /// The number of bytes of the records that ``waitingCount`` counts.
    public var waitingByteCount = 0
    /// The number of records that are set aside: the server refused them or failed on them again and again.
    public var setAsideCount = 0
    /// The number of records that were encrypted with another key than the app's ``PayloadSealing`` has now. They wait
    /// for their key, in this run or a later one, and are evicted like records that wait to be sent.
    public var sealedCount = 0
    /// Whether the server seems to refuse everything: it refused, or failed on, three single records in a row. Records
    /// that were set aside since then wait again when the server accepts a record.
    public var isServerRefusingAll = false
    /// The number of accounts whose records the server is yet to erase; see ``ActionLog/erase(account:atServer:)``. The
    /// records without an account count as those of one account; see ``ActionLog/setOptedOut(_:erasingAtServer:)``.
    public var pendingErasureCount = 0
    /// The accounts whose records the server will not erase, for example because it has no route for it, with the
    /// reasons. An empty name stands for the records without an account. The server is not asked again, unless the app
    /// calls ``ActionLog/erase(account:atServer:)`` or ``ActionLog/setOptedOut(_:erasingAtServer:)`` again.
    public var refusedErasures: [String: String] = [:]
    /// Whether the user opted out. It is also `true` if the file was damaged and may have had an opt-out; see
    /// ``ActionLog/setOptedOut(_:erasingAtServer:)``.
    public var isOptedOut = false
    /// The number of records that the server acknowledged in this run.
    public var sentCount = 0
    /// The numbers of lost records by reason: losses of the file in all runs, other losses in this run.
    public var lost: [ActionLoss: Int] = [:]
    /// The reason why the last attempt to send failed, for example that the server responded with status 403 or with
    /// something else than a response to the batch, in one sentence for developers; `nil` after a successful attempt,
    /// and before the first.
    public var sendingProblem: String?
    /// The bytes of the file's write-ahead log. SQLite moves them to the file when they are about 4 MiB; more than that
    /// for long means that it can't.
    public var logByteCount = 0
    /// The reason why the latest write to the file failed, until a write succeeds, for example that the disk is full or
    /// that the key of the app's ``PayloadSealing`` can't be read (``StorageError/Kind/keyUnavailable``); or the reason
    /// why the file can't be read. Otherwise `nil`.
    public var problem: StorageError?
    /// The damaged files, or files of a later version, that were renamed in this run. New files were begun, with the
    /// sound records of the damaged ones.
    public var unreadableFiles: [URL] = []
}

/// The reason why a record was never sent.
public struct ActionLoss: Sendable, Hashable, CustomStringConvertible {
    let name: String

    /// The reason in one word.
    public var description: String { name }

    /// More than ``ActionLogOptions/maximumCount`` waited.
    public static let count = ActionLoss(name: JournalLoss.count.rawValue)
    /// More than ``ActionLogOptions/maximumByteCount`` waited.
    public static let bytes = ActionLoss(name: JournalLoss.bytes.rawValue)
    /// The record waited longer than ``ActionLogOptions/maximumAge``.
    public static let age = ActionLoss(name: JournalLoss.age.rawValue)
    /// The bytes of the record on disk were damaged. The sound records of a damaged file are copied to the new one; the
    /// others are counted here, if the file says how many there were.
    public static let damaged = ActionLoss(name: JournalLoss.damaged.rawValue)
    /// More than 1,000 were set aside.
    public static let setAside = ActionLoss(name: JournalLoss.setAside.rawValue)
    /// More than 10,000 records, or more than 16 MiB, waited for the disk.
    public static let memory = ActionLoss(name: "memory")
    /// The record was not sampled.
    public static let sampled = ActionLoss(name: "sampled")
    /// The user had opted out.
    public static let optedOut = ActionLoss(name: "optedOut")
    /// The record could not be written as JSON, had too many bytes, came after ``ActionLog/close()`` had begun, or
    /// belongs to an account whose name has the character U+0000.
    public static let rejected = ActionLoss(name: "rejected")
}

/// A record that is set aside, or waits for its key.
public struct RefusedAction: Sendable, Hashable, Identifiable {
    /// The id of the record.
    public let id: UUID
    /// The account for which the record was made; empty if no account was signed in.
    public let account: String
    /// The record as it was sent, without its sequence number; empty if it can't be decrypted.
    public let json: [UInt8]
    /// Whether the record can't be decrypted. It waits for its key, and needs no decision.
    public let isSealed: Bool
    /// The reason, in words of the server or of the log.
    public let reason: String
}
