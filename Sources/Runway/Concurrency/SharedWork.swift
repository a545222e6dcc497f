import Synchronization

/// Work that several calls wait for: the first who asks for a key begins it, those who ask while it is under way join it.
///
/// The work runs in a task of its own, so that it outlives the one who began it. Each waits no longer than until its own deadline,
/// and may be cancelled, without harm to the others. Whether the work is cancelled or completed when the last has left,
/// ``SharedWorkRules`` say. An outcome is given to those who wait when the work ends, and kept for nobody.
final class SharedWork<Key: Hashable & Sendable, Value: Sendable>: Sendable {
    typealias Outcome = Result<Value, NetworkError>

    private struct Waiting: Sendable {
        let flight: Flight
        let outcome: Deferred<Outcome>
    }

    private struct Running {
        let beginner: Flight
        /// Whether the work promises to end soon after it was cancelled, so that the last to leave can wait for that end.
        let endsInTime: Bool
        var task: Task<Void, Never>?
        /// Who left last and waits for the end of what was cancelled, and why it left.
        var leaver: (outcome: Deferred<Outcome>, error: NetworkError)?
    }

    private struct State {
        var table: SharedWorkTable<Key, Waiting>
        var running: [UInt64: Running] = [:]
    }

    /// Guards who waits for what, and the tasks that work.
    private let state: Mutex<State>
    private let step: FlightStep
    private let onEnd: @Sendable (Flight) -> Void

    /// Makes an empty one.
    ///
    /// - Parameters:
    ///   - step: The stage that the works are part of.
    ///   - rules: Its bounds.
    ///   - onEnd: Called with the flight that began a work when the work is over, before anyone who waits is told.
    init(in step: FlightStep, _ rules: SharedWorkRules, onEnd: @escaping @Sendable (Flight) -> Void = { _ in }) {
        self.step = step
        self.onEnd = onEnd
        state = Mutex(State(table: SharedWorkTable(rules)))
    }

    /// Waits for the work of a key, and begins it where it is not under way.
    ///
    /// - Parameters:
    ///   - key: What the work is told apart by.
    ///   - flight: The call that waits; until its deadline, or the cancellation of the task.
    ///   - isJoinable: Whether others may share the work with this call.
    ///   - endsInTime: Whether the work ends soon after it was cancelled.
    ///   - joined: Called, before the wait, with the flight that began the work, where it is under way.
    ///   - begins: Called with the number of the work, where it is not.
    ///   - work: The work, for who begins it; it is given its number.
    /// - Throws: What the work threw; ``NetworkError/Kind/timedOut`` and ``NetworkError/Kind/cancelled`` for a call that left; and
    ///   ``NetworkError/Kind/overloaded`` where too many wait and no other work is begun for them.
    func value(
        of key: Key, for flight: Flight, isJoinable: Bool = true, endsInTime: Bool,
        joined: (Flight) -> Void = { _ in }, begins: (UInt64) -> Void = { _ in },
        _ work: @escaping @Sendable (UInt64) async throws(NetworkError) -> Value
    ) async throws(NetworkError) -> Value {
        // What was called off before begins nothing.
        if Task.isCancelled { throw .cancelled(in: step) }
        let waiting = Waiting(flight: flight, outcome: Deferred())
        let entry = state.withLock { state in
            let entry = state.table.enter(waiting, for: key, isJoinable: isJoinable)
            if case .begins(let seat) = entry {
                state.running[seat.work] = Running(beginner: flight, endsInTime: endsInTime)
            }
            return entry
        }
        let seat: SharedWorkTable<Key, Waiting>.Seat
        switch entry {
        case .begins(let own): seat = own
        case .joins(let own, let beginner):
            seat = own
            joined(beginner.flight)
        case .refused: throw NetworkError(.overloaded, in: step, "Too many calls wait for the same thing.")
        }
        let step = step
        return try await flight.withDeadlineHandler { () async throws(NetworkError) in
            if seat.number == 0 {
                begins(seat.work)
                start(seat.work, work)
            }
            return try await withTaskCancellationHandler {
                await waiting.outcome.value
            } onCancel: {
                self.leave(seat, .cancelled(in: step))
            }.get()
        } onDeadline: {
            self.leave(seat, NetworkError(.timedOut, in: step, "The deadline of the call passed."))
        }
    }

    /// The flights that wait for a work, in the order in which they came.
    func flights(waitingFor work: UInt64) -> [Flight] {
        state.withLock { $0.table.members(of: work) }.map(\.flight)
    }

    /// How many calls wait for all works together.
    var waitingCount: Int { state.withLock { $0.table.memberCount } }

    /// Whether no work is under way.
    var isEmpty: Bool { state.withLock { $0.running.isEmpty && $0.table.workCount == 0 && $0.table.listedCount == 0 } }

    /// Lets nobody join the works of some keys any more. They go on for those who wait.
    func close(where isClosed: @Sendable (Key) -> Bool) {
        state.withLock { $0.table.close(where: isClosed) }
    }

    /// Cancels the work of a key, and gives those who wait for it an outcome of another's making. Gives whether there was any.
    @discardableResult
    func end(_ key: Key, with outcome: Outcome) -> Bool {
        guard let work = state.withLock({ $0.table.work(for: key) }) else { return false }
        return end(work, with: outcome)
    }

    /// Ends a work that is not over.
    @discardableResult
    func end(_ work: UInt64, with outcome: Outcome) -> Bool {
        let (ending, running) = state.withLock { ($0.table.end(work), $0.running.removeValue(forKey: work)) }
        if let running {
            running.task?.cancel()
            onEnd(running.beginner)
            running.leaver?.outcome.give(.failure(running.leaver?.error ?? .cancelled(in: step)))
        }
        guard let ending else { return false }
        for waiting in ending.members { waiting.outcome.give(outcome) }
        return true
    }

    private func start(_ number: UInt64, _ work: @escaping @Sendable (UInt64) async throws(NetworkError) -> Value) {
        let task = Task { @concurrent () async -> Void in
            let outcome: Outcome
            do throws(NetworkError) { outcome = .success(try await work(number)) } catch { outcome = .failure(error) }
            end(number, with: outcome)
        }
        let isWanted = state.withLock { state in
            guard state.running[number] != nil else { return false }
            state.running[number]?.task = task
            return state.running[number]?.leaver == nil
        }
        // The last may have left before there was a task to cancel.
        if !isWanted { task.cancel() }
    }

    /// Lets one go who waits no longer.
    private func leave(_ seat: SharedWorkTable<Key, Waiting>.Seat, _ error: NetworkError) {
        let (outcome, left) = state.withLock { state -> (Deferred<Outcome>?, Running?) in
            switch state.table.leave(seat) {
            case .wasOver: return (nil, nil)
            case .left(let waiting): return (waiting.outcome, nil)
            case .wasLast(let waiting):
                guard let running = state.running[seat.work], running.endsInTime else {
                    return (waiting.outcome, state.running.removeValue(forKey: seat.work))
                }
                state.running[seat.work]?.leaver = (waiting.outcome, error)
                return (nil, running)
            }
        }
        if let left {
            left.task?.cancel()
            if outcome != nil { onEnd(left.beginner) }
        }
        outcome?.give(.failure(error))
    }
}
