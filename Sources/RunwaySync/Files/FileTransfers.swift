import Foundation
import GRDB
import HTTPTypes
import Runway
import RunwayStorage
import RunwaySyncCore
import RunwayTables
import Synchronization

/// Uploads and downloads the files that synchronised rows name, until its task is cancelled.
///
/// The work that is left is in the file of records (``FileSchema``), so that another process continues it. Spaces take
/// turns (``FileTurns``). Files of equal bytes are transferred once in a space. Interrupted transfers
/// leave their parts in a folder beside the database, and continue there.
final class FileTransfers: Sendable {
    private struct State {
        var inFlight: [FileItem.Key: (task: Task<Void, Never>, lane: FileTurns.Lane)] = [:]
        var turns = FileTurns()
        /// Whether all attempts that wait begin at once.
        var isPrompted = false
        /// Bytes that have arrived at the server.
        var arrived: [FileItem.Key] = []
        var isClosed = false
    }

    /// The largest number of reports of arrived files that wait. A file without one waits for its next attempt.
    private static let maximumPokes = 1_000

    private let store: RecordStore
    private let capture: ChangeCapture
    private let network: NetworkLayer
    private let calls: FileCalls
    private let maximumByteCount: Int
    /// The folder with the parts of files.
    private let folder: URL
    /// Guards the transfers in flight, and the reports that wait.
    private let state = Mutex(State())
    private let signals: AsyncStream<Void>
    private let signal: AsyncStream<Void>.Continuation

    init(
        _ store: RecordStore, _ capture: ChangeCapture, _ network: NetworkLayer, _ calls: FileCalls,
        upTo maximumByteCount: Int
    ) {
        (self.store, self.capture, self.network, self.calls) = (store, capture, network, calls)
        self.maximumByteCount = maximumByteCount
        folder = URL(fileURLWithPath: store.url.path + "-transfers")
        (signals, signal) = AsyncStream<Void>.makeStream(bufferingPolicy: .bufferingNewest(1))
    }

    /// Looks for files to transfer.
    ///
    /// - Parameter isUrgent: Whether all attempts that wait begin at once. The default is `false`.
    func wake(isUrgent: Bool = false) {
        if isUrgent { state.withLock { $0.isPrompted = true } }
        signal.yield()
    }

    /// Begins the attempts that wait for a file, because its bytes have arrived at the server.
    func poke(_ key: FileItem.Key) {
        state.withLock { if $0.arrived.count < Self.maximumPokes { $0.arrived.append(key) } }
        signal.yield()
    }

    /// Begins attempts at once.
    ///
    /// - Parameters:
    ///   - condition: The files, as a condition of SQL. The default is all whose attempts are repeated.
    ///   - arguments: The arguments of the condition.
    func prompt(
        _ condition: String = "due < \(FileSchema.never)", _ arguments: StatementArguments = []
    ) async throws {
        let sql = "UPDATE runway_sync_stored SET due = 0 WHERE settled = 0 AND due > 0 AND \(condition)"
        try await store.writeAsFollower { try $0.execute(sql: sql, arguments: arguments) }
        signal.yield()
    }

    @concurrent func run() async {
        if capture.heldFiles == nil { return }
        var iterator = signals.makeAsyncIterator()
        var isPrepared = false
        while !Task.isCancelled {
            var pause = Duration.seconds(4)
            do {
                if !isPrepared { try await prepare() }
                isPrepared = true
                try await promptWhatArrived()
                pause = try await startDue()
            } catch {
                // The file of records can't be used now.
            }
            await wait(pause, &iterator)
        }
        let tasks = state.withLock { state in
            state.isClosed = true
            return state.inFlight.values.map(\.task)
        }
        for task in tasks { task.cancel() }
        for task in tasks { await task.value }
    }

    private func wait(_ pause: Duration, _ iterator: inout AsyncStream<Void>.Iterator) async {
        let alarm = Task { [clock = network.clock, signal] in
            try await clock.sleep(until: clock.now + pause)
            signal.yield()
        }
        defer { alarm.cancel() }
        _ = await iterator.next(isolation: #isolation)
    }

    /// Ends what an earlier process left: parts of files that no row names any more, and attempts that a kill ended.
    private func prepare() async throws {
        if try StorageFolder.prepare(folder) { try StorageFolder.protect([folder]) }
        try await nameDigests()
        let open = try await store.writeAsFollower { database in
            try database.execute(sql: "UPDATE runway_sync_stored SET moved = NULL WHERE moved IS NOT NULL")
            let sql = "SELECT space, name FROM runway_sync_stored WHERE settled = 0"
            return try Set(GRDB.Row.fetchAll(database, sql: sql).compactMap { FileItem($0)?.key.name })
        }
        for name in try FileManager.default.contentsOfDirectory(atPath: folder.path)
        where !open.contains(String(name.prefix { $0 != "." })) {
            try FileManager.default.removeItem(at: folder.appending(path: name))
        }
        try await prompt()
    }

    /// Renames the files that were stored before their table was synchronised. The new names are changes as any other.
    private func nameDigests() async throws {
        let names = try await store.read { reader in
            try String.fetchSet(
                reader.connection, sql: "SELECT name FROM runway_sync_stored WHERE here = 1 AND length(digest) < 64")
        }
        for former in names.compactMap({ StoredFile(name: $0) }) {
            guard let url = try? await store.url(of: former) else { continue }
            try await store.withFile(copying: url) { [capture, store] file in
                try await store.write { writer in
                    for table in capture.tables {
                        for column in table.fileColumns.map(\.quotedName) {
                            try writer.connection.execute(
                                sql: "UPDATE \(table.name.quotedName) SET \(column) = ? WHERE \(column) = ?",
                                arguments: [file.name, former.name])
                        }
                    }
                }
            }
        }
    }

    private func promptWhatArrived() async throws {
        let (isPrompted, arrived) = state.withLock { state in
            defer { (state.isPrompted, state.arrived) = (false, []) }
            return (state.isPrompted, state.arrived)
        }
        if isPrompted { try await prompt() }
        for key in arrived {
            try await prompt(
                "due < \(FileSchema.never) AND space = ? AND digest = ?", [key.space.databaseValue, key.digest])
        }
    }

    /// Starts the transfers that are due, and cancels those of files that no row names any more.
    ///
    /// - Returns: The time until the next one is due; at most an hour.
    private func startDue() async throws -> Duration {
        let (running, now) = (state.withLock { Set($0.inFlight.keys) }, capture.now)
        let (gone, due, next) = try await store.writeAsFollower { database in
            (
                try running.filter { try !$0.isNamed(in: database) },
                try FileItem.fetchDue(at: now, in: database),
                try Int64.fetchOne(
                    database, sql: "SELECT MIN(due) FROM runway_sync_stored WHERE settled = 0 AND due > ?",
                    arguments: [now])
            )
        }
        state.withLock { state in for key in gone { state.inFlight[key]?.task.cancel() } }
        if network.isReachable {
            var waiting = due
            while let lane = nextLane(among: waiting.keys), let item = waiting[lane]?.first {
                waiting[lane] = waiting[lane].flatMap { $0.count > 1 ? Array($0.dropFirst()) : nil }
                _ = start(item, in: lane)
            }
        }
        return .milliseconds(max(1, min((next ?? .max) - now, 3_600_000)))
    }

    private func nextLane(among waiting: some Sequence<FileTurns.Lane>) -> FileTurns.Lane? {
        state.withLock { state in
            let lanes = state.inFlight.values.map(\.lane)
            return state.turns.next(among: waiting, inFlight: lanes)
        }
    }

    /// Starts a transfer, or returns the one of the same bytes that is in flight; `nil` after the end of ``run()``.
    private func start(_ item: FileItem, in lane: FileTurns.Lane) -> Task<Void, Never>? {
        state.withLock { state in
            if state.isClosed { return nil }
            if let running = state.inFlight[item.key] { return running.task }
            let task = Task { [self] in
                await transfer(item)
                self.state.withLock { _ = $0.inFlight.removeValue(forKey: item.key) }
                signal.yield()
            }
            state.inFlight[item.key] = (task, lane)
            return task
        }
    }

    /// Makes one attempt for each file that waits to be sent.
    func sendAll() async throws {
        try await prompt("here = 1 AND due < \(FileSchema.never)")
        while !Task.isCancelled {
            let due = try await store.writeAsFollower { try FileItem.fetchDue(at: 0, in: $0) }
            guard let (lane, items) = due.first(where: { $0.key.isHere }), let task = start(items[0], in: lane) else {
                return
            }
            await task.value
        }
    }

    /// Makes one attempt, and records its end.
    private func transfer(_ item: FileItem) async {
        var outcome: FileOutcome
        do { outcome = try await exchange(item) } catch { outcome = FileOutcome(error) }
        if outcome == .settled || outcome == .failed(.damaged) { removePart(of: item) }
        let (end, now, isCancelled) = (outcome, capture.now, Task.isCancelled)
        // Runs to its end in a task that is cancelled, too.
        let record = Task { [store] in
            try await store.writeAsFollower { database in
                if isCancelled, end != .settled { return try item.set("moved = NULL", in: database) }
                try item.end(end, at: now, in: database)
            }
        }
        _ = await record.result
    }

    private func exchange(_ item: FileItem) async throws -> FileOutcome {
        // Only a row of this device has a file to upload: one of another device may name a file of another space, whose
        // bytes must not reach this one.
        let (isHere, isOwn) = (
            await store.isHere(item.file), try await store.read { try item.isOwn(in: $0.connection) }
        )
        try await store.writeAsFollower { try item.set(isHere ? "moved = 0" : "moved = 0, here = 0", in: $0) }
        let place = place(of: item)
        if isHere {
            if try await calls.has(item) { return .settled }
            if !isOwn { return .missing }
            // A link stays if the row names another file meanwhile, and has a name that no sweep removes.
            let source = try await store.url(of: item.file)
            try? FileManager.default.removeItem(at: place)
            do { try FileManager.default.linkItem(at: source, to: place) } catch {
                try FileManager.default.copyItem(at: source, to: place)
            }
            try await calls.upload(item, place, report(of: item))
            return .settled
        }
        if let twin = try await twin(of: item) {
            try? FileManager.default.removeItem(at: place)
            try FileManager.default.copyItem(at: twin, to: place)
            return try await store.land(item.file, moving: place) ? .settled : .missing
        }
        if item.file.byteCount > maximumByteCount { return .failed(.tooLarge) }
        do throws(NetworkError) { try await calls.download(item, place, report(of: item)) } catch {
            if error.status?.code == 404 { return .missing }
            throw error
        }
        do {
            return try await store.land(item.file, moving: place) ? .settled : .missing
        } catch let error as TableError where error.kind == .rejected {
            return .failed(.damaged)
        }
    }

    /// Returns another file of the space with the same bytes that is here and at the server.
    private func twin(of item: FileItem) async throws -> URL? {
        let key = item.key
        let names = try await store.read {
            let sql = """
                SELECT name FROM runway_sync_stored WHERE space = ? AND digest = ? AND here = 1 AND settled = 1 LIMIT 8
                """
            return try String.fetchAll($0.connection, sql: sql, arguments: [key.space.databaseValue, key.digest])
        }
        for file in names.compactMap({ StoredFile(name: $0) }) {
            if let url = try? await store.url(of: file) { return url }
        }
        return nil
    }

    private func report(of item: FileItem) -> FileCalls.Report {
        let progress = RecordedProgress(network.clock) { [store] byteCount in
            // A transfer that has ended stays so.
            try? await store.writeAsFollower {
                try item.set("moved = iif(moved IS NULL, NULL, ?)", [byteCount], in: $0)
            }
        }
        return { progress.report($0) }
    }

    private func place(of item: FileItem) -> URL { folder.appending(path: item.key.name) }

    private func removePart(of item: FileItem) {
        try? FileManager.default.removeItem(at: place(of: item))
        try? network.discardPartialDownload(to: place(of: item))
    }
}

/// Records the newest progress of one transfer, once a second.
private final class RecordedProgress: Sendable {
    private struct State {
        var newest = 0
        var next = Duration.zero
        var isWaiting = false
    }

    private let clock: LayerClock
    private let record: @Sendable (_ byteCount: Int) async -> Void
    /// Guards the newest progress, and whether it will be recorded.
    private let state = Mutex(State())

    init(_ clock: LayerClock, _ record: @escaping @Sendable (_ byteCount: Int) async -> Void) {
        (self.clock, self.record) = (clock, record)
    }

    func report(_ byteCount: Int) {
        let next = state.withLock { state -> Duration? in
            state.newest = byteCount
            if state.isWaiting { return nil }
            state.isWaiting = true
            return state.next
        }
        guard let next else { return }
        Task {
            try await clock.sleep(until: next)
            let newest = state.withLock { state in
                (state.next, state.isWaiting) = (clock.now + .seconds(1), false)
                return state.newest
            }
            await record(newest)
        }
    }
}
