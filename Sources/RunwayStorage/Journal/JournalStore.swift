import Dispatch
import Foundation
import RunwaySQLite
import Synchronization

/// A journal that is opened when it is first needed, on a queue of its own that may wait for the disk.
final class JournalStore: Sendable {
    private struct State {
        var journal: Journal?
        var setAside: [URL] = []
        var problem: StorageError?
        /// Whether an operation failed that only reads.
        var isProblemOfReading = false
        var operationCount = 0
    }

    private let url: URL
    private let limits: JournalLimits
    private let durability: StorageDatabase.Durability
    private let sealing: (any PayloadSealing)?
    private let time: @Sendable () -> JournalTime
    private let queue = DispatchQueue(label: "runway.journal")
    /// Guards the journal, which only the queue uses, and what is reported of the file.
    private let state = Mutex(State())

    init(
        at url: URL, limits: JournalLimits, durability: StorageDatabase.Durability, sealing: (any PayloadSealing)?,
        time: @escaping @Sendable () -> JournalTime
    ) {
        self.url = url
        self.limits = limits
        self.durability = durability
        self.sealing = sealing
        self.time = time
    }

    /// Why the file could not be written, until a write succeeds, or else read, until any operation succeeds; otherwise `nil`.
    var problem: StorageError? { state.withLock { $0.problem } }

    /// The bytes of the write-ahead log, in which SQLite has what it has not moved to the database file yet.
    var logByteCount: Int { SQLiteFile.logByteCount(of: url) }

    /// How many operations were begun in this run, those that wait for the queue included.
    var operationCount: Int { state.withLock { $0.operationCount } }

    /// The files of this run that could not be read, and were renamed.
    var filesSetAside: [URL] { state.withLock { $0.setAside } }

    /// Runs an operation on the journal that may change it, after those that were begun before.
    ///
    /// If the file turns out to be damaged, it is set aside, and the operation runs once more on a new one, with what is sound of the old.
    ///
    /// - Throws: ``StorageError`` if the file can't be opened, or of the operation.
    func run<Value: Sendable>(
        _ operation: @escaping @Sendable (Journal) throws(StorageError) -> Value
    ) async throws(StorageError) -> Value {
        try await run(isReading: false, operation)
    }

    /// Runs an operation that only reads, as ``run(_:)``.
    func read<Value: Sendable>(
        _ operation: @escaping @Sendable (Journal) throws(StorageError) -> Value
    ) async throws(StorageError) -> Value {
        try await run(isReading: true, operation)
    }

    private func run<Value: Sendable>(
        isReading: Bool, _ operation: @escaping @Sendable (Journal) throws(StorageError) -> Value
    ) async throws(StorageError) -> Value {
        let result: Result<Value, StorageError> = await withCheckedContinuation { continuation in
            // Under the lock, so that an operation that is counted runs before those that begin later.
            state.withLock { state in
                state.operationCount += 1
                queue.async { continuation.resume(returning: self.perform(isReading, operation)) }
            }
        }
        return try result.get()
    }

    /// Closes the file after what was begun. The next operation opens it again.
    func close() async {
        await withCheckedContinuation { continuation in
            queue.async {
                try? self.state.withLock { $0.journal.take() }?.close()
                continuation.resume()
            }
        }
    }

    private func perform<Value>(
        _ isReading: Bool, _ operation: (Journal) throws(StorageError) -> Value
    ) -> Result<Value, StorageError> {
        var former = changeCount
        do throws(StorageError) {
            let value: Value
            do throws(StorageError) {
                value = try operation(try opened())
            } catch {
                guard error.kind == .corrupted else { throw error }
                // A file that can't be closed is not renamed: the next operation tries again.
                try state.withLock { $0.journal }?.close()
                state.withLock { $0.journal = nil }
                former = 0
                let journal = try JournalFile.replace(
                    at: url, limits: limits, durability: durability, sealing: sealing, time: time()
                ) { file in state.withLock { $0.setAside.append(file) } }
                state.withLock { $0.journal = journal }
                value = try operation(journal)
            }
            let isChanged = changeCount != former
            state.withLock { state in
                // On a full disk, a read succeeds, and so does an operation that finds nothing to change.
                if isChanged || state.isProblemOfReading { state.problem = nil }
            }
            return .success(value)
        } catch {
            // What was not accepted says nothing about the file.
            if error.kind == .rejected { return .failure(error) }
            // After an error of the drive nobody knows what the connection has in memory: the next operation reads the file again.
            if error.kind == .unavailable { try? state.withLock { $0.journal.take() }?.close() }
            state.withLock { state in
                if isReading, state.problem != nil, !state.isProblemOfReading { return }
                (state.problem, state.isProblemOfReading) = (error, isReading)
            }
            return .failure(error)
        }
    }

    private var changeCount: Int { state.withLock { $0.journal }?.changeCount ?? 0 }

    private func opened() throws(StorageError) -> Journal {
        if let journal = state.withLock({ $0.journal }) { return journal }
        let journal = try JournalFile.open(
            at: url, limits: limits, durability: durability, sealing: sealing, time: time()
        ) { _, file in
            state.withLock { $0.setAside.append(file) }
        }
        state.withLock { $0.journal = journal }
        return journal
    }
}
