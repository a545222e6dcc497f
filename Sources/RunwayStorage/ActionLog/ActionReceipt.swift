public import Foundation
import Runway
import Synchronization

/// A record that was handed to an ``ActionLog``.
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

    /// Identifies the record for ever: a UUID of version 7 (RFC 9562 §5.7), made at the moment of recording.
    public let id: UUID
    /// Guards the outcome of the latest attempt to commit, and the tasks that wait for the first attempt.
    private let state = Mutex(State.pending([]))

    init(_ id: UUID) { self.id = id }

    /// Waits until the record is committed to disk.
    ///
    /// - Throws: ``StorageError``. For the kinds `rejected` and `full` of a bound the record is gone; for the others it
    ///   stays in memory until the log is closed, and its commit is repeated: another call of this function returns the
    ///   latest outcome. The kind is `cancelled` if the task is cancelled before the first attempt to commit has ended.
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
