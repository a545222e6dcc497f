import Synchronization

/// Work that several calls share. The first call for a key leads the work; later calls follow while the work is in
/// flight.
///
/// The work runs in a task of its own, so that it outlives the leader's cancellation. Each waiter leaves at its own
/// deadline or cancellation. ``SharedWorkRules`` determine whether the work is cancelled or completed when the last
/// waiter leaves.
///
/// When the work ends, all waiters receive its outcome. If ``Completion/isRetained`` is true, the outcome is also
/// retained for later calls, until ``release(_:)``.
final class SharedWork<Key: Hashable & Sendable, Value: Sendable>: Sendable {
    typealias Outcome = Result<Value, NetworkError>

    /// The role of a call in shared work, as returned by ``enter(_:for:isJoinable:endsInTime:)``.
    enum Role {
        /// The call must start the work with ``lead(_:_:)``.
        case leader(Lease)
        /// The work is in flight. The call must wait for it with ``follow(_:)``.
        case follower(Lease, leader: Flight)
        /// The work has completed, and its outcome is retained.
        case finished(Outcome, leader: Flight)
    }

    /// Represents one call that shares the work. Pass it to ``lead(_:_:)`` or ``follow(_:)`` once.
    struct Lease: Sendable {
        var work: UInt64 { id.work }
        fileprivate let id: SharedWorkTable<Key, Waiter>.MemberID
        fileprivate let waiter: Waiter
    }

    /// The value of completed work, and whether it is retained.
    struct Completion: Sendable {
        var value: Value
        /// Whether the value is retained for calls that enter after the end of the work, until
        /// ``SharedWork/release(_:)``.
        var isRetained = false
    }

    fileprivate struct Waiter: Sendable {
        let flight: Flight
        let outcome: Deferred<Outcome>
    }

    private struct Running {
        let leader: Flight
        let key: Key
        /// Whether the work ends soon after its cancellation. If so, the last waiter can wait for that end.
        let endsInTime: Bool
        var task: Task<Void, Never>?
        /// The last waiter, and the error with which its wait for the outcome ended. It now waits until the cancelled
        /// work has ended.
        var lastWaiter: (outcome: Deferred<Outcome>, error: NetworkError)?
    }

    private struct State {
        var table: SharedWorkTable<Key, Waiter>
        var running: [UInt64: Running] = [:]
        /// The completed pieces of work whose outcome is retained. Each belongs to at least one call that has not
        /// ended, so there are never more of them than calls.
        var retained: [Key: Retained] = [:]
    }

    private struct Retained {
        let work: UInt64
        let leader: Flight
        let outcome: Outcome
    }

    /// Guards the waiters and the tasks that run the work. No callback runs while the lock is held.
    private let state: Mutex<State>
    private let step: FlightStep
    private let onStart: @Sendable (Flight, UInt64) -> Void
    private let onEnd: @Sendable (Flight) -> Void

    /// Creates an empty table.
    ///
    /// - Parameters:
    ///   - step: The stage that the shared work belongs to.
    ///   - rules: The limits, and the behaviour at the limits.
    ///   - onStart: Called with the leader and the number of the work before the work starts.
    ///   - onEnd: Called with the leader when the work ends, before any waiter is notified. Called a second time if the
    ///     work ended before it could start.
    init(
        in step: FlightStep, _ rules: SharedWorkRules,
        onStart: @escaping @Sendable (Flight, UInt64) -> Void = { _, _ in },
        onEnd: @escaping @Sendable (Flight) -> Void = { _ in }
    ) {
        self.step = step
        self.onStart = onStart
        self.onEnd = onEnd
        state = Mutex(State(table: SharedWorkTable(rules)))
    }

    /// Makes a call the leader of the work for a key, which starts it, or a follower, which waits for it. Returns the
    /// outcome instead if one is retained. Returns immediately.
    ///
    /// - Parameters:
    ///   - isJoinable: Whether other calls may share the work with this call.
    ///   - endsInTime: Whether the work ends soon after its cancellation.
    /// - Throws: ``NetworkError/Kind/cancelled`` if the task is cancelled; ``NetworkError/Kind/overloaded`` if too many
    ///   calls wait and the rules allow no second work.
    func enter(
        _ key: Key, for flight: Flight, isJoinable: Bool = true, endsInTime: Bool
    ) throws(NetworkError) -> Role {
        if Task.isCancelled { throw .cancelled(in: step) }
        let waiter = Waiter(flight: flight, outcome: Deferred())
        return try state.withLock { state throws(NetworkError) -> Role in
            if isJoinable, let retained = state.retained[key] {
                return .finished(retained.outcome, leader: retained.leader)
            }
            switch state.table.enter(waiter, for: key, isJoinable: isJoinable) {
            case .begins(let id):
                state.running[id.work] = Running(leader: flight, key: key, endsInTime: endsInTime)
                return .leader(Lease(id: id, waiter: waiter))
            case .joins(let id, let leader):
                return .follower(Lease(id: id, waiter: waiter), leader: leader.flight)
            case .refused(let detail): throw NetworkError(.overloaded, in: step, detail)
            }
        }
    }

    /// Starts the work and waits for its outcome.
    ///
    /// - Throws: The error of the work; ``NetworkError/Kind/timedOut`` or ``NetworkError/Kind/cancelled`` if the call
    ///   stopped waiting before the end.
    func lead(
        _ lease: Lease, _ work: @escaping @Sendable () async throws(NetworkError) -> Completion
    ) async throws(NetworkError) -> Value {
        try await withDeadline(lease) { () async throws(NetworkError) in
            onStart(lease.waiter.flight, lease.work)
            start(lease, work)
            return try await outcome(lease)
        }
    }

    /// Waits for the outcome of work that another call leads.
    ///
    /// - Throws: The same errors as ``lead(_:_:)``.
    func follow(_ lease: Lease) async throws(NetworkError) -> Value {
        try await withDeadline(lease) { () async throws(NetworkError) in try await outcome(lease) }
    }

    /// Returns the flights of the calls that wait for a piece of shared work, in the order in which the calls joined
    /// it.
    func flights(waitingFor work: UInt64) -> [Flight] {
        state.withLock { $0.table.members(of: work) }.map(\.flight)
    }

    var waitingCount: Int { state.withLock { $0.table.memberCount } }

    /// Whether no shared work is in flight and no outcome is retained.
    var isEmpty: Bool {
        state.withLock {
            $0.running.isEmpty && $0.retained.isEmpty && $0.table.workCount == 0 && $0.table.listedCount == 0
        }
    }

    /// Prevents later calls from joining the work for certain keys. Such work continues for its current waiters.
    func close(where isClosed: @Sendable (Key) -> Bool) {
        state.withLock { state in
            state.table.close(where: isClosed)
            state.retained = state.retained.filter { !isClosed($0.key) }
        }
    }

    /// Removes the retained outcome of a piece of work, because the outcome has been stored elsewhere or was rejected.
    ///
    /// Every call that waited for a retained outcome releases it when the call ends. The first release removes the
    /// outcome.
    func release(_ work: UInt64) {
        state.withLock { state in
            guard let key = state.retained.first(where: { $0.value.work == work })?.key else { return }
            state.retained[key] = nil
        }
    }

    /// Cancels the shared work for a key, and passes `outcome` to its waiters. Returns `false` if no work for the key
    /// was in flight.
    @discardableResult
    func end(_ key: Key, with outcome: Outcome) -> Bool {
        guard let work = state.withLock({ $0.table.work(for: key) }) else { return false }
        return end(work, with: outcome)
    }

    /// Ends a piece of shared work with `outcome`. Returns `false` if the work was not in flight.
    @discardableResult
    func end(_ work: UInt64, with outcome: Outcome, isRetained: Bool = false) -> Bool {
        let (ending, running) = state.withLock { state in
            let running = state.running.removeValue(forKey: work)
            // The outcome must be retained in the same critical section in which the work ends. A caller then always
            // finds either the work in flight or its outcome.
            if isRetained, let running, state.table.work(for: running.key) == work,
                !state.table.members(of: work).isEmpty
            {
                state.retained[running.key] = Retained(work: work, leader: running.leader, outcome: outcome)
            }
            return (state.table.end(work), running)
        }
        if let running {
            running.task?.cancel()
            onEnd(running.leader)
            running.lastWaiter?.outcome.set(.failure(running.lastWaiter?.error ?? .cancelled(in: step)))
        }
        guard let ending else { return false }
        for waiter in ending.members { waiter.outcome.set(outcome) }
        return true
    }
}

extension SharedWork {
    private func withDeadline(
        _ lease: Lease, _ operation: () async throws(NetworkError) -> Value
    ) async throws(NetworkError) -> Value {
        let (flight, step) = (lease.waiter.flight, step)
        return try await flight.withDeadlineHandler(operation) {
            self.leave(lease.id, flight.timeout("The deadline of the call passed.", in: step))
        }
    }

    private func outcome(_ lease: Lease) async throws(NetworkError) -> Value {
        let step = step
        return try await withTaskCancellationHandler {
            await lease.waiter.outcome.value
        } onCancel: {
            self.leave(lease.id, .cancelled(in: step))
        }.get()
    }

    private func start(_ lease: Lease, _ work: @escaping @Sendable () async throws(NetworkError) -> Completion) {
        let number = lease.work
        // The work may have ended before `onStart` was called, for example at a deadline. In this case `onEnd` was
        // called too early, so it is called again.
        guard state.withLock({ $0.running[number] != nil }) else { return onEnd(lease.waiter.flight) }
        let task = Task { @concurrent () async -> Void in
            do throws(NetworkError) {
                let completion = try await work()
                end(number, with: .success(completion.value), isRetained: completion.isRetained)
            } catch {
                end(number, with: .failure(error))
            }
        }
        let isWanted = state.withLock { state in
            guard state.running[number] != nil else { return false }
            state.running[number]?.task = task
            return state.running[number]?.lastWaiter == nil
        }
        // If the last waiter left before the task was registered, nothing has cancelled the task yet.
        if !isWanted { task.cancel() }
    }

    /// Removes a waiter because of a deadline or cancellation.
    private func leave(_ id: SharedWorkTable<Key, Waiter>.MemberID, _ error: NetworkError) {
        let (outcome, left) = state.withLock { state -> (Deferred<Outcome>?, Running?) in
            switch state.table.leave(id) {
            case .wasOver: return (nil, nil)
            case .left(let waiter): return (waiter.outcome, nil)
            case .wasLast(let waiter):
                guard let running = state.running[id.work], running.endsInTime else {
                    return (waiter.outcome, state.running.removeValue(forKey: id.work))
                }
                state.running[id.work]?.lastWaiter = (waiter.outcome, error)
                return (nil, running)
            }
        }
        if let left {
            left.task?.cancel()
            if outcome != nil { onEnd(left.leader) }
        }
        outcome?.set(.failure(error))
    }
}

/// Limits for calls that share work, and the behaviour at the limits.
struct SharedWorkRules: Sendable {
    /// The treatment of a call that would exceed ``maximumMembers``.
    enum OverflowRule {
        case startsAnother
        /// The call fails. `detail` describes the work in the error's text.
        case isRefused(detail: String)
    }
    /// Whether shared work is cancelled or completed after the last call has left it.
    enum Abandonment { case isCancelled, isCompleted }

    /// The maximum number of pieces of work that calls can join at the same time. If the maximum is reached, no other
    /// call can join further work.
    var maximumListed: Int
    /// The maximum number of calls that share one piece of work; at least 1.
    var maximumMembers: Int
    var overflow: OverflowRule
    /// Whether shared work is cancelled or completed after the last call has left it.
    var abandonment: Abandonment
}
