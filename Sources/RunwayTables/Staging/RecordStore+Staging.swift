import Foundation
import GRDB
import RunwaySQLite
import Synchronization

extension RecordStore {
    /// Saves many rows without making other writes wait: in a side file first, and from there in short transactions.
    ///
    /// ```swift
    /// try await store.stage(rows) { moved, count in print("\(moved) of \(count)") }
    /// ```
    ///
    /// A transaction has as many rows as fit into 2 ms, estimated from the time of the transaction before it, and does
    /// not wait for the drive: the side file has the rows until they are there. A write or read of another task waits
    /// for one of these transactions at most. While rows are moved, other tasks see only a part of them.
    ///
    /// Until the side file has the last row, an error, a cancellation or a kill leaves nothing. After that, a
    /// cancellation has no effect: all rows are moved. After a kill or an error, the rest stays in the side file
    /// (``hasStagedRows``) until ``finishStaging(reportProgress:)``, the next write or staging, or an opening that has
    /// steps to take. Each row is saved only once, so that a later change of the row stays. A change of a row while the
    /// staging runs is overwritten if the row was not moved yet. Memory has at most 1 MiB of rows, or one larger row.
    ///
    /// - Parameters:
    ///   - drafts: The rows, saved in their order as `TableWriter.save(_:)` does. They are checked before the
    ///     first is moved: as inserts if no required value is absent, otherwise as updates.
    ///   - reportProgress: Receives how many drafts were moved, and of how many, on a background thread.
    /// - Returns: The number of drafts.
    /// - Throws: ``TableError/Kind/rejected`` if a row is refused. If that happens while rows are moved, such as by a
    ///   unique index, those before it stay and the others are dropped; the error has their numbers. Or an error of
    ///   the file, of a validation or of the sequence, or `CancellationError`.
    @concurrent @discardableResult
    public func stage<Drafts: AsyncSequence & Sendable>(
        _ drafts: Drafts, reportProgress: @escaping @Sendable (_ moved: Int, _ count: Int) -> Void = { _, _ in }
    ) async throws -> Int where Drafts.Element == Draft {
        try checkWritable()
        // A row of an older staging would replace one of this.
        try await finishStaging()
        let file = try TableError.of(url) { try StagingFile.create(for: url, isBackedUp: options.isBackedUp) }
        defer { file.close() }
        let count: Int
        do {
            var (group, byteCount): ([[UInt8]], Int) = ([], 0)
            for try await draft in drafts {
                group.append(try StagedDraft(draft, secrets, files).bytes)
                byteCount += group[group.count - 1].count
                if byteCount < 1 << 20 { continue }
                try await file.append(group)
                (group, byteCount) = ([], 0)
            }
            try Task.checkCancellation()
            try await file.append(group)
            count = try await file.complete()
        } catch {
            file.remove()
            throw TableError(error, at: url) ?? error
        }
        try await move(file, count, reportProgress)
        return count
    }

    /// Saves many rows of one table, like the function for a sequence of drafts.
    @concurrent @discardableResult
    public func stage<Table, Rows: AsyncSequence & Sendable>(
        _ rows: Rows, reportProgress: @escaping @Sendable (_ moved: Int, _ count: Int) -> Void = { _, _ in }
    ) async throws -> Int where Rows.Element == Values<Table> {
        try await stage(rows.map { Draft($0) }, reportProgress: reportProgress)
    }

    /// Saves an array of drafts, like the function for sequences.
    @concurrent @discardableResult
    public func stage(
        _ drafts: [Draft], reportProgress: @escaping @Sendable (_ moved: Int, _ count: Int) -> Void = { _, _ in }
    ) async throws -> Int {
        let stream = AsyncStream { continuation in
            for draft in drafts { continuation.yield(draft) }
            continuation.finish()
        }
        return try await stage(stream, reportProgress: reportProgress)
    }

    /// Saves an array of rows of one table, like the function for sequences.
    @concurrent @discardableResult
    public func stage<Table>(
        _ rows: [Values<Table>], reportProgress: @escaping @Sendable (_ moved: Int, _ count: Int) -> Void = { _, _ in }
    ) async throws -> Int {
        try await stage(rows.map { Draft($0) }, reportProgress: reportProgress)
    }

    /// Whether a side file exists: of a staging that is running, or that a kill or an error has ended.
    public var hasStagedRows: Bool { StoreFiles.hasStagedRows(url) }

    /// Moves the rows that a staging has left in its side file when it failed or was killed. Otherwise the next write
    /// moves them first, and throws the error that prevents it. The function skips a staging that another task or
    /// process is still running. A cancellation has no effect.
    ///
    /// - Parameter reportProgress: Receives how many drafts were moved, and of how many, on a background thread.
    /// - Throws: The errors of `stage(_:reportProgress:)`.
    @concurrent public func finishStaging(
        reportProgress: @escaping @Sendable (_ moved: Int, _ count: Int) -> Void = { _, _ in }
    ) async throws {
        let task = rest.withLock { rest in
            let task = Task { [last = rest.task] in
                _ = await last?.result
                let count = self.rest.withLock { $0.count }
                let files = try TableError.of(url) { try StagingFile.left(for: url) }
                defer { for file in files { file.close() } }
                for file in files { try await moveEach(file, file.count ?? 0, reportProgress) }
                self.rest.withLock { $0.count -= count }
            }
            rest.task = task
            return task
        }
        try await task.value
    }

    /// Moves the rows that stagings have left before this call: they would overwrite later changes.
    func finishRest() async throws { if rest.withLock({ $0.count > 0 }) { try await finishStaging() } }

    /// Moves the rest of a staging before the steps of a migration, since the steps do not change staged rows.
    static func finishStaging(before opener: StoreOpener) async throws {
        if StoreFiles.stagings(of: opener.url).isEmpty { return }
        let queue = try await inBackground { try opener.open(.lastWholeStep) }
        let store = RecordStore(opener, queue)
        if try await queue.read({ try StepLog.entries(in: $0).count }) != opener.migrations.steps.count {
            try await store.finishStaging()
        }
        try await store.close()
    }

    /// Moves rows in a task of its own, so that a cancelled staging leaves none.
    private func move(
        _ file: StagingFile, _ count: Int, _ report: @escaping @Sendable (_ moved: Int, _ count: Int) -> Void
    ) async throws {
        try await Task { try await moveEach(file, count, report) }.value
    }

    private func moveEach(
        _ file: StagingFile, _ count: Int, _ report: @Sendable (_ moved: Int, _ count: Int) -> Void
    ) async throws {
        var (pace, moved) = (StagingPace(), 0)
        do {
            moved = try await commit { try $0.movedCount(of: file.url) }
            while moved < count {
                let (start, limit) = (moved, pace.rowCount)
                let drafts = try await file.drafts(after: start, limit: limit)
                // Guards the time of the transaction with its commit.
                let duration = Mutex(Duration.zero)
                // The side file has the rows until the drive has them here, too.
                try await commit(waitsForDrive: false) { writer in
                    let clock = ContinuousClock.now
                    writer.connection.afterNextTransaction { _ in duration.withLock { $0 = .now - clock } }
                    try writer.move(drafts, of: file.url, upTo: start + drafts.count)
                }
                moved += drafts.count
                report(moved, count)
                let elapsed = duration.withLock { $0 }
                pace.didMove(drafts.count, in: elapsed)
                // Another process, which is not in the queue of this one, finds its turn meanwhile.
                if options.isShared { try await Task.sleep(for: elapsed) }
            }
            try await synchronizeLog()
        } catch {
            let failure = TableError(error, at: url)
            if error is CancellationError || failure.map({ $0.kind != .rejected }) == true {
                rest.withLock { $0.count += 1 }
                throw failure ?? error
            }
            try? await synchronizeLog()
            file.remove()
            throw TableError(
                .rejected,
                "A staging in \(url.lastPathComponent) ended after \(moved) of \(count) rows; the others "
                    + "were dropped. Reason: \(failure?.description ?? "an error in SQL of the app")")
        }
        file.remove()
        try await commit { try $0.forgetStagings(in: file.url.deletingLastPathComponent()) }
    }

    /// Waits until the drive has the moved rows, if commits do.
    private func synchronizeLog() async throws {
        if !options.survivesPowerLoss { return }
        try await files.run { [url] _ in try FileFolder.sync(FileFolder.open(url.path + "-wal", O_RDONLY)) }
    }
}

/// The stagings that have left rows.
struct StagingRest {
    /// The number of those that were found when the file was opened, or have failed since, and were not moved.
    var count: Int
    /// The last task that moves them.
    var task: Task<Void, any Error>?
}

/// The table of a database that records the number of moved drafts of each staging. The number changes in the
/// transaction that moves the drafts, so that no draft is moved twice after a kill.
extension TableWriter {
    fileprivate func movedCount(of staging: URL) throws -> Int {
        try connection.execute(
            sql: """
                CREATE TABLE IF NOT EXISTS runway_staging (name TEXT PRIMARY KEY NOT NULL, moved INTEGER NOT NULL) STRICT
                """)
        return try Int.fetchOne(
            connection, sql: "SELECT moved FROM runway_staging WHERE name = ?", arguments: [staging.lastPathComponent])
            ?? 0
    }

    fileprivate func move(_ drafts: [StagedDraft], of staging: URL, upTo count: Int) throws {
        var layouts: [String: TableLayout] = [:]
        for draft in drafts { try draft.save(with: self, &layouts) }
        try connection.execute(
            sql: "INSERT OR REPLACE INTO runway_staging VALUES (?, ?)", arguments: [staging.lastPathComponent, count])
    }

    /// Removes the numbers of stagings whose files are removed, also of those that were killed after that.
    fileprivate func forgetStagings(in folder: URL) throws {
        for name in try String.fetchAll(connection, sql: "SELECT name FROM runway_staging")
        where !FileManager.default.fileExists(atPath: folder.appending(path: name).path) {
            try connection.execute(sql: "DELETE FROM runway_staging WHERE name = ?", arguments: [name])
        }
    }
}

/// The number of rows in one transaction of a staging, computed from the time that the last one took.
struct StagingPace {
    /// The intended time of one transaction, for which other writes wait. They may wait 10 ms, also while other
    /// programs use the processors, and while SQLite moves the log.
    static let aim = Duration.milliseconds(2)
    /// The number of rows in the next transaction.
    private(set) var rowCount = 8

    mutating func didMove(_ count: Int, in duration: Duration) {
        let fitting = Double(count) * (Self.aim / max(duration, .nanoseconds(1)))
        rowCount = Int(min(max(fitting, 1), Double(count) * 2, 2000))
    }
}
