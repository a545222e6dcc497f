import Synchronization

/// A value on which tasks wait until it reaches a mark.
///
/// Examples are the time of a manual clock, the position of a gate, and the counters of an origin. A waiter is resumed
/// when the value reaches its mark, even if the value falls again immediately.
package final class AwaitedValue<Value: Comparable & Sendable>: Sendable {
    private struct Waiter {
        let mark: Value
        let continuation: CheckedContinuation<Void, any Error>
    }

    private struct State {
        var value: Value
        var waiters: [UInt64: Waiter] = [:]
        var nextNumber: UInt64 = 0
        var failure: (any Error)?
    }

    /// Guards the value, its waiters, and the error of later waits. Continuations are resumed without the lock.
    private let state: Mutex<State>
    private let audience: AwaitedValue<Int>?

    /// Creates a value to wait on. `audience` is set to the number of waiting tasks.
    package init(_ value: Value, audience: AwaitedValue<Int>? = nil) {
        self.state = Mutex(State(value: value))
        self.audience = audience
    }

    package var value: Value { state.withLock { $0.value } }

    package var waiterCount: Int { state.withLock { $0.waiters.count } }

    /// The lowest mark of the waiting tasks; `nil` if no task waits.
    var lowestMark: Value? { state.withLock { state in state.waiters.values.lazy.map(\.mark).min() } }

    /// Changes the value. Resumes the waiters whose awaited value (mark) is reached: the lowest one first, then in
    /// order of arrival.
    package func update(_ change: (inout Value) -> Void) {
        let reached = state.withLock { state in
            change(&state.value)
            let value = state.value
            let reached = state.waiters.filter { $0.value.mark <= value }
            for number in reached.keys { state.waiters.removeValue(forKey: number) }
            return reached
        }
        guard !reached.isEmpty else { return }
        audience?.update { $0 -= reached.count }
        let ordered = reached.sorted { ($0.value.mark, $0.key) < ($1.value.mark, $1.key) }
        for (_, waiter) in ordered { waiter.continuation.resume() }
    }

    /// Ends all current and later waits with `error`. A second call has no effect.
    package func fail(with error: any Error) {
        let waiters = state.withLock { state in
            if state.failure == nil { state.failure = error }
            let waiters = state.waiters
            state.waiters = [:]
            return waiters
        }
        guard !waiters.isEmpty else { return }
        audience?.update { $0 -= waiters.count }
        for (_, waiter) in waiters.sorted(by: { $0.key < $1.key }) { waiter.continuation.resume(throwing: error) }
    }

    /// Waits until the value reaches `mark`. Throws `CancellationError` if the task is cancelled before.
    package func wait(until mark: Value) async throws {
        let number = state.withLock { state in
            state.nextNumber += 1
            return state.nextNumber
        }
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                if let outcome = enlist(continuation, number: number, mark: mark) {
                    continuation.resume(with: outcome)
                } else {
                    audience?.update { $0 += 1 }
                }
            }
        } onCancel: {
            guard let waiter = state.withLock({ $0.waiters.removeValue(forKey: number) }) else { return }
            audience?.update { $0 -= 1 }
            waiter.continuation.resume(throwing: CancellationError())
        }
    }

    /// Stores the continuation, or returns an outcome that is known at once.
    private func enlist(
        _ continuation: CheckedContinuation<Void, any Error>,
        number: UInt64,
        mark: Value
    ) -> Result<Void, any Error>? {
        state.withLock { state in
            // A task is marked as cancelled before its handlers run. Either the mark is visible here, or the handler
            // runs after this lock is released and finds the waiter. So no continuation waits for ever.
            if Task.isCancelled { return .failure(CancellationError()) }
            if mark <= state.value { return .success(()) }
            if let failure = state.failure { return .failure(failure) }
            state.waiters[number] = Waiter(mark: mark, continuation: continuation)
            return nil
        }
    }
}

extension AwaitedValue<Int> {
    /// Waits until the value is at least `count`, for at most `limit` of real time. While the machine stands still, a
    /// sixtieth of the limit passes at most.
    ///
    /// Throws `WaitTimedOut`, which names `subject`, and `CancellationError`.
    package func wait(atLeast count: Int, within limit: Duration, subject: String) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            defer { group.cancelAll() }
            group.addTask { try await self.wait(until: count) }
            group.addTask {
                for _ in 0..<60 { try await ContinuousClock().sleep(for: limit / 60) }
                // Both tasks may be due when the machine goes on.
                guard self.value < count else { return }
                throw WaitTimedOut(subject: subject, expected: count, seen: self.value, limit: limit)
            }
            try await group.next()
        }
    }
}
