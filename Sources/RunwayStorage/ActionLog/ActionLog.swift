public import Foundation
public import Runway
import Synchronization

/// Stores what the user did on disk and sends it to a server, so that the server counts every record once.
///
/// ```swift
/// let file = folder.appending(path: "actions.sqlite")
/// let log = ActionLog(at: file, sendingTo: Listings.self, at: "log", over: network)
/// log.record("opened", ["rental": 42])
/// await log.flush()      // when the app goes to the background
/// ```
///
/// A record is stored as soon as the disk allows and is sent in batches of thirty: when so many wait, when the app asks, after
/// ``ActionLogOptions/interval``, and at launch what the last run left. A failure of the network, the server or the disk removes no
/// record: only the bounds of ``ActionLogOptions`` do, and ``state()`` has the counts by reason. Each record has a UUIDv7, the
/// session, the boot of the system and two times of the moment at which it was recorded.
///
/// Records of an account are sent only while it is signed in to the service, as that account; those that were recorded while nobody
/// was are sent at any time. The file, whose folder should contain nothing else, can be read by the user alone. One process at a time can
/// have it open. The service's server must respond as `docs/formats.md` says; `ActionLogRoute` of `RunwayServer` does.
public final class ActionLog: Sendable {
    private let buffer: RecordBuffer
    private let store: JournalStore
    private let sender: ActionLogSender
    private let account: @Sendable () -> String
    private let sending: Task<Void, Never>
    private let writing: Task<Void, Never>
    private let watching: Task<Void, Never>

    /// Opens a log. It returns at once: the file is opened by a task, and records wait in memory until then.
    ///
    /// - Parameters:
    ///   - file: The SQLite file, which is created if it does not exist.
    ///   - service: The service whose server takes the records. Its `judge(_:rawData:)` must accept the responses.
    ///   - path: The path of the route below the service's base URL.
    ///   - network: Sends the batches, as any other call of the service.
    ///   - options: The bounds, and when records are sent.
    public init<Service: APIService>(
        at file: URL, sendingTo service: Service.Type, at path: EndpointPath, over network: NetworkLayer,
        options: ActionLogOptions = ActionLogOptions()
    ) {
        let buffer = RecordBuffer(options, clock: network.clock)
        let store = JournalStore(at: file, limits: options.limits, durability: options.durability) { buffer.time }
        account = { network.settings(of: service).account ?? "" }
        let link = ActionLogSender.Link(
            send: { body throws(NetworkError) in
                try await network.call(ActionLogBatch<Service>(path: path, body: body))
            }, account: account)
        let sender = ActionLogSender(
            link, store, buffer, isNetworkAllowed: options.allowsNetwork(network.status))
        (self.buffer, self.store, self.sender) = (buffer, store, sender)
        sending = Task { await sender.run() }
        writing = Task { await ActionLogWriter(buffer: buffer, store: store, sender: sender).run() }
        watching = Task {
            for await status in network.statuses {
                sender.change { $0.networkDidChange(isAllowed: options.allowsNetwork(status)) }
            }
        }
    }

    deinit {
        // The writer ends when it has tried to write what is in memory.
        buffer.finish()
        watching.cancel()
        sending.cancel()
    }

    /// Records an action. It returns at once; a task writes the record.
    ///
    /// - Parameters:
    ///   - name: What the user did.
    ///   - properties: What belongs to it. Secrets are redacted before they are written to disk.
    ///   - priority: Which records are evicted first; a high one is also sent at once. The default is normal.
    /// - Returns: A receipt, by which the commit can be awaited.
    @discardableResult
    public func record(
        _ name: String, _ properties: Parameters = [:], priority: ActionPriority = .normal
    ) -> ActionReceipt {
        let addition = buffer.add(name, properties, priority, account: account())
        if addition.isOfNewAccount { sender.change { $0.accountDidChange() } }
        return addition.receipt
    }

    /// Stores and sends what was recorded, for an app that goes to the background or after a sign-in.
    ///
    /// It returns when all is sent, or as soon as that can't go on now: an attempt failed, or there is no network.
    public func flush() async {
        await buffer.pass()
        await sender.flush()
    }

    /// Stores what is in memory, ends sending, and closes the file. Records that come later are not stored.
    public func close() async {
        buffer.finish()
        await writing.value
        watching.cancel()
        sending.cancel()
        await sending.value
        await store.close()
    }

    /// What the log holds, what it has sent, and what it has lost.
    ///
    /// - Throws: ``StorageError`` if the file can't be read.
    public func state() async throws(StorageError) -> ActionLogState {
        let counts = try await store.run { journal throws(StorageError) in try journal.counts() }
        var lost = buffer.lost
        for (reason, count) in counts.lost { lost[ActionLoss(name: reason.rawValue), default: 0] += count }
        return ActionLogState(
            bufferedCount: buffer.count, waitingCount: counts.waiting.values.reduce(0, +),
            waitingByteCount: counts.waitingByteCount, setAsideCount: counts.setAside, sentCount: sender.sentCount,
            lost: lost, problem: store.problem, unreadableFiles: store.filesSetAside)
    }

    /// The records that the server refused, oldest first, with its reasons.
    ///
    /// - Throws: ``StorageError`` if the file can't be read.
    public func refusedRecords() async throws(StorageError) -> [RefusedAction] {
        try await store.run { journal throws(StorageError) in
            try journal.entriesSetAside().map {
                RefusedAction(
                    id: $0.entry.entry.id, account: $0.entry.entry.scope, json: $0.entry.entry.payload,
                    reason: $0.reason)
            }
        }
    }

    /// Sends refused records again.
    ///
    /// - Throws: ``StorageError`` if the file can't be written.
    public func retry(_ records: Set<UUID>) async throws(StorageError) {
        try await store.run { journal throws(StorageError) in try journal.retry(records) }
        await sender.refresh(isUrgent: true)
    }

    /// Removes refused records.
    ///
    /// - Throws: ``StorageError`` if the file can't be written.
    public func discard(_ records: Set<UUID>) async throws(StorageError) {
        try await store.run { journal throws(StorageError) in try journal.discard(records) }
    }

    /// Removes all records of an account from memory and from the disk. What the server has stays there.
    ///
    /// - Parameter account: The account, as in `ServiceSettings.account`; the records of nobody have an empty one.
    /// - Throws: ``StorageError`` if the file can't be written.
    public func erase(account: String) async throws(StorageError) {
        buffer.erase(account)
        // What is being written now is in the file before this runs.
        try await store.run { journal throws(StorageError) in try journal.erase(account) }
        await sender.refresh()
    }
}

/// What an ``ActionLog`` holds, has sent and has lost.
public struct ActionLogState: Sendable, Hashable {
    /// Records in memory that are not on disk yet.
    public var bufferedCount: Int
    /// Records on disk that the server has not acknowledged.
    public var waitingCount: Int
    /// Their bytes.
    public var waitingByteCount: Int
    /// Records that the server refused.
    public var setAsideCount: Int
    /// Records that the server acknowledged in this run.
    public var sentCount: Int
    /// How many records were lost, by reason: those of the file in all runs, the others in this one.
    public var lost: [ActionLoss: Int]
    /// Why the latest use of the file failed; `nil` if it succeeded.
    public var problem: StorageError?
    /// Damaged files, or files of a later version, that were renamed in this run. New ones were begun.
    public var unreadableFiles: [URL]
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
    /// Its bytes on disk were damaged.
    public static let damaged = ActionLoss(name: JournalLoss.damaged.rawValue)
    /// More than ``ActionLogOptions/maximumSetAsideCount`` were refused by the server.
    public static let setAside = ActionLoss(name: JournalLoss.setAside.rawValue)
    /// More than ``ActionLogOptions/maximumBufferedCount`` waited for the disk.
    public static let memory = ActionLoss(name: "memory")
    /// The record was not sampled.
    public static let sampled = ActionLoss(name: "sampled")
    /// The record could not be written as JSON, or had too many bytes.
    public static let rejected = ActionLoss(name: "rejected")
}

/// A record that the server refused.
public struct RefusedAction: Sendable, Hashable, Identifiable {
    /// The id of the record.
    public let id: UUID
    /// The account that recorded it; empty if nobody was signed in.
    public let account: String
    /// The record as it was sent, without its sequence number.
    public let json: [UInt8]
    /// Why, in the server's words.
    public let reason: String
}
