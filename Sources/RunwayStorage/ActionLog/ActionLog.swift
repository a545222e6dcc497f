public import Foundation
public import Runway
import Synchronization

/// Stores the actions of the user on disk and sends them to a server. The server counts every record once.
///
/// ```swift
/// let file = folder.appending(path: "actions.sqlite")
/// let log = ActionLog(at: file, sendingTo: Listings.self, at: "log", over: network)
/// log.record("opened", ["rental": 42])
/// await log.flush()      // when the app goes to the background
/// ```
///
/// A record is stored as soon as the disk allows. Records are sent in batches of thirty. A batch is sent when thirty
/// records wait, when the app asks, after ``ActionLogOptions/interval``, when an account signs in, and at launch if the
/// last run left records.
///
/// No failure of the network, the server or the disk removes a record. Only the limits of ``ActionLogOptions`` do, and
/// ``close()``, which removes records that could not be written to disk. ``currentState`` has the counts by reason.
/// Each record has a UUIDv7, the session, the boot of the system and two times of the moment at which it was recorded.
///
/// Records of an account are sent only while this account is signed in to the service. Records without an account are
/// sent at any time. They are sent without a token unless the service requires one (`AuthorizationPolicy.required`).
///
/// Only the user can read the file, and it is not in backups. Its folder should contain nothing else. One process at a
/// time can have it open. The service's server must respond as `docs/formats.md` says; `ActionLogRoute` of
/// `RunwayServer` does.
public final class ActionLog: Sendable {
    private let buffer: RecordBuffer
    let store: JournalQueue
    let sender: ActionLogSender
    private let sending: Task<Void, Never>
    private let writing: Task<Void, Never>
    /// Guards the tasks that observe the layer.
    private let watching = Mutex<[Task<Void, Never>]>([])

    /// Opens a log, and returns at once. A task opens the file; until then, records wait in memory.
    ///
    /// - Parameters:
    ///   - file: The SQLite file, which is created if it does not exist. On iOS, it must not be in the container of an
    ///     app group: the system ends an app that is suspended while SQLite holds a lock there.
    ///   - service: The service whose server receives the records. Its `judge(_:rawData:)` must accept the responses.
    ///   - path: The path of the route, relative to the service's base URL.
    ///   - network: Sends the batches, like any other call of the service.
    ///   - options: The limits, and the times at which records are sent.
    public convenience init<Service: APIService>(
        at file: URL, sendingTo service: Service.Type, at path: EndpointPath, over network: NetworkLayer,
        options: ActionLogOptions = ActionLogOptions()
    ) {
        self.init(at: file, options: options, clock: network.clock)
        start(sendingTo: service, at: path, over: network)
    }

    /// Opens a log before its layer exists, so that the launch of the app can be recorded.
    ///
    /// Records are stored at once, without an account. They are sent after ``start(sendingTo:at:over:)``.
    ///
    /// - Parameters:
    ///   - file: The SQLite file, which is created if it does not exist.
    ///   - options: The limits, and the times at which records are sent.
    public convenience init(at file: URL, options: ActionLogOptions = ActionLogOptions()) {
        self.init(at: file, options: options, clock: .system)
    }

    init(at file: URL, options: ActionLogOptions, clock: LayerClock) {
        let buffer = RecordBuffer(options, clock: clock)
        let store = JournalQueue(
            at: file, limits: options.limits, durability: options.durability, sealing: options.sealing
        ) { buffer.time }
        let sender = ActionLogSender(store, buffer)
        (self.buffer, self.store, self.sender) = (buffer, store, sender)
        sending = Task { await sender.run() }
        writing = Task { await ActionLogWriter(buffer: buffer, store: store, sender: sender).run() }
    }

    deinit {
        // The writer task tries to write the records in memory, and then ends.
        buffer.finish()
        stopWatching()
        sending.cancel()
    }

    /// Starts to send the records of a log that was opened before its layer existed.
    ///
    /// - Parameters:
    ///   - service: The service whose server receives the records. Its `judge(_:rawData:)` must accept the responses.
    ///   - path: The path of the route, relative to the service's base URL.
    ///   - network: Sends the batches, like any other call of the service.
    /// - Precondition: The log has no layer yet.
    public func start<Service: APIService>(
        sendingTo service: Service.Type, at path: EndpointPath, over network: NetworkLayer
    ) {
        let link = ActionLogSender.Link(
            send: { body, isAnonymous throws(NetworkError) in
                if isAnonymous {
                    return try await network.call(ActionLogBatch<Service, LogOfNobody>(path: path, body: body))
                }
                return try await network.call(ActionLogBatch<Service, LogOfAccount>(path: path, body: body))
            },
            erase: { () throws(NetworkError) in _ = try await network.call(ActionLogErasure<Service>(path: path)) },
            eraseOfNobody: { secret throws(NetworkError) in
                _ = try await network.call(AnonymousErasure<Service>(log: path, secret: secret))
            },
            account: { network.settings(of: service).account ?? "" }, status: { network.status },
            beginGrace: { network.beginGrace($0) })
        let (sender, statuses, changes) = (sender, network.statuses, network.servicesChanges)
        sender.start(link)
        watching.withLock { tasks in
            tasks = [
                Task { for await status in statuses { sender.networkDidChange(to: status) } },
                Task { for await _ in changes { await sender.servicesDidChange() } },
            ]
        }
    }

    @discardableResult
    private func stopWatching() -> [Task<Void, Never>] {
        let tasks = watching.withLock { $0 }
        for task in tasks { task.cancel() }
        return tasks
    }

    /// Records an action, and returns at once. A task writes the record to the file.
    ///
    /// - Parameters:
    ///   - name: The name of the action. If it is a URL, its secrets are redacted before it is written to disk.
    ///   - properties: The details of the action. Secrets are redacted before they are written to disk.
    ///   - priority: Decides which records are evicted first. A record of high priority is also sent at once. The
    ///     default is normal.
    /// - Returns: A receipt that can wait for the commit.
    @discardableResult
    public func record(
        _ name: String, _ properties: Parameters = [:], priority: ActionPriority = .normal
    ) -> ActionReceipt {
        buffer.add(name, properties, priority, account: sender.account)
    }

    /// Stores and sends the recorded actions. Call this function when the app goes to the background.
    ///
    /// The function returns when all records that were waiting at its call are sent. It returns earlier if an attempt
    /// failed, the server asked for a pause, there is no network, or the log has no layer. If its task is cancelled, it
    /// does not wait for the server, and sending continues.
    ///
    /// The function uses the background time that the system grants (`BackgroundGrace`), from its start to its return.
    public func flush() async {
        let grace = sender.beginGrace()
        defer { grace?.end() }
        await buffer.pass()
        await sender.flush()
    }

    /// Stores the records in memory, stops sending, and closes the file. Another log can then open it.
    ///
    /// Later records are not stored. Functions that use the file then throw ``StorageError/Kind/unavailable``, and
    /// ``currentState`` has this error as its ``ActionLogState/problem``.
    public func close() async {
        buffer.finish()
        await writing.value
        let watchers = stopWatching()
        sending.cancel()
        await sending.value
        for watcher in watchers { await watcher.value }
        await store.close()
    }
}

// The functions for the state of the log, and for the decisions of the app and its user.
extension ActionLog {
    /// The numbers of records that are waiting, that were sent, and that were lost.
    ///
    /// If the file can't be read, ``ActionLogState/problem`` names the reason. Another process may have it open, for
    /// example, or ``close()`` was called. The state then contains only the counts of this run: the records in memory,
    /// the sent records, and the losses in memory.
    public var currentState: ActionLogState {
        get async {
            var state = ActionLogState()
            do throws(StorageError) {
                let (counts, erasures, isOptedOut) = try await store.read { journal throws(StorageError) in
                    (try journal.counts(), try journal.erasures(), try journal.isOptedOut())
                }
                state.waitingCount = counts.waiting.values.reduce(0, +)
                state.waitingByteCount = counts.waitingByteCount
                state.setAsideCount = counts.setAside
                state.sealedCount = counts.sealed
                state.pendingErasureCount = erasures.pending
                state.refusedErasures = erasures.refused
                state.isOptedOut = isOptedOut
                for (reason, count) in counts.lost { state.lost[ActionLoss(name: reason.rawValue)] = count }
            } catch {
                state.problem = error
            }
            state.bufferedCount = buffer.count
            state.isServerRefusingAll = sender.isRefusingAll
            state.isOptedOut = state.isOptedOut || buffer.isOptedOut
            state.sentCount = sender.sentCount
            state.lost.merge(buffer.lost, uniquingKeysWith: +)
            state.sendingProblem = sender.problem
            state.logByteCount = store.logByteCount
            // A write error takes precedence. It stays until a write succeeds.
            state.problem = store.problem ?? state.problem
            state.unreadableFiles = store.filesSetAside
            return state
        }
    }

    /// Returns the records that are set aside, oldest first, with the reasons: the server refused them, or failed on
    /// them repeatedly. Records that can't be decrypted follow; they wait for their key.
    ///
    /// - Throws: ``StorageError`` if the file can't be read.
    public func refusedRecords() async throws(StorageError) -> [RefusedAction] {
        try await store.read { journal throws(StorageError) in
            let sealedReason = "The record can't be decrypted: its key can't be read, or is another one."
            return (try journal.entriesSetAside() + journal.entriesSealed()).map { entry in
                RefusedAction(
                    id: entry.id, account: entry.scope, json: entry.payload, isSealed: entry.isSealed,
                    reason: entry.state == .sealed ? sealedReason : entry.reason)
            }
        }
    }

    /// Sends refused records again. Their age starts at zero; see ``ActionLogOptions/maximumAge``.
    ///
    /// - Throws: ``StorageError`` if the file can't be written.
    public func retry(_ records: Set<UUID>) async throws(StorageError) {
        let time = buffer.time
        try await store.run { journal throws(StorageError) in try journal.retry(records, at: time) }
        await sender.refresh(isUrgent: true)
    }

    /// Replaces the name and properties of a refused record, and sends it again. Its id, times and session stay.
    ///
    /// - Parameters:
    ///   - record: The id of the record.
    ///   - name: The new name of the action.
    ///   - properties: The new details of the action. Secrets are redacted, as by ``record(_:_:priority:)``.
    /// - Throws: ``StorageError/Kind/rejected`` if the record is not set aside or can't be decrypted, or the properties
    ///   can't be encoded. Other kinds if the file can't be written.
    public func edit(
        _ record: UUID, as name: String, _ properties: Parameters = [:]
    ) async throws(StorageError) {
        let (options, time) = (buffer.options, buffer.time)
        try await store.run { journal throws(StorageError) in
            guard let placed = try journal.entry(record), placed.state == .setAside, !placed.isSealed else {
                throw StorageError(.rejected, "The log has no such record that is set aside and can be read.")
            }
            let payload = try ActionRecord.edited(
                placed.payload, name, properties, redaction: options.redaction,
                maximumByteCount: options.maximumRecordByteCount)
            try journal.replace(placed, with: payload, time)
        }
        await sender.refresh(isUrgent: true)
    }

    /// Removes refused records, and records whose key the app no longer has.
    ///
    /// - Throws: ``StorageError`` if the file can't be written.
    public func discard(_ records: Set<UUID>) async throws(StorageError) {
        try await store.run { journal throws(StorageError) in try journal.discard(records) }
    }

    /// Removes all records of an account from memory and disk. Can also ask the server to erase its records.
    ///
    /// The request to the server is stored, and sent while the account is signed in, also in a later run. It is
    /// repeated until the server responds with 204. Until then, later records of the account wait.
    ///
    /// A server that refuses the request, for example with 404, 405 or 501 because it has no such route, is asked five
    /// times. Then the account is in ``ActionLogState/refusedErasures``, and its later records are sent. The local
    /// records are removed in any case.
    ///
    /// - Parameters:
    ///   - account: The account, as in `ServiceSettings.account`. An empty text means the records without an account.
    ///   - isErasedAtServer: Whether to send `DELETE` to the path of the log. `ActionLogRoute` serves it if it is
    ///     configured to. The default is `false`: the server does not erase its records, and the account's name stays
    ///     in the file, so that a later opt-out can ask the server.
    /// - Throws: ``StorageError/Kind/rejected`` for records without an account at the server, since only
    ///   ``setOptedOut(_:erasingAtServer:)`` can erase them there. Also for an account that contains U+0000, whose
    ///   records are never stored. Other kinds if the file can't be written. For a full disk, the log has reserved
    ///   space; `docs/storage.md` describes its limits.
    public func erase(account: String, atServer isErasedAtServer: Bool = false) async throws(StorageError) {
        guard !isErasedAtServer || !account.isEmpty else {
            throw StorageError(.rejected, "Only an opt-out has the server erase the records of nobody.")
        }
        guard account.isScope else {
            throw StorageError(.rejected, "The log has no records of an account whose name has the character U+0000.")
        }
        let grace = sender.beginGrace()
        defer { grace?.end() }
        buffer.erase { $0.account == account }
        // Records that are being written now reach the file before this operation runs.
        try await store.run(.erasing) { journal throws(StorageError) in
            // The local records are erased before the request to the server is stored. In the other order, a kill
            // between the two could leave records that are sent after the server has erased the earlier ones.
            try journal.erase(account)
            if isErasedAtServer {
                try journal.setErasurePending(account, true)
                try journal.forgetAccount(account)
            }
        }
        await sender.refresh(isUrgent: isErasedAtServer)
    }

    /// Stops recording and sending after the user opted out, or resumes both. The decision is stored. If the file is so
    /// damaged that neither the decision nor a record can be read, the log assumes an opt-out.
    ///
    /// An opt-out removes all records of all accounts from memory and disk. Later records are counted as
    /// ``ActionLoss/optedOut``.
    ///
    /// - Parameters:
    ///   - isOptedOut: Whether the user opted out.
    ///   - isErasedAtServer: Whether the server is asked to erase its records. The default is `true`. It has no effect
    ///     when recording resumes.
    ///
    /// The server is asked to erase the records of the signed-in account. It is also asked for every account with
    /// records since the last opt-out, or since the last erasure of that account. Each request is sent while its
    /// account is signed in, as by ``erase(account:atServer:)``.
    ///
    /// If there were records without an account since the last opt-out, the server is asked to erase this
    /// installation's records without an account. This request needs no sign-in, since it contains a secret from the
    /// file. Records sent from an earlier file, for example a damaged one, stay on the server.
    ///
    /// The function uses the background time that the system grants (`BackgroundGrace`), from its start to its return.
    ///
    /// - Throws: ``StorageError`` if the file can't be written. Recording stops in this run nevertheless. Call the
    ///   function again, so that later runs know the decision. For a full disk, the log has reserved space, as for
    ///   ``erase(account:atServer:)``.
    public func setOptedOut(
        _ isOptedOut: Bool, erasingAtServer isErasedAtServer: Bool = true
    ) async throws(StorageError) {
        let grace = sender.beginGrace()
        defer { grace?.end() }
        if isOptedOut { buffer.setOptedOut(true) }
        let account = sender.account
        // An interrupted opt-out may have left records. They are erased before recording resumes.
        try await store.run(.erasing) { [buffer] journal throws(StorageError) in
            var accounts: Set<String> = []
            if isOptedOut, isErasedAtServer {
                accounts = try journal.accounts()
                if !account.isEmpty, account.isScope { accounts.insert(account) }
            }
            try journal.setOptedOut(isOptedOut, erasingAtServer: accounts)
            // The buffer is changed within this operation, before the next operation on the file. So memory and file
            // agree on the latest decision.
            buffer.setOptedOut(isOptedOut)
        }
        await sender.refresh(isUrgent: true)
    }
}
