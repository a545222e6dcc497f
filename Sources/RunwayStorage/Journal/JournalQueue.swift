import Dispatch
import Foundation
import RunwaySQLite
import Synchronization

/// Opens a journal when it is first needed, and runs operations on it on a queue that may wait for the disk.
final class JournalQueue: Sendable {
    enum Access {
        /// The operation only reads. It neither clears nor replaces the error of a write.
        case reading
        case writing
        /// The operation erases data. If the disk is full, it may use the space of the ``SpaceReserve``.
        case erasing
    }

    private struct State {
        /// The lock of the file while the journal is open or being replaced.
        var file: LockedJournalFile?
        var journal: Journal?
        var isClosed = false
        var setAside: [URL] = []
        var problem: StorageError?
        /// Whether the current problem is the error of a reading operation.
        var isProblemOfReading = false
        var operationCount = 0
    }

    private let url: URL
    private let limits: JournalLimits
    private let durability: StorageDatabase.Durability
    private let sealing: (any PayloadSealing)?
    private let time: @Sendable () -> JournalTime
    private let reserve: SpaceReserve
    private let queue = DispatchQueue(label: "runway.journal")
    /// Guards the journal, which only the queue uses, and the reported state of the file.
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
        reserve = SpaceReserve(for: url) { try StorageFolder.protect([$0]) }
    }

    /// The error of the last write, until a write succeeds. Without such an error, the error of the last read, until
    /// any operation succeeds; `nil` if there is neither.
    var problem: StorageError? { state.withLock { $0.problem } }

    var logByteCount: Int { SQLiteFile.logByteCount(of: url) }

    /// The number of operations started in this run, including those that wait for the queue.
    var operationCount: Int { state.withLock { $0.operationCount } }

    /// The files that could not be read in this run, and were renamed.
    var filesSetAside: [URL] { state.withLock { $0.setAside } }

    /// Runs an operation that only reads; see ``run(_:_:)``.
    func read<Value: Sendable>(
        _ operation: @escaping @Sendable (Journal) throws(StorageError) -> Value
    ) async throws(StorageError) -> Value {
        try await run(.reading, operation)
    }

    /// Runs an operation on the journal, after all operations that were started before.
    ///
    /// If the file is damaged, it is set aside, and the operation runs again on a new file with the undamaged entries.
    /// If the disk is full, an erasing operation runs again with the space of the ``SpaceReserve``.
    ///
    /// - Parameter access: The way in which the operation uses the file. The default is writing.
    /// - Throws: ``StorageError`` if the file can't be opened or was closed, or the error of the operation.
    func run<Value: Sendable>(
        _ access: Access = .writing, _ operation: @escaping @Sendable (Journal) throws(StorageError) -> Value
    ) async throws(StorageError) -> Value {
        let result: Result<Value, StorageError> = await withCheckedContinuation { continuation in
            begin(access, operation) { continuation.resume(returning: $0) }
        }
        return try result.get()
    }

    /// Starts an operation like ``run(_:_:)``, and returns at once.
    ///
    /// - Parameter completion: Called with the result of the operation, on the queue of the file.
    func begin<Value: Sendable>(
        _ access: Access = .writing, _ operation: @escaping @Sendable (Journal) throws(StorageError) -> Value,
        completion: @escaping @Sendable (Result<Value, StorageError>) -> Void
    ) {
        // The operation is enqueued under the lock, so that operations run in the order in which they are counted.
        state.withLock { state in
            state.operationCount += 1
            queue.async { completion(self.perform(access, operation)) }
        }
    }

    /// Closes the file after the operations that were started. Later operations fail with
    /// ``StorageError/Kind/unavailable``.
    func close() async {
        await withCheckedContinuation { continuation in
            queue.async {
                self.state.withLock { $0.isClosed = true }
                self.closeFile()
                continuation.resume()
            }
        }
    }

    private func closeFile() {
        try? state.withLock { $0.journal.take() }?.close()
        state.withLock { $0.file = nil }
    }

    private func perform<Value>(
        _ access: Access, _ operation: (Journal) throws(StorageError) -> Value
    ) -> Result<Value, StorageError> {
        let (former, formerCount) = (state.withLock { $0.journal }, changeCount)
        defer {
            // The reserve is created again at the end, since the operation may need the space of the released reserve.
            if let journal = state.withLock({ $0.journal }), journal !== former {
                reserve.make(leaving: SpaceReserve.byteCount)
            }
        }
        do throws(StorageError) {
            let value: Value
            do throws(StorageError) {
                value = try repairing(operation)
            } catch {
                guard error.kind == .full, access == .erasing, reserve.release() else { throw error }
                defer { reserve.make() }
                value = try repairing(operation)
            }
            let isChanged = changeCount != (state.withLock { $0.journal } === former ? formerCount : 0)
            state.withLock { state in
                // On a full disk, operations without changes succeed. They do not clear the error of a write.
                if isChanged || state.isProblemOfReading { state.problem = nil }
            }
            return .success(value)
        } catch {
            // A rejected input is not a problem of the file.
            if error.kind == .rejected { return .failure(error) }
            // After a drive error, the connection's state is unknown. The next operation opens the file again.
            if error.kind == .unavailable { closeFile() }
            state.withLock { state in
                if access == .reading, state.problem != nil, !state.isProblemOfReading { return }
                (state.problem, state.isProblemOfReading) = (error, access == .reading)
            }
            return .failure(error)
        }
    }

    /// Runs an operation. If the file turns out to be damaged, runs it again on a new file.
    private func repairing<Value>(_ operation: (Journal) throws(StorageError) -> Value) throws(StorageError) -> Value {
        do throws(StorageError) {
            return try operation(try opened())
        } catch {
            guard error.kind == .corrupted, let file = state.withLock({ $0.file }) else { throw error }
            return try operation(try replaced(file))
        }
    }

    private var changeCount: Int { state.withLock { $0.journal }?.changeCount ?? 0 }

    private func opened() throws(StorageError) -> Journal {
        let (former, file, isClosed) = state.withLock { ($0.journal, $0.file, $0.isClosed) }
        if let former { return former }
        if isClosed { throw StorageError(.unavailable, "\(url.lastPathComponent) was closed.") }
        if let file { return try opened(file) }
        return try opened(LockedJournalFile(at: url, limits: limits, durability: durability, sealing: sealing))
    }

    private func opened(_ file: LockedJournalFile) throws(StorageError) -> Journal {
        let journal = try file.open(time: time()) { _, name in state.withLock { $0.setAside.append(name) } }
        state.withLock { ($0.file, $0.journal) = (file, journal) }
        return journal
    }

    private func replaced(_ file: LockedJournalFile) throws(StorageError) -> Journal {
        // If closing fails, the file is not renamed, and the next operation tries again.
        try state.withLock { $0.journal }?.close()
        state.withLock { $0.journal = nil }
        let journal = try file.replace(time: time()) { name in state.withLock { $0.setAside.append(name) } }
        state.withLock { $0.journal = journal }
        return journal
    }
}
