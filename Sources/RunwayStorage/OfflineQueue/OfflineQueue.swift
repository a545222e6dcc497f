public import Foundation
public import Runway
import Synchronization

/// Stores calls that change something. Calls that failed because there was no network or the server was down are sent
/// later.
///
/// ```swift
/// let queue = OfflineQueue(
///     at: folder.appending(path: "changes.sqlite"),
///     replaying: [ReplayedEndpoint(RenameNote.self) { rename, _, result in await notes.finish(rename, result) }])
/// let network = NetworkLayer(transport: transport, offlineQueue: queue)
/// ```
///
/// `OfflinePolicy` says which calls are stored, and `docs/storage.md` describes the guarantees of the queue. Changes of
/// an account are sent in the order of their calls, one at a time, and only while the account is signed in. All
/// attempts of one change have the same `Idempotency-Key`. Changes are sent at launch, when a network comes back, when
/// an account signs in, by a timer, and when the app asks for it.
///
/// A call is stored before it is sent, and removed when it has ended. If the process ends in between, the next run
/// sends the call.
///
/// A change leaves the queue only because the server has executed it, or because the app cancels, discards or erases
/// it. Three kinds of changes stay until the app decides by ``retry(_:)``, ``edit(_:to:)`` or
/// ``discard(_:withDependents:)``:
///
/// - A change that the server refuses.
/// - A change that waited too long.
/// - A change to which no response comes while the server accepts others. Its state is `expired`, too.
///
/// Until then, later changes with a common subject (`Endpoint.offlineSubjects`) are held, including those of calls that
/// are made online.
///
/// Only the user can read the file. Its folder should contain nothing else. The file has requests without tokens,
/// cookies and signatures. The bodies of the requests are stored unchanged. One process at a time can have the file
/// open.
public final class OfflineQueue: ChangeQueue {
    private struct State {
        var journal: ChangeJournal?
        var drainer: ChangeDrainer?
        var link: ChangeLink?
        var tasks: [Task<Void, Never>] = []
        /// The task that closes the file; `nil` before ``close()``.
        var closing: Task<Void, Never>?
        var readers: [UUID: AsyncStream<OfflineQueueState>.Continuation] = [:]
    }

    private let url: URL
    private let options: OfflineQueueOptions
    private let endpoints: [String: [String: ReplayedEndpoint]]
    private let types: Set<ObjectIdentifier>
    /// Guards the parts of the queue that exist once the queue has a layer, and the readers of ``states``.
    private let state = Mutex(State())

    /// Opens a queue for one layer. A task opens the file when the layer exists.
    ///
    /// - Parameters:
    ///   - file: The SQLite file, which is created if it does not exist. On iOS, it must not be in the container of an
    ///     app group: the system ends an app that is suspended while SQLite holds a lock there.
    ///   - endpoints: All endpoints with an offline policy, each with the handler of its results. A call of any other
    ///     endpoint with an offline policy fails with `NetworkError.Kind.invalidConfiguration`.
    ///   - options: The limits, and the times at which changes are sent.
    /// - Precondition: Two endpoints of one service have different names.
    public init(
        at file: URL, replaying endpoints: [ReplayedEndpoint], options: OfflineQueueOptions = OfflineQueueOptions()
    ) {
        url = file
        self.options = options
        types = Set(endpoints.map { ObjectIdentifier($0.endpoint) })
        var table: [String: [String: ReplayedEndpoint]] = [:]
        for endpoint in endpoints {
            let service = ChangeScope.service(of: endpoint.endpoint)
            let former = table[service, default: [:]].updateValue(endpoint, forKey: endpoint.endpoint.name)
            precondition(former == nil, "Two endpoints of \(service) are called \(endpoint.endpoint.name).")
        }
        self.endpoints = table
    }

    deinit {
        let (tasks, readers) = state.withLock { ($0.tasks, $0.readers.values) }
        for task in tasks { task.cancel() }
        for reader in readers { reader.finish() }
    }

    /// Stops sending, and closes the file. Later changes are not stored. Does nothing if the queue has no layer yet.
    ///
    /// If a result handler calls this function, or a task that the handler started, the function does not wait: the
    /// file is closed after the handler has returned. A call in a detached task waits, so the handler must not await
    /// it.
    public func close() async {
        let (closing, isDelivering) = state.withLock { state -> (Task<Void, Never>?, Bool) in
            let isDelivering = ChangeDrainer.delivery?.isOpen(of: state.journal) ?? false
            guard state.closing == nil, let journal = state.journal else { return (state.closing, isDelivering) }
            let tasks = state.tasks
            let closing = Task {
                for task in tasks { task.cancel() }
                for task in tasks { await task.value }
                await journal.close()
                self.state.withLock { $0.journal = nil }
            }
            (state.tasks, state.drainer, state.closing) = ([], nil, closing)
            return (closing, isDelivering)
        }
        if !isDelivering { await closing?.value }
    }

    /// The state of the queue after its last change; empty before the file was opened.
    public var currentState: OfflineQueueState { state.withLock { $0.journal }?.queueState ?? OfflineQueueState() }

    /// The state now, and then after every change, until the queue is released or the reading task is cancelled.
    ///
    /// ```swift
    /// for await state in queue.states { badge.count = state.waitingCount }
    /// ```
    ///
    /// Every access returns an independent sequence. A slow reader receives the newest state and not the ones in
    /// between.
    public var states: AsyncStream<OfflineQueueState> {
        let (states, reader) = AsyncStream.makeStream(
            of: OfflineQueueState.self, bufferingPolicy: .bufferingNewest(1))
        let id = UUID()
        reader.onTermination = { [weak self] _ in
            _ = self?.state.withLock { $0.readers.removeValue(forKey: id) }
        }
        state.withLock { state in
            reader.yield(state.journal?.queueState ?? OfflineQueueState())
            state.readers[id] = reader
        }
        return states
    }

    /// Posted to the default notification centre after every change of ``currentState``, on any thread. The
    /// notification's object is the queue.
    public static let didChange = Notification.Name("RunwayOfflineQueueDidChange")

    private func didChange() {
        // The state is read under the lock, so that every reader receives the newest state last.
        state.withLock { state in
            guard let newest = state.journal?.queueState else { return }
            for reader in state.readers.values { reader.yield(newest) }
        }
        NotificationCenter.default.post(name: Self.didChange, object: self)
    }

    /// Returns the parts of the queue that exist once the queue has a layer.
    ///
    /// - Throws: ``StorageError/Kind/unavailable`` before the layer exists, and after ``close()``.
    func parts() throws(StorageError) -> (journal: ChangeJournal, drainer: ChangeDrainer, link: ChangeLink) {
        let state = state.withLock { ($0.journal, $0.drainer, $0.link) }
        guard let journal = state.0, let drainer = state.1, let link = state.2 else {
            throw StorageError(.unavailable, "The offline queue has no layer, or is closed.")
        }
        return (journal, drainer, link)
    }
}

// The functions that the layer calls.
extension OfflineQueue {
    /// Connects the queue with its layer, and starts to send the changes of the last run.
    ///
    /// - Precondition: The queue has no layer yet.
    public func start(for network: NetworkLayer) {
        let link = network.changeLink
        let uptimeOrigin = SystemUptime.now - link.clock.now
        let boot = BootSession.name ?? ""
        let journal = ChangeJournal(at: url, options) {
            JournalTime(boot: boot, uptime: uptimeOrigin + link.clock.now, date: link.clock.date)
        } onChange: { [weak self] in
            self?.didChange()
        }
        let drainer = ChangeDrainer(journal, link, endpoints, options)
        let tasks = [
            Task { await drainer.run() },
            Task { for await status in link.statuses { drainer.networkDidChange(to: status) } },
        ]
        state.withLock { state in
            precondition(state.link == nil, "an offline queue belongs to one layer")
            (state.journal, state.drainer, state.link, state.tasks) = (journal, drainer, link, tasks)
        }
    }

    /// Returns whether an endpoint was passed to the initialiser.
    public func accepts(_ endpoint: any Endpoint.Type) -> Bool { types.contains(ObjectIdentifier(endpoint)) }

    /// Returns whether a new change has to wait. It has to wait if other changes of its account wait, or if a change
    /// with a common subject waits for the app's decision.
    ///
    /// - Throws: ``StorageError`` if the file can't be read.
    public func hasToWait(_ change: UnsentChange) async throws -> Bool {
        try await parts().journal.hasToWait(ChangeScope(change).text, Set(change.subjects))
    }

    /// Stores a change whose call is about to be sent.
    ///
    /// - Throws: The errors of ``store(_:)``.
    public func writeAhead(_ change: UnsentChange) async throws -> UUID? {
        let (journal, _, link) = try parts()
        guard let flight = change.flight else { throw StorageError(.rejected, "The change has no call.") }
        return try await journal.writeAhead(change, flight, at: link.clock.date)
    }

    /// Removes a change that ``writeAhead(_:)`` stored before its call.
    public func removeWritten(_ change: UUID) { state.withLock { $0.journal }?.removeWritten(change) }

    /// Stores a change to send later, in place of the change that ``writeAhead(_:)`` stored before the call.
    ///
    /// - Throws: ``StorageError/Kind/full`` if the queue or the disk is full, ``StorageError/Kind/rejected`` if the
    ///   change is too large, and other kinds if the file can't be written.
    public func store(_ change: UnsentChange) async throws -> QueuedChange {
        let (journal, drainer, link) = try parts()
        guard let flight = change.flight else {
            throw StorageError(.rejected, "The change has no call.")
        }
        let (stored, isFirst) = try await journal.store(change, flight, at: link.clock.date)
        // The call of a held change was not sent, so it is not a failed attempt.
        if isFirst, stored.state != .held {
            drainer.didStoreFirst(in: ChangeScope(change).text, retryAfter: change.retryAfter)
        }
        return stored
    }

    /// Ends the call of a stored change. The change is sent later if `isQueued` is `true`, and removed otherwise.
    public func settle(_ change: UUID, isQueued: Bool) async {
        guard let (journal, drainer, _) = try? parts() else { return }
        await journal.settle(change, isQueued: isQueued)
        drainer.loop.wake()
    }

    /// Sends the waiting changes of an account that has signed in.
    public func servicesDidChange() { state.withLock { $0.drainer }?.review() }

    /// Delays the changes of an account, except during ``flush()``. The delay restarts after a failed attempt, and when
    /// a network returns.
    public func delayChanges(
        of service: any APIService.Type, in environment: ServiceEnvironment, for account: String?, owner: UUID,
        upTo limit: Duration?
    ) {
        let scope = ChangeScope(service: service.name, environment: environment.name, account: account).text
        state.withLock { $0.drainer }?.delay(scope, owner: owner, upTo: limit)
    }
}

/// The number of changes in an ``OfflineQueue``, and its problems.
public struct OfflineQueueState: Sendable, Hashable {
    /// The number of changes that are waiting to be sent.
    public internal(set) var waitingCount = 0
    /// The number of changes that the app has to decide about: refused or expired ones, or ones without a response.
    public internal(set) var undecidedCount = 0
    /// The number of changes whose encryption key the app's ``PayloadSealing`` does not have now. They wait for their
    /// key, also in later runs.
    public internal(set) var sealedCount = 0
    /// The number of changes that are held until the app decides about another change.
    public internal(set) var heldCount = 0
    /// Whether a change is in flight.
    public internal(set) var isSending = false
    /// The number of changes lost in all runs because their bytes on disk were damaged. It may be too low if a damaged
    /// file does not contain its number of changes.
    public internal(set) var damagedCount = 0
    /// The current problem; `nil` without one. It is the error of the last write until a write succeeds, or else the
    /// reason why the file can't be read. It is ``StorageError/Kind/keyUnavailable`` while the key of the app's
    /// ``PayloadSealing`` can't be read.
    public internal(set) var problem: StorageError?
    /// The files that were damaged or had a later version, and that this run renamed. New files replaced them, with the
    /// undamaged changes of the damaged files.
    public internal(set) var unreadableFiles: [URL] = []
    /// The size of the file's write-ahead log in bytes, after the last change of the queue. SQLite moves it to the file
    /// at about 4 MiB. A larger log for a long time means that SQLite can't move it.
    public internal(set) var logByteCount = 0
    /// A number that grows when the contents of a change are replaced, so that the state differs from the previous one.
    var revision = 0

    init() {}
}
