public import Foundation
import GRDB
public import Runway
import RunwayStreams
import RunwaySyncCore
public import RunwayTables
import Synchronization

/// Synchronises the tables of a store with a server.
///
/// ```swift
/// let store = try await RecordStore.open(at: file, tables: [Tasks.self])
/// let sync = try await SyncEngine(store, over: network, service: Backend.self)
/// try await sync.join(list)
/// ```
///
/// Each joined space is pulled and pushed after a write, when the server reports a change, after a change of network,
/// when the app comes to the foreground, and 4 s after the last exchange, or after the pause that the server requests.
/// Writes never wait for the network: they are in the file with their changes, and are sent when that is possible, also
/// by a later process.
///
/// The requests are calls of the layer: they are signed, authorised and recorded as any other. The store has the
/// pending changes and the current problem: observe `syncStatus(of:)`.
///
/// A store has one engine in each process. The engine runs until ``close()``.
public final class SyncEngine: Sendable {
    private struct Running {
        let loop: SpaceLoop
        let task: Task<Void, Never>
    }

    private struct State {
        var spaces: [Identifier: Running] = [:]
        var pokes: Task<Void, Never>?
        var helpers: [Task<Void, Never>] = []
        var isClosed = false
    }

    private let store: RecordStore
    let capture: ChangeCapture
    private let calls: SyncCalls
    let files: FileTransfers
    private let schema: Int64
    /// Guards the tasks of the joined spaces.
    private let state = Mutex(State())
    /// Guards the number of the listener to commits.
    private let listener = Mutex<Int?>(nil)
    /// Guards the registration for the app's return to the foreground.
    private let observer = Mutex<(any NSObjectProtocol)?>(nil)

    /// Begins to synchronise the spaces that were joined before.
    ///
    /// - Parameters:
    ///   - store: The store, with tables that are a ``SyncedTable``.
    ///   - network: The layer over which the calls are made.
    ///   - service: The service of the server. The server may require a version of the tables, which is 1 plus the
    ///     number of the migrations' steps.
    ///   - path: The path of the server's routes, relative to the service's base URL. The default is `sync`.
    ///   - eventsPath: The path of the server's event stream, on which it reports changes. The default, `nil`, follows
    ///     none: then changes of others arrive within 4 s.
    ///   - maximumFileByteCount: The largest file of a row of another device that is downloaded, in bytes. The default
    ///     is 1 GiB.
    /// - Throws: `TableError.Kind.notSyncable` if the store has no synchronised table, or an error of the file.
    public init<Service: APIService>(
        _ store: RecordStore, over network: NetworkLayer, service: Service.Type, path: String = "sync",
        eventsPath: String? = nil, maximumFileByteCount: Int = 1 << 30
    ) async throws {
        guard let capture = store.follower as? ChangeCapture else {
            throw TableError(.notSyncable, "The store has no synchronised table.")
        }
        (self.store, self.capture) = (store, capture)
        calls = SyncCalls(network, service, path: path, eventsPath: eventsPath)
        files = FileTransfers(
            store, capture, network, FileCalls(network, service, path: path), upTo: maximumFileByteCount)
        let identity = DeviceIdentity(of: store.url)
        let (wasCopied, spaces, version) = try await store.writeAsFollower { database in
            (
                try identity.check(in: database), try capture.joinedSpaces(in: database),
                try store.version(in: database)
            )
        }
        schema = version
        for space in spaces { start(space, with: wasCopied ? .wasCopied : nil) }
        listener.withLock { $0 = capture.addListener { [weak self] in self?.sendWrites() } }
        follow(network)
        followPokes()
    }

    deinit { stop() }

    /// Begins to synchronise a space, such as a list or a team.
    ///
    /// Returns when the file records that the space is joined. The rows of the space arrive later, all in one
    /// transaction. Later engines of this store continue to synchronise the space.
    ///
    /// Does nothing if the space was joined before. If the account had lost access to it
    /// (``SyncStatus/isRevoked``), all its rows are requested again.
    ///
    /// - Throws: An error of the file.
    public func join(_ space: UUID) async throws {
        let (space, capture) = (Identifier(space), capture)
        let isRevoked = try await store.writeAsFollower { database in
            let isRevoked = try capture.store(of: space, in: database).state.isRevoked
            try database.execute(
                sql: "UPDATE runway_sync_space SET joined = 1 WHERE id = ?", arguments: [space.databaseValue])
            return isRevoked
        }
        start(space, with: isRevoked ? .readmitted : nil)
        followPokes()
    }

    /// Stops synchronising a space, and removes its rows from this device.
    ///
    /// The rows remain on the server and on other devices.
    ///
    /// - Parameters:
    ///   - space: The space to leave.
    ///   - discardsUnsent: Whether to leave also if some changes were not sent, which are then lost. The default is
    ///     `false`.
    /// - Returns: `true` if the space was left; `false` if it was not, since some changes were not sent.
    /// - Throws: An error of the file.
    @discardableResult
    public func leave(_ space: UUID, discardsUnsent: Bool = false) async throws -> Bool {
        let (space, capture) = (Identifier(space), capture)
        await stop(space)
        let isLeft = try await store.writeAsFollower { database in
            try capture.sealAll(in: database)
            let file = try capture.store(of: space, in: database)
            let waits = try file.open().contains { $0.verdict == nil } || FileItem.waitingCount(in: space, database) > 0
            guard discardsUnsent || !waits else { return false }
            try file.applying { try file.removeSpace() }
            return true
        }
        if !isLeft { start(space, with: nil) }
        followPokes()
        return isLeft
    }

    /// Exchanges all changes with the server now, and returns when that has ended.
    ///
    /// Call it when the user asks for the newest state, when a screen opens, or in a background refresh of the system.
    ///
    /// - Parameter space: The space to synchronise. The default, `nil`, synchronises all joined spaces.
    /// - Returns: `nil` if everything was exchanged, otherwise the problem that prevented it.
    @discardableResult
    public func syncNow(_ space: UUID? = nil) async -> SyncProblem? {
        let loops = state.withLock { state in
            state.spaces.filter { item in space.map { Identifier($0) == item.key } ?? true }.values.map(\.loop)
        }
        return await withTaskGroup(of: SyncProblem?.self) { group in
            for loop in loops { group.addTask { await loop.cycle() } }
            var problem: SyncProblem?
            for await ended in group { problem = problem ?? ended }
            return problem
        }
    }

    /// Cancels a change that was not sent yet. Does nothing if the server has received the change already.
    ///
    /// - Parameters:
    ///   - change: The id of the change; see ``SyncChange/id``.
    ///   - space: The space that the change belongs to.
    public func withdraw(_ change: UUID, in space: UUID) {
        loop(of: Identifier(space))?.pass(.withdrew(Identifier(change)))
    }

    /// Sends a change of a ``SentTable`` again that has failed, with the current values of its rows.
    ///
    /// If an earlier attempt may have reached the server, the engine first asks the server whether it has the change.
    ///
    /// - Parameters:
    ///   - change: The id of the change; see ``SyncChange/id``.
    ///   - space: The space that the change belongs to.
    public func sendAgain(_ change: UUID, in space: UUID) {
        loop(of: Identifier(space))?.pass(.sentAgain(Identifier(change)))
    }

    /// Sends or discards old changes that a restored or copied device has not sent: inserts of rows, and later changes
    /// of those rows.
    ///
    /// Other devices may have deleted these rows since, and the server no longer knows it. So the user decides whether
    /// they come back. ``SyncStatus/offeredCount`` is the number of changes.
    ///
    /// - Parameters:
    ///   - accepts: `true` to send the changes, `false` to discard them. Discarded ones are among
    ///     ``SyncStatus/refusedChanges`` with the reason `declined`.
    ///   - space: The space that the rows belong to.
    public func decideOffers(accepting accepts: Bool, in space: UUID) {
        loop(of: Identifier(space))?.pass(.decidedOffers(accepts: accepts))
    }

    /// Removes a change from ``SyncStatus/refusedChanges``, when the user has seen it.
    ///
    /// - Parameters:
    ///   - change: The id of the change; see ``SyncChange/id``.
    ///   - space: The space that the change belongs to.
    /// - Throws: An error of the file.
    public func dismiss(_ change: UUID, in space: UUID) async throws {
        let (space, change, capture) = (Identifier(space), Identifier(change), capture)
        try await store.writeAsFollower { database in
            let file = try capture.store(of: space, in: database)
            for outgoing in try file.refused() where outgoing.transaction.id == change {
                try file.remove(outgoing: outgoing.sequence)
            }
            try file.finish()
        }
    }

    /// Stops the synchronisation before the user signs out.
    ///
    /// - Parameter decide: Is called if some changes were not sent, with their number. Returns whether to send them
    ///   now, to discard them, or to leave them in the file for the next sign-in.
    /// - Returns: `true` if the engine is closed and the user can sign out; `false` if changes had to be sent and could
    ///   not be.
    /// - Throws: An error of the file.
    public func signOut(_ decide: @Sendable (_ count: Int) async -> UnsentChanges) async throws -> Bool {
        let count = try await waitingCount()
        if count > 0 {
            switch await decide(count).choice {
            case .send:
                _ = await syncNow()
                try await files.sendAll()
                if try await waitingCount() > 0 { return false }
            case .discard:
                for space in state.withLock({ Array($0.spaces.keys) }) {
                    try await leave(UUID(space), discardsUnsent: true)
                }
            case .keep: break
            }
        }
        await close()
        return true
    }

    private func waitingCount() async throws -> Int {
        try await store.writeAsFollower { [capture] database in
            try capture.sealAll(in: database)
            let sql = "SELECT COUNT(*) FROM runway_sync_outgoing WHERE open = 1 AND decided IS NULL"
            return try (Int.fetchOne(database, sql: sql) ?? 0) + FileItem.waitingCount(in: nil, database)
        }
    }

    /// Sets the difference of this device's clock from the system's, for tests.
    package func setClockOffset(seconds: Double) {
        let offset = Int64(seconds * 1000)
        capture.setClock { Int64(Date().timeIntervalSince1970 * 1000) + offset }
    }

    /// Stops the synchronisation, and returns when no request and no write of the engine runs any more.
    ///
    /// The store stays open, and records later writes for the next engine.
    public func close() async {
        let tasks = stop()
        for task in tasks { await task.value }
    }

    @discardableResult
    private func stop() -> [Task<Void, Never>] {
        if let number = listener.withLock({ $0.take() }) { capture.removeListener(number) }
        if let observer = observer.withLock({ $0.take() }) { NotificationCenter.default.removeObserver(observer) }
        let tasks = state.withLock { state in
            state.isClosed = true
            defer { (state.spaces, state.pokes, state.helpers) = ([:], nil, []) }
            return state.spaces.values.map(\.task) + state.helpers + (state.pokes.map { [$0] } ?? [])
        }
        for task in tasks { task.cancel() }
        return tasks
    }

    private func stop(_ space: Identifier) async {
        let running = state.withLock { $0.spaces.removeValue(forKey: space) }
        running?.task.cancel()
        await running?.task.value
    }

    private func start(_ space: Identifier, with event: SyncDevice.Event?) {
        state.withLock { state in
            if state.isClosed { return }
            let loop: SpaceLoop
            if let running = state.spaces[space] {
                loop = running.loop
            } else {
                loop = SpaceLoop(space, store, capture, calls, schema: schema) { [files] in files.wake() }
                state.spaces[space] = Running(loop: loop, task: Task { await loop.run() })
            }
            if let event { loop.pass(event) }
        }
    }

    func loop(of space: Identifier) -> SpaceLoop? { state.withLock { $0.spaces[space]?.loop } }

    func prompt(isUrgent: Bool) {
        files.wake(isUrgent: isUrgent)
        for loop in state.withLock({ $0.spaces.values.map(\.loop) }) { loop.prompt(isUrgent: isUrgent) }
    }

    private func sendWrites() {
        files.wake(isUrgent: false)
        for loop in state.withLock({ $0.spaces.values.map(\.loop) }) { loop.sendWrite() }
    }

    /// Begins cycles after changes of the network, sign-ins, and when the app comes to the foreground.
    private func follow(_ network: NetworkLayer) {
        let (statuses, services) = (network.statuses, network.servicesChanges)
        let helpers = [
            Task { [weak self] in for await status in statuses where status.isReachable { self?.prompt(isUrgent: true) }
            },
            Task { [weak self] in for await _ in services { self?.prompt(isUrgent: true) } },
            Task { [files] in await files.run() },
        ]
        state.withLock { $0.helpers = helpers }
        // UIKit's name, which is not imported here. Other systems never post it.
        let foreground = Notification.Name("UIApplicationWillEnterForegroundNotification")
        observer.withLock {
            $0 = NotificationCenter.default.addObserver(forName: foreground, object: nil, queue: nil) { [weak self] _ in
                self?.prompt(isUrgent: true)
            }
        }
    }

    /// Follows the pokes of the joined spaces, instead of those that were followed before.
    private func followPokes() {
        state.withLock { state in
            state.pokes?.cancel()
            let spaces = Set(state.spaces.keys)
            guard !state.isClosed, !spaces.isEmpty, let pokes = calls.pokes(of: spaces) else {
                return state.pokes = nil
            }
            state.pokes = Task { [weak self] in
                var iterator = pokes.makeAsyncIterator()
                while !Task.isCancelled, let element = try? await iterator.next() { self?.receive(element, of: spaces) }
            }
        }
    }
}
