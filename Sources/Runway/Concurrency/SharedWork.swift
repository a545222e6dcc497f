import Synchronization

/// Work that several calls wait for: the first who asks for a key begins it, those who ask while it is under way join it.
///
/// The work runs in a task of its own, so that it outlives the one who began it. Each waits no longer than until its own deadline,
/// and may be cancelled, without harm to the others. Whether the work is cancelled or completed when the last has left,
/// ``SharedWorkRules`` say. An outcome is given to those who wait when the work ends, and is kept for nobody, or until one of those who
/// waited has put it away.
final class SharedWork<Key: Hashable & Sendable, Value: Sendable>: Sendable {
    typealias Outcome = Result<Value, NetworkError>

    private struct Waiting: Sendable {
        let flight: Flight
        let outcome: Deferred<Outcome>
    }

    private struct Running {
        let beginner: Flight
        let key: Key
        /// Whether the work promises to end soon after it was cancelled, so that the last to leave can wait for that end.
        let endsInTime: Bool
        var task: Task<Void, Never>?
        /// Who left last and waits for the end of what was cancelled, and why it left.
        var leaver: (outcome: Deferred<Outcome>, error: NetworkError)?
    }

    private struct State {
        var table: SharedWorkTable<Key, Waiting>
        var running: [UInt64: Running] = [:]
        /// What ended and was not put away yet. For each there is a call that waited for it and is not over, so that there are never
        /// more of them than calls.
        var landed: [Key: Landed] = [:]
    }

    private struct Landed {
        let work: UInt64
        let beginner: Flight
        let outcome: Outcome
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
    ///   - onEnd: Called with the flight that began the work when the work ends, before any waiter is notified. Called a second
    ///     time if the work ended before it could begin.
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
    ///   - stays: Whether an outcome is also given to those who ask after the work has ended, until it is put away; see ``putAway(_:)``.
    ///   - joined: Called, before the wait, with the flight that began the work and the number of the work, where it is under way.
    ///   - found: Called with the flight that began the work, where it has ended and its outcome stayed.
    ///   - begins: Called with the number of the work, where it is not.
    ///   - work: The work, for who begins it; it is given its number.
    /// - Throws: What the work threw; ``NetworkError/Kind/timedOut`` and ``NetworkError/Kind/cancelled`` for a call that left; and
    ///   ``NetworkError/Kind/overloaded`` where too many wait and no other work is begun for them.
    func value(
        of key: Key, for flight: Flight, isJoinable: Bool = true, endsInTime: Bool,
        stays: @escaping @Sendable (Value) -> Bool = { _ in false }, joined: (Flight, UInt64) -> Void = { _, _ in },
        found: (Flight) -> Void = { _ in }, begins: (UInt64) -> Void = { _ in },
        _ work: @escaping @Sendable (UInt64) async throws(NetworkError) -> Value
    ) async throws(NetworkError) -> Value {
        // What was called off before begins nothing.
        if Task.isCancelled { throw .cancelled(in: step) }
        let waiting = Waiting(flight: flight, outcome: Deferred())
        let (entry, landed) = state.withLock { state -> (SharedWorkTable<Key, Waiting>.Entry?, Landed?) in
            if isJoinable, let landed = state.landed[key] { return (nil, landed) }
            let entry = state.table.enter(waiting, for: key, isJoinable: isJoinable)
            if case .begins(let seat) = entry {
                state.running[seat.work] = Running(beginner: flight, key: key, endsInTime: endsInTime)
            }
            return (entry, nil)
        }
        if let landed {
            found(landed.beginner)
            return try landed.outcome.get()
        }
        let seat: SharedWorkTable<Key, Waiting>.Seat
        switch entry {
        case .begins(let own): seat = own
        case .joins(let own, let beginner):
            seat = own
            joined(beginner.flight, own.work)
        case .refused, nil: throw NetworkError(.overloaded, in: step, "Too many calls wait for the same thing.")
        }
        let step = step
        return try await flight.withDeadlineHandler { () async throws(NetworkError) in
            if seat.number == 0 {
                begins(seat.work)
                start(seat.work, of: flight, stays, work)
            }
            return try await withTaskCancellationHandler {
                await waiting.outcome.value
            } onCancel: {
                self.leave(seat, .cancelled(in: step))
            }.get()
        } onDeadline: {
            self.leave(seat, flight.timeout("The deadline of the call passed.", in: step))
        }
    }

    /// The flights that wait for a work, in the order in which they came.
    func flights(waitingFor work: UInt64) -> [Flight] {
        state.withLock { $0.table.members(of: work) }.map(\.flight)
    }

    /// How many calls wait for all works together.
    var waitingCount: Int { state.withLock { $0.table.memberCount } }

    /// Whether no work is under way.
    var isEmpty: Bool {
        state.withLock {
            $0.running.isEmpty && $0.landed.isEmpty && $0.table.workCount == 0 && $0.table.listedCount == 0
        }
    }

    /// Lets nobody join the works of some keys any more. They go on for those who wait.
    func close(where isClosed: @Sendable (Key) -> Bool) {
        state.withLock { state in
            state.table.close(where: isClosed)
            state.landed = state.landed.filter { !isClosed($0.key) }
        }
    }

    /// Gives the outcome of a work that has ended to nobody any more: what it brought is kept elsewhere, or was not good enough.
    ///
    /// Everyone who was given the number of a work whose outcome stays sees to it when done. The first to do so is enough.
    func putAway(_ work: UInt64) {
        state.withLock { state in
            guard let key = state.landed.first(where: { $0.value.work == work })?.key else { return }
            state.landed[key] = nil
        }
    }

    /// Cancels the work of a key, and gives those who wait for it an outcome of another's making. Gives whether there was any.
    @discardableResult
    func end(_ key: Key, with outcome: Outcome) -> Bool {
        guard let work = state.withLock({ $0.table.work(for: key) }) else { return false }
        return end(work, with: outcome)
    }

    /// Ends a work that is not over.
    @discardableResult
    func end(_ work: UInt64, with outcome: Outcome, stays: Bool = false) -> Bool {
        let (ending, running) = state.withLock { state in
            let running = state.running.removeValue(forKey: work)
            // Who asks next finds the outcome or the work, and no moment between them in which there is neither.
            if stays, let running, state.table.work(for: running.key) == work, !state.table.members(of: work).isEmpty {
                state.landed[running.key] = Landed(work: work, beginner: running.beginner, outcome: outcome)
            }
            return (state.table.end(work), running)
        }
        if let running {
            running.task?.cancel()
            onEnd(running.beginner)
            running.leaver?.outcome.give(.failure(running.leaver?.error ?? .cancelled(in: step)))
        }
        guard let ending else { return false }
        for waiting in ending.members { waiting.outcome.give(outcome) }
        return true
    }

    private func start(
        _ number: UInt64, of beginner: Flight, _ stays: @escaping @Sendable (Value) -> Bool,
        _ work: @escaping @Sendable (UInt64) async throws(NetworkError) -> Value
    ) {
        // The work may have been ended, by a deadline for instance, before `begins` was called. `onEnd` was called too early then.
        guard state.withLock({ $0.running[number] != nil }) else { return onEnd(beginner) }
        let task = Task { @concurrent () async -> Void in
            do throws(NetworkError) {
                let value = try await work(number)
                end(number, with: .success(value), stays: stays(value))
            } catch {
                end(number, with: .failure(error))
            }
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
