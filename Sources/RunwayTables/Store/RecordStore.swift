public import Foundation
import GRDB
import RunwaySQLite
import RunwayStorage
import Synchronization

/// One SQLite file of tables, usually for one account. Only this object has a connection to the file: tables and
/// records have none.
///
/// ```swift
/// let store = try await RecordStore.open(at: file, tables: [Tasks.self], migrations: migrations)
/// try await store.write { try $0.save(draft) }
/// let open = try await store.read { try $0.fetch(Tasks.self, where: Tasks.done == false) }
/// ```
///
/// A write is one transaction: all of it is in the file, or nothing. A read sees one state of the file. Reads and
/// writes run one after the other, on one connection, and no call blocks the thread of its caller. Only the user can
/// read the file and its folder.
public final class RecordStore: Sendable {
    /// The database file.
    public let url: URL
    /// The former file, if it was renamed when this store was opened (``Recovery/setAside``).
    public let setAside: URL?
    /// Whether every write is refused (``Recovery/readOnly``).
    public let isReadOnly: Bool
    let layouts: [TableLayout]
    let secrets: SecretSealing
    let files: FileFolder
    let options: Options
    /// Follows the changes of tables for another module; `nil` if no table declares it.
    package let follower: (any StoreFollower)?
    /// Guards the connection; `nil` once the store was closed.
    private let connection: Mutex<DatabaseQueue?>
    private let suspension: Suspension?
    private let otherProcesses: OtherProcesses?
    /// Guards the stagings that have left rows, and the task that moves them.
    let rest: Mutex<StagingRest>
    /// Guards the size at which the store moves the write-ahead log, if SQLite could not move it.
    private let logBound = Mutex(LogBound())

    init(_ opener: StoreOpener, _ queue: DatabaseQueue, isReadOnly: Bool = false, setAside: URL? = nil) {
        url = opener.url
        self.setAside = setAside
        self.isReadOnly = isReadOnly
        connection = Mutex(queue)
        rest = Mutex(StagingRest(count: StoreFiles.stagings(of: url).count))
        layouts = opener.layouts
        options = opener.options
        follower = opener.follower
        files = opener.files
        secrets = SecretSealing(
            current: options.sealing, former: options.formerSealings, account: options.account)
        suspension = options.isShared ? Suspension() : nil
        otherProcesses = options.isShared ? OtherProcesses(of: url, queue) : nil
    }

    /// Opens a file. Creates it from the declarations if it does not exist, and runs the migration steps that it has
    /// not had.
    ///
    /// - Parameters:
    ///   - url: The file. Its folder is created if it does not exist.
    ///   - tables: All tables of the file.
    ///   - migrations: The changes since the first release. The default is none.
    ///   - options: The way in which the file is opened and used.
    /// - Throws: ``TableError``, unless ``Options/recover`` decides otherwise. If a table differs from its declaration,
    ///   the error is ``TableError/Kind/differentSchema``, with a sentence for each difference.
    public static func open(
        at url: URL, tables: [any TableDefinition.Type], migrations: Migrations = Migrations(),
        options: Options = Options()
    ) async throws -> RecordStore {
        let opener = StoreOpener(
            url: url, layouts: tables.map { $0.layout }, migrations: migrations, options: options,
            files: FileFolder(of: url, options), follower: tables.follower)
        do {
            try await finishStaging(before: opener)
            return RecordStore(opener, try await inBackground { try opener.open(.current) })
        } catch let error as TableError {
            let isReplaceable = [.corrupted, .newerSchema, .differentSchema, .migration].contains(error.kind)
            var (mode, setAside) = (StoreOpener.Mode.current, URL?.none)
            switch await options.recover(error) {
            case .stayAtLastStep: mode = .lastWholeStep
            case .readOnly: mode = .readOnly
            case .setAside where isReplaceable: setAside = try TableError.of(url) { try StoreFiles.setAside(url) }
            case .beginAnew where isReplaceable: StoreFiles.remove(url)
            default: throw error
            }
            let chosen = mode
            let queue = try await inBackground { try opener.open(chosen) }
            return RecordStore(opener, queue, isReadOnly: mode == .readOnly, setAside: setAside)
        }
    }

    /// Reads one state of the file.
    ///
    /// - Parameter fetch: Reads. It runs on a background thread.
    /// - Throws: ``TableError`` for an error of the file, `CancellationError` if the task is cancelled, or the error of
    ///   `fetch`.
    public func read<Value: Sendable>(_ fetch: @escaping @Sendable (TableReader) throws -> Value) async throws -> Value
    {
        do {
            return try await queue().read { [secrets] in try fetch(TableReader($0, secrets)) }
        } catch {
            throw TableError(error, at: url) ?? error
        }
    }

    /// Reads and writes in one transaction. When the call returns, the transaction is in the file. If the call throws,
    /// nothing of it is in the file.
    ///
    /// If the disk is full, the write-ahead log is copied into the database, and the transaction is repeated. While the
    /// app is being suspended, a transaction of a shared file is interrupted, reported, and repeated when the app
    /// resumes. Rows that a staging has left are moved first (``finishStaging(reportProgress:)``).
    ///
    /// - Parameter change: Reads and writes. It runs on a background thread, and may run again from its beginning.
    /// - Throws: ``TableError`` for an error of the file, `CancellationError` if the task is cancelled before the
    ///   commit, or the error of `change`.
    @discardableResult
    public func write<Value: Sendable>(
        _ change: @escaping @Sendable (TableWriter) throws -> Value
    ) async throws -> Value {
        try await finishRest()
        return try await commit(change)
    }

    /// Writes as ``write(_:)`` does, also before rows that a staging has left.
    ///
    /// - Parameter waitsForDrive: Whether the commit waits for the drive if the store does. The default is `true`.
    func commit<Value: Sendable>(
        waitsForDrive: Bool = true, _ change: @escaping @Sendable (TableWriter) throws -> Value
    ) async throws -> Value {
        try checkWritable()
        var (hasMadeRoom, repetitionCount) = (false, 0)
        while true {
            do {
                let (value, hasUnnamedFiles) = try await queue().write(
                    withoutDrive: options.survivesPowerLoss && !waitsForDrive
                ) { [self] database in
                    // After the commit, so that no observation waits for it.
                    database.afterNextTransaction { [self] _ in boundLog(SQLiteFile.logByteCount(of: url)) }
                    try follower?.willWrite(database)
                    let writer = TableWriter(database, secrets, files: files, follower: follower)
                    let result = Result { try change(writer) }
                    if let error = writer.ending.error { throw error }
                    let value = try result.get()
                    try follower?.didWrite(database)
                    return (value, try files.hasUnnamed(in: database))
                }
                if hasUnnamedFiles { await removeUnnamedFiles() }
                return value
            } catch {
                let failure = TableError(error, at: url)
                if failure?.kind == .full, !hasMadeRoom, (try? await moveLog()) != nil {
                    hasMadeRoom = true
                } else if let failure, failure.kind == .interrupted, let suspension, !Task.isCancelled,
                    suspension.isActive || repetitionCount < 10
                {
                    // A full disk or SQL of the app's own can end a transaction, too, each time. And this object may
                    // learn of a suspension after GRDB, or of its end before this line.
                    repetitionCount += suspension.isActive ? 0 : 1
                    options.reportInterruption(failure)
                    guard await suspension.waitForEnd() else { throw failure }
                } else {
                    throw failure ?? error
                }
            }
        }
    }

    /// The size of the write-ahead log in bytes: about 4 MiB after a transaction, or 16 MiB while other
    /// processes read at all times. It grows during one read that takes longer than 100 ms, such as a backup.
    public var logByteCount: Int { SQLiteFile.logByteCount(of: url) }

    /// Closes the file after the operations that were begun. Later operations throw ``TableError/Kind/unavailable``.
    /// The file stays open until the last observation ends.
    public func close() async throws {
        otherProcesses?.stop()
        guard let queue = connection.withLock({ $0.take() }) else { return }
        // Also in a task that is cancelled. The connection is closed when the last operation has released it.
        try await Self.inBackground { [files] in
            files.close(queue)
            queue.writeWithoutTransaction { _ in }
        }
    }

    /// Closes the file now, whatever observes it: its observations receive nothing more.
    func closeConnection() async throws {
        otherProcesses?.stop()
        guard let queue = connection.withLock({ $0.take() }) else { return }
        try await Self.inBackground { [files] in
            files.close(queue)
            try queue.close()
        }
    }

    /// Returns the connection.
    ///
    /// - Throws: ``TableError/Kind/unavailable`` if the store was closed.
    func queue() throws -> DatabaseQueue {
        guard let queue = connection.withLock({ $0 }) else {
            throw TableError(.unavailable, "\(url.lastPathComponent) was closed.")
        }
        return queue
    }

    /// - Throws: ``TableError/Kind/readOnly`` if every write is refused.
    func checkWritable() throws {
        if isReadOnly { throw TableError(.readOnly, "\(url.lastPathComponent) was opened to be read only.") }
    }

    private func moveLog() async throws {
        let queue = try queue()
        try await Self.inBackground { try queue.moveLog() }
    }

    /// Moves the log in the background, if other processes have prevented SQLite from moving it.
    private func boundLog(_ byteCount: Int) {
        guard logBound.withLock({ $0.isExceeded(by: byteCount) }), let queue = try? queue() else { return }
        DispatchQueue.global().async { [weak self] in
            let isMoved = (try? queue.moveLog(waitingAtMost: 100)) != nil
            self?.logBound.withLock { $0.didMove(isMoved) }
        }
    }

    /// Runs an operation that may wait for the disk, on a thread that is not one of the concurrency pool.
    static func inBackground<Value: Sendable>(_ operation: @escaping @Sendable () throws -> Value) async throws -> Value
    {
        try await withCheckedThrowingContinuation { continuation in
            DispatchQueue.global().async { continuation.resume(with: Result { try operation() }) }
        }
    }
}

extension DatabaseQueue {
    /// Runs a transaction.
    ///
    /// - Parameter withoutDrive: Whether its commit does not wait for the drive, as other commits do.
    fileprivate func write<Value: Sendable>(
        withoutDrive: Bool, _ change: @escaping @Sendable (Database) throws -> Value
    ) async throws -> Value {
        guard withoutDrive else { return try await write(change) }
        return try await writeWithoutTransaction { database in
            try database.execute(sql: "PRAGMA synchronous = NORMAL")
            defer { try? database.execute(sql: "PRAGMA synchronous = FULL") }
            var value: Value?
            try database.inTransaction {
                value = try change(database)
                return .commit
            }
            guard let value else { throw CancellationError() }
            return value
        }
    }
}
