import HTTPTypes
import Synchronization

/// Sends one request and, if needed, a second attempt. It performs the actions that its ``HedgeRace`` decides.
final class HedgedRequest: Sendable {
    private typealias Outcome = Result<Response, NetworkError>

    private struct State {
        var race = HedgeRace()
        var attempts: [HedgeDecision.Contender: HedgedAttempt] = [:]
        var tasks: [HedgeDecision.Contender: Task<Void, Never>] = [:]
        var outcomes: [HedgeDecision.Contender: Outcome] = [:]
        var caller: CheckedContinuation<Outcome, Never>?
        /// The error of a caller whose deadline passed, or whose task was cancelled, before it began to wait.
        var early: NetworkError?
        var timer: DeadlineTimer.Token?
    }

    private let request: Request
    private let subject: HedgeControl.Subject
    private let delay: Duration
    private let flight: Flight
    private let next: RequestPipeline.Rest
    private let stage: HedgingStage
    private let start: Duration
    /// Guards the race, its attempts, and the caller that waits for its end.
    private let state = Mutex(State())

    init(
        _ request: Request, _ subject: HedgeControl.Subject, after delay: Duration, in flight: Flight,
        _ next: RequestPipeline.Rest, of stage: HedgingStage
    ) {
        self.request = request
        self.subject = subject
        self.delay = delay
        self.flight = flight
        self.next = next
        self.stage = stage
        start = flight.clock.now
    }

    /// Sends the request, a second time if needed, and returns the better response.
    ///
    /// - Throws: The error of the first attempt if neither attempt received a response; ``NetworkError/Kind/cancelled``
    ///   or ``NetworkError/Kind/timedOut`` as soon as the call is cancelled or its deadline passes.
    func response() async throws(NetworkError) -> Response {
        let outcome = await flight.withDeadlineHandler {
            await withTaskCancellationHandler {
                await withCheckedContinuation { begin($0) }
            } onCancel: {
                leave(.cancelled(in: .hedging))
            }
        } onDeadline: {
            self.leave(
                self.flight.timeout("No response arrived before the deadline of the call.", in: .hedging))
        }
        return try outcome.get()
    }

    private func begin(_ caller: CheckedContinuation<Outcome, Never>) {
        let early = state.withLock { state in
            if state.early == nil { state.caller = caller }
            return state.early
        }
        if let early { return caller.resume(returning: .failure(early)) }
        launch(.first)
        let timer = stage.deadlines.schedule(at: start + delay) { [weak self] in self?.delayPassed() }
        let isOver = state.withLock { state in
            state.timer = state.race.isOver ? nil : timer
            return state.race.isOver
        }
        if isOver { stage.deadlines.remove(timer) }
    }

    private func launch(_ contender: HedgeDecision.Contender) {
        let attempt = HedgedAttempt(contender) { [weak self] in self?.headReceived(to: contender, $0) }
        // The attempt must be stored before its task starts. The other attempt may win at once, and then records that
        // this one has lost.
        state.withLock { $0.attempts[contender] = attempt }
        var own = request
        own.hedgedAttempt = attempt
        let task = Task { @concurrent [own, flight, next] in
            let outcome: Outcome
            do throws(NetworkError) {
                outcome = .success(try await next.send(own, in: flight))
            } catch {
                outcome = .failure(error)
            }
            ended(contender, with: outcome)
        }
        let isUnwanted = state.withLock { state in
            state.tasks[contender] = task
            return state.race.isOver || state.race.winner == contender.other
        }
        if isUnwanted { cancel(contender, because: "The other attempt received its response first.") }
    }

    private func delayPassed() {
        guard state.withLock({ $0.race.mayStartSecond }) else { return }
        if let reason = reasonAgainstHedging { return flight.note(HedgeDecision.notStarted(reason)) }
        guard stage.hedges.withdraw(for: subject.origin) else {
            return flight.note(HedgeDecision.notStarted(.budgetSpent))
        }
        guard state.withLock({ $0.race.startSecond() }) else {
            return stage.hedges.refund(for: subject.origin)
        }
        flight.note(HedgeDecision.started(after: flight.clock.now - start))
        launch(.second)
    }

    private var reasonAgainstHedging: HedgeDecision.Reason? {
        if stage.connectivity.current.isConstrained { return .constrained }
        return stage.admission.isCircuitClosed(to: CircuitTarget(request.head, of: flight.endpoint))
            ? nil : .circuitOpen
    }

    private func headReceived(to contender: HedgeDecision.Contender, _ status: HTTPResponse.Status) {
        perform(state.withLock { $0.race.headReceived(to: contender, isGood: !status.mayBeAcceptedLater) })
    }

    private func ended(_ contender: HedgeDecision.Contender, with outcome: Outcome) {
        let ending: HedgeRace.Ending =
            switch outcome {
            case .success(let response): response.isWorthAnotherAttempt ? .poor : .good
            case .failure: .failed
            }
        let actions = state.withLock { state in
            // A stored response retains its stream, which occupies a connection. Responses that are not needed are
            // therefore not stored.
            if !state.race.isOver, state.race.winner != contender.other { state.outcomes[contender] = outcome }
            return state.race.ended(contender, as: ending)
        }
        perform(actions)
    }

    private func perform(_ actions: [HedgeRace.Action]) {
        for action in actions {
            switch action {
            case .win(let contender): noteWin(contender)
            case .cancel(let contender): cancel(contender, because: "The other attempt received its response first.")
            case .settle(let contender): settle(as: contender)
            }
        }
    }

    private func noteWin(_ contender: HedgeDecision.Contender) {
        let time = flight.clock.now - start
        // If the second attempt won, the first would have taken longer. The time is then a lower bound.
        stage.hedges.note(time, of: subject)
        guard state.withLock({ $0.race.hasSecond }) else { return }
        flight.note(HedgeDecision.won(contender, after: time))
        state.withLock { $0.attempts[contender.other] }?.noteLoss()
    }

    /// Cancels an attempt and closes its record at once, even if a transport ignores the cancellation.
    private func cancel(_ contender: HedgeDecision.Contender, because reason: String) {
        let (attempt, task) = state.withLock { ($0.attempts[contender], $0.tasks[contender]) }
        task?.cancel()
        if let index = attempt?.index { flight.recorder.endAttempt(index, failing: reason) }
    }

    private func settle(as contender: HedgeDecision.Contender) {
        let (caller, outcome, timer, isLost) = state.withLock { state in
            defer {
                state.caller = nil
                state.outcomes = [:]
            }
            let isLost = state.race.hasSecond && state.race.winner == nil
            var outcome = state.outcomes[contender]
            // The request counts as sent if either attempt was sent.
            if case .failure(var error) = outcome, case .failure(let other) = state.outcomes[contender.other] {
                error.sending = error.sending.and(other.sending)
                outcome = .failure(error)
            }
            return (state.caller, outcome, state.timer, isLost)
        }
        if let timer { stage.deadlines.remove(timer) }
        if isLost { flight.note(HedgeDecision.lost) }
        guard let caller else { return }
        guard let outcome else { preconditionFailure("a settled race has an outcome while its caller waits") }
        caller.resume(returning: outcome)
    }

    /// Ends the caller's wait with an error.
    private func leave(_ error: NetworkError) {
        let (actions, caller, timer) = state.withLock { state in
            defer {
                state.caller = nil
                state.outcomes = [:]
            }
            if !state.race.isOver, state.caller == nil { state.early = error }
            return (state.race.abandon(), state.caller, state.timer)
        }
        if let timer { stage.deadlines.remove(timer) }
        for case .cancel(let contender) in actions { cancel(contender, because: error.detail) }
        caller?.resume(returning: .failure(error))
    }
}

extension Response {
    /// Whether a second attempt may get a better response.
    fileprivate var isWorthAnotherAttempt: Bool {
        verdict?.isOverloaded == true || head.status.mayBeAcceptedLater
    }
}
