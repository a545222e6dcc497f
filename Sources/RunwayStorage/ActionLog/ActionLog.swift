public import Foundation
public import Runway
import Synchronization

/// Stores the actions of the user on disk and sends them to a server, so that the server counts every record once.
///
/// ```swift
/// let file = folder.appending(path: "actions.sqlite")
/// let log = ActionLog(at: file, sendingTo: Listings.self, at: "log", over: network)
/// log.record("opened", ["rental": 42])
/// await log.flush()      // when the app goes to the background
/// ```
///
/// A record is stored as soon as the disk allows. Records are sent in batches of thirty: when that many wait, when the
/// app asks, after ``ActionLogOptions/interval``, when an account signs in, and at launch if the last run left any. A
/// failure of the network, the server or the disk removes no record: only the limits of ``ActionLogOptions`` do, and
/// ``close()`` removes records that could not be written to disk; ``currentState`` has the counts by reason. Each
/// record has a UUIDv7, the session, the boot of the system and two times of the moment at which it was recorded.
///
/// Records of an account are sent only while it is signed in to the service, as that account. Records without an
/// account are sent at any time, without a token unless the service requires one (`AuthorizationPolicy.required`). Only
/// the user can read the file, whose folder should contain nothing else, and it is not in backups. One process at a
/// time can have it open. The service's server must respond as `docs/formats.md` says; `ActionLogRoute` of
/// `RunwayServer` does.
public final class ActionLog: Sendable {
    private let buffer: RecordBuffer
    let store: JournalStore
    let sender: ActionLogSender
    private let sending: Task<Void, Never>
    private let writing: Task<Void, Never>
    /// Guards the tasks that follow the layer.
    private let watching = Mutex<[Task<Void, Never>]>([])

    /// Opens a log, and returns at once: the file is opened by a task, and records wait in memory until then.
    ///
    /// - Parameters:
    ///   - file: The SQLite file, which is created if it does not exist. On iOS not in the container of an app group:
    ///     the system ends an app that is suspended while SQLite holds a lock there.
    ///   - service: The service whose server takes the records. Its `judge(_:rawData:)` must accept the responses.
    ///   - path: The path of the route below the service's base URL.
    ///   - network: Sends the batches, like any other call of the service.
    ///   - options: The bounds, and when records are sent.
    public convenience init<Service: APIService>(
        at file: URL, sendingTo service: Service.Type, at path: EndpointPath, over network: NetworkLayer,
        options: ActionLogOptions = ActionLogOptions()
    ) {
        self.init(at: file, options: options, clock: network.clock)
        start(sendingTo: service, at: path, over: network)
    }

    /// Opens a log before its layer exists, so that the launch of the app can be recorded.
    ///
    /// Records are stored at once, without an account, and are sent after ``start(sendingTo:at:over:)``.
    ///
    /// - Parameters:
    ///   - file: The SQLite file, which is created if it does not exist.
    ///   - options: The bounds, and when records are sent.
    public convenience init(at file: URL, options: ActionLogOptions = ActionLogOptions()) {
        self.init(at: file, options: options, clock: .system)
    }

    init(at file: URL, options: ActionLogOptions, clock: LayerClock) {
        let buffer = RecordBuffer(options, clock: clock)
        let store = JournalStore(
            at: file, limits: options.limits, durability: options.durability, sealing: options.sealing
        ) { buffer.time }
        let sender = ActionLogSender(store, buffer)
        (self.buffer, self.store, self.sender) = (buffer, store, sender)
        sending = Task { await sender.run() }
        writing = Task { await ActionLogWriter(buffer: buffer, store: store, sender: sender).run() }
    }

    deinit {
        // The writer ends when it has tried to write the records in memory.
        buffer.finish()
        stopWatching()
        sending.cancel()
    }

    /// Starts to send the records of a log that was opened before its layer existed.
    ///
    /// - Parameters:
    ///   - service: The service whose server takes the records. Its `judge(_:rawData:)` must accept the responses.
    ///   - path: The path of the route below the service's base URL.
    ///   - network: Sends the batches, like any other call of the service.
    /// - Precondition: The log has no other layer.
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

    /// Records an action, and returns at once; a task writes the record.
    ///
    /// - Parameters:
    ///   - name: The action of the user. If it is a URL, its secrets are redacted before it is written to disk.
    ///   - properties: The details of the action. Secrets are redacted before they are written to disk.
    ///   - priority: Decides which records are evicted first; a record of high priority is also sent at once. The
    ///     default is normal.
    /// - Returns: A receipt, by which the commit can be awaited.
    @discardableResult
    public func record(
        _ name: String, _ properties: Parameters = [:], priority: ActionPriority = .normal
    ) -> ActionReceipt {
        buffer.add(name, properties, priority, account: sender.account)
    }

    /// Stores and sends the recorded actions, for an app that goes to the background.
    ///
    /// The function returns when all records are sent that waited when it was called, or when no more can be sent now:
    /// an attempt failed, the server asked to wait, there is no network, or the log has no layer. If the task is
    /// cancelled the function does not wait for the server, and sending continues.
    ///
    /// The system's time in the background (`BackgroundGrace`) is taken before anything is written, and ended when the
    /// function returns.
    public func flush() async {
        let grace = sender.beginGrace()
        defer { grace?.end() }
        await buffer.pass()
        await sender.flush()
    }

    /// Stores the records in memory, ends sending, and closes the file, which another log can open then. Later records
    /// are not stored, and functions that use the file throw ``StorageError/Kind/unavailable``, which is then the
    /// ``ActionLogState/problem`` of ``currentState``.
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

// The state of the log, and the decisions of the app and the user about it.
extension ActionLog {
    /// The numbers of records that the log holds, has sent, and has lost.
    ///
    /// If the file can't be read, for example while another process has it open or after ``close()``,
    /// ``ActionLogState/problem`` says why. The state then has only the numbers that this run knows without the file:
    /// the records in memory, the sent records, and the losses in memory.
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
            // The error of a write comes first: it stays until a write succeeds.
            state.problem = store.problem ?? state.problem
            state.unreadableFiles = store.filesSetAside
            return state
        }
    }

    /// Returns the records that are set aside, oldest first, with the reasons: the server refused them or failed on
    /// them again and again. They are followed by the records that can't be decrypted, and wait for their key.
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

    /// Sends refused records again. Their age, see ``ActionLogOptions/maximumAge``, counts from now.
    ///
    /// - Throws: ``StorageError`` if the file can't be written.
    public func retry(_ records: Set<UUID>) async throws(StorageError) {
        let time = buffer.time
        try await store.run { journal throws(StorageError) in try journal.retry(records, at: time) }
        await sender.refresh(isUrgent: true)
    }

    /// Replaces the name and the properties of a refused record, and sends it again. Its id, its times and its session
    /// stay.
    ///
    /// - Parameters:
    ///   - record: The id of the record.
    ///   - name: The new name of the action.
    ///   - properties: The new details of the action. Secrets are redacted, as by ``record(_:_:priority:)``.
    /// - Throws: ``StorageError/Kind/rejected`` for a record that is not set aside or can't be decrypted, and for
    ///   properties that can't be written; other kinds if the file can't be written.
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

    /// Removes refused records, and records that wait for a key that the app does not have any more.
    ///
    /// - Throws: ``StorageError`` if the file can't be written.
    public func discard(_ records: Set<UUID>) async throws(StorageError) {
        try await store.run { journal throws(StorageError) in try journal.discard(records) }
    }

    /// Removes all records of an account from memory and from the disk, and asks the server to do the same.
    ///
    /// The request to the server is stored. It is sent while the account is signed in, in this run or a later one,
    /// again until the server has accepted it with 204; later records of the account wait until then. A server that
    /// refuses it, for instance because it has no such route (404, 405, 501), is asked five times; then
    /// ``ActionLogState/refusedErasures`` has the account, and its later records are sent. Records that were removed
    /// from memory and disk stay removed.
    ///
    /// - Parameters:
    ///   - account: The account, as in `ServiceSettings.account`; empty for the records without an account.
    ///   - isErasedAtServer: Whether the server is asked, too: by `DELETE` at the path of the log, which
    ///     `ActionLogRoute` serves if it is set up to. The default is `false`: the sent records of the account stay at
    ///     the server, and its name in the file, so that a later opt-out asks the server.
    /// - Throws: ``StorageError/Kind/rejected`` for records without an account at the server, which only
    ///   ``setOptedOut(_:erasingAtServer:)`` can erase there, and for an account with the character U+0000, whose
    ///   records are never stored; other kinds if the file can't be written. On a full disk the log has space of its
    ///   own for this; `docs/storage.md` says when that is not enough.
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
        // Records that are being written now are in the file before this operation runs.
        try await store.run(.erasing) { journal throws(StorageError) in
            // In this order no kill leaves records that are sent after the server has erased the others.
            try journal.erase(account)
            if isErasedAtServer {
                try journal.setErasurePending(account, true)
                try journal.forgetAccount(account)
            }
        }
        await sender.refresh(isUrgent: isErasedAtServer)
    }

    /// Stops recording and sending, for a user who opted out, or resumes both. The decision is stored. If the file is
    /// so damaged that neither the decision nor a record can be read, it counts as an opt-out.
    ///
    /// An opt-out removes all records of all accounts from memory and from the disk; later records are counted as
    /// ``ActionLoss/optedOut``.
    ///
    /// - Parameters:
    ///   - isOptedOut: Whether the user opted out.
    ///   - isErasedAtServer: Whether the server is asked to erase the records that it has. The default is `true`. It
    ///     has no effect when recording resumes.
    ///
    /// The server erases the records of the account that is signed in, and of every account that has recorded since the
    /// last opt-out or since the server was last asked to erase it; each of them while it is signed in, as by
    /// ``erase(account:atServer:)``. If there were records without an account since the last opt-out, the server is
    /// also asked to erase the records of this installation that have no account. That request needs no sign-in: it
    /// contains a secret of the file. Records that were sent from an earlier file, for example one that was damaged,
    /// stay at the server.
    ///
    /// The system's time in the background (`BackgroundGrace`) is taken before anything is removed, and ended when it
    /// returns.
    ///
    /// - Throws: ``StorageError`` if the file can't be written. Nothing is recorded in this run nevertheless; call the
    ///   function again, so that later runs know the decision. On a full disk the log has space of its own for this, as
    ///   for ``erase(account:atServer:)``.
    public func setOptedOut(
        _ isOptedOut: Bool, erasingAtServer isErasedAtServer: Bool = true
    ) async throws(StorageError) {
        let grace = sender.beginGrace()
        defer { grace?.end() }
        if isOptedOut { buffer.setOptedOut(true) }
        let account = sender.account
        // If an opt-out was interrupted, the rest of its records is erased before recording resumes.
        try await store.run(.erasing) { [buffer] journal throws(StorageError) in
            var accounts: Set<String> = []
            if isOptedOut, isErasedAtServer {
                accounts = try journal.accounts()
                if !account.isEmpty, account.isScope { accounts.insert(account) }
            }
            try journal.setOptedOut(isOptedOut, erasingAtServer: accounts)
            // Before the next operation on the file, so that memory and file agree on the later one of two decisions.
            buffer.setOptedOut(isOptedOut)
        }
        await sender.refresh(isUrgent: true)
    }
}
