public import Foundation
import Runway
import Synchronization

/// The receipt for a record of an ``ActionLog``, with which a task can wait until the record is on disk.
///
/// ```swift
/// let receipt = log.record("paid", ["amount": 12])
/// try await receipt.committed()      // it survives the end of the process from here on
/// ```
public final class ActionReceipt: Sendable {
    private enum State {
        case pending([Race<Result<Void, StorageError>>])
        case settled(Result<Void, StorageError>)
    }

    /// The unique id of the record: a UUID of version 7 (RFC 9562 §5.7), created when the record was made.
    public let id: UUID
    /// Guards the result of the last commit, and the tasks that wait for the first commit.
    private let state = Mutex(State.pending([]))

    init(_ id: UUID) { self.id = id }

    /// Waits until the record is committed to disk.
    ///
    /// - Throws: ``StorageError``. The record is lost if the kind is `rejected`, or if it is `full` because of a limit.
    ///   Otherwise the record stays in memory until the log is closed, and the commit is repeated; call this function
    ///   again for the latest result. The kind is `cancelled` if the task is cancelled before the first attempt to
    ///   commit has ended.
    public func committed() async throws(StorageError) {
        let waiter = Race<Result<Void, StorageError>>()
        let settled: Result<Void, StorageError>? = state.withLock { state in
            switch state {
            case .settled(let result): return result
            case .pending(let waiters):
                state = .pending(waiters + [waiter])
                return nil
            }
        }
        if let settled { return try settled.get() }
        let cancellation = StorageError(.cancelled, "The task was cancelled while it waited for the record's commit.")
        try await waiter.wait(onCancel: .failure(cancellation)).get()
    }

    func settle(_ result: Result<Void, StorageError>) {
        let waiters = state.withLock { state in
            defer { state = .settled(result) }
            if case .pending(let waiters) = state { return waiters }
            return []
        }
        for waiter in waiters { waiter.finish(result) }
    }
}
