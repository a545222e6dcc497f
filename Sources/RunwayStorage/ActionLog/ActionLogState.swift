public import Foundation

/// The numbers of records of an ``ActionLog`` that are waiting, that were sent, and that were lost.
///
/// If the file can't be read, ``problem`` has the error. Values from the file are then zero, empty or `false`.
public struct ActionLogState: Sendable, Hashable {
    /// The number of records in memory that are not on disk yet.
    public var bufferedCount = 0
    /// The number of records on disk that the server has not accepted yet.
    public var waitingCount = 0
    /// The total size of the waiting records on disk, in bytes.
    public var waitingByteCount = 0
    /// The number of records that are set aside, because the server refused them or failed on them repeatedly.
    public var setAsideCount = 0
    /// The number of records whose encryption key the app's ``PayloadSealing`` does not have now. They wait for their
    /// key, also in later runs. The limits for waiting records apply to them, too.
    public var sealedCount = 0
    /// Whether the server seems to refuse everything: it refused three single records in a row, or failed on them. When
    /// it accepts a record, all records that were set aside in this series wait to be sent again.
    public var isServerRefusingAll = false
    /// The number of accounts whose records the server still has to erase; see ``ActionLog/erase(account:atServer:)``.
    /// Records without an account count as one account; see ``ActionLog/setOptedOut(_:erasingAtServer:)``.
    public var pendingErasureCount = 0
    /// The accounts whose erasure the server refuses, with the reasons. It may have no route for erasures, for example.
    /// An empty name means the records without an account. The server is asked again only after another call of
    /// ``ActionLog/erase(account:atServer:)`` or ``ActionLog/setOptedOut(_:erasingAtServer:)``.
    public var refusedErasures: [String: String] = [:]
    /// Whether the user opted out. It is also `true` if a damaged file may have contained an opt-out; see
    /// ``ActionLog/setOptedOut(_:erasingAtServer:)``.
    public var isOptedOut = false
    /// The number of records that the server accepted in this run.
    public var sentCount = 0
    /// The number of lost records by reason. Losses of the file count for all runs, other losses for this run.
    public var lost: [ActionLoss: Int] = [:]
    /// The reason why the last attempt to send failed, in one sentence for developers; `nil` if it succeeded, or before
    /// the first attempt. Examples are a response with status 403, or a body that is not a response to the batch.
    public var sendingProblem: String?
    /// The size of the file's write-ahead log in bytes. SQLite moves it to the file at about 4 MiB. A larger log for a
    /// long time means that SQLite can't move it.
    public var logByteCount = 0
    /// The error of the last write to the file, or the reason why the file can't be read; `nil` without an error. A
    /// write error stays until a write succeeds. For example, the disk may be full, or the key of the app's
    /// ``PayloadSealing`` may be unreadable (``StorageError/Kind/keyUnavailable``).
    public var problem: StorageError?
    /// The files that were damaged or had a later version, and that this run renamed. New files replaced them, with the
    /// undamaged records of the damaged files.
    public var unreadableFiles: [URL] = []
}

/// A reason why a record was lost before it was sent.
public struct ActionLoss: Sendable, Hashable, CustomStringConvertible {
    let name: String

    /// The name of the reason, one word.
    public var description: String { name }

    /// The record was evicted because more than ``ActionLogOptions/maximumCount`` records were waiting.
    public static let count = ActionLoss(name: JournalLoss.count.rawValue)
    /// The record was evicted because the waiting records exceeded ``ActionLogOptions/maximumByteCount``.
    public static let bytes = ActionLoss(name: JournalLoss.bytes.rawValue)
    /// The record waited longer than ``ActionLogOptions/maximumAge``.
    public static let age = ActionLoss(name: JournalLoss.age.rawValue)
    /// The record on disk was damaged. The undamaged records of a damaged file are copied to the new file. The damaged
    /// ones are counted here, if the file contains their number.
    public static let damaged = ActionLoss(name: JournalLoss.damaged.rawValue)
    /// The record was evicted because more than 1,000 records were set aside.
    public static let setAside = ActionLoss(name: JournalLoss.setAside.rawValue)
    /// More than 10,000 records, or more than 16 MiB, were waiting to be written to disk.
    public static let memory = ActionLoss(name: "memory")
    /// The record was left out by ``ActionLogOptions/sampleRates``, or by the fraction that the server asked for.
    public static let sampled = ActionLoss(name: "sampled")
    /// The user had opted out.
    public static let optedOut = ActionLoss(name: "optedOut")
    /// The record could not be encoded as JSON, was too large, was made after ``ActionLog/close()``, or belongs to an
    /// account whose name contains U+0000.
    public static let rejected = ActionLoss(name: "rejected")
}

/// A record that is set aside, or that waits for its key.
public struct RefusedAction: Sendable, Hashable, Identifiable {
    /// The id of the record.
    public let id: UUID
    /// The account that was signed in when the record was made; empty if nobody was.
    public let account: String
    /// The record as it was sent, as JSON without its sequence number; empty if it can't be decrypted.
    public let json: [UInt8]
    /// Whether the record can't be decrypted. It waits for its key, and the app need not decide about it.
    public let isSealed: Bool
    /// The reason why the record is not sent, from the server or from the log.
    public let reason: String
}
