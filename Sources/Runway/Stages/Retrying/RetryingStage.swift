/// Makes a further attempt if the ``RetryPolicy`` of the call, the budget of the host and the deadline allow it.
///
/// The stage also adds the `Idempotency-Key` of a call if its endpoint uses keys. A streamed response is judged by its
/// status and header fields; after the caller has received them, no attempt is made. Bodies pass unchanged. A body that
/// can't be sent twice is sent once.
struct RetryingStage: RequestStage {
    private let retries: RetryControl
    private let admission: AdmissionControl

    init(_ retries: RetryControl, _ admission: AdmissionControl) {
        self.retries = retries
        self.admission = admission
    }

    var step: FlightStep { .retrying }
    /// `true`: the stage waits only for the rest of the pipeline, and for backoffs that end before the deadline or when
    /// the task is cancelled.
    var endsInTime: Bool { true }

    func respond(
        to request: Request, in flight: Flight, next: RequestPipeline.Rest
    ) async throws(NetworkError) -> Response {
        var request = request
        request.addIdempotencyKey(for: flight.endpoint)
        retries.deposit(for: Origin(request.head))
        var attempt = 1
        var sending = SendState.notSent
        while true {
            let wait: Duration
            do throws(NetworkError) {
                let response = try await next.send(request, in: flight)
                let origin = response.redirectedOrigin
                if attempt == 1, let origin, origin != Origin(request.head) { retries.deposit(for: origin) }
                guard response.verdict != .fine, let cause = flight.retryPolicy.cause(of: response) else {
                    return response.following(sending)
                }
                let retryAfter = response.retryAfter(now: flight.clock.date)
                guard let found = decide(request, attempt, cause, retryAfter, of: origin, in: flight) else {
                    return response.following(sending)
                }
                sending = .sent
                wait = found
            } catch {
                let origin = error.redirectedOrigin
                if attempt == 1, let origin, origin != Origin(request.head) { retries.deposit(for: origin) }
                var error = error
                error.sending = sending.and(error.sending)
                sending = error.sending
                // The renewal of a token has its own retry rules, applied once for all calls that need the token.
                guard error.step != .authorizing, let cause = flight.retryPolicy.cause(of: error),
                    let found = decide(request, attempt, cause, nil, of: origin, in: flight)
                else { throw error }
                wait = found
            }
            do { try await flight.clock.sleep(until: flight.clock.now + wait) } catch { throw .cancelled(in: step) }
            attempt += 1
        }
    }

    /// Returns the wait before the next attempt, or `nil` if none is made. Records the decision.
    ///
    /// - Parameter origin: The origin that failed, if a redirect led there. Its budget is used instead of the budget of
    ///   the request's own origin.
    private func decide(
        _ request: Request, _ attempt: Int, _ cause: RetryCause, _ retryAfter: Duration?, of origin: Origin?,
        in flight: Flight
    ) -> Duration? {
        // If the caller allows only one attempt or its deadline has passed, the record need not explain why there is no
        // further one.
        guard !request.isRetriedBySender, flight.retryPolicy.maximumAttempts > 1, !Task.isCancelled,
            flight.clock.now < flight.deadline
        else { return nil }
        do throws(RetryDecision.Reason) {
            let wait = try retries.decide(
                request, after: attempt, cause, retryAfter: retryAfter,
                isCircuitOpen: !admission.isCircuitClosed(to: CircuitTarget(request.head, of: flight.endpoint)),
                paidBy: origin ?? Origin(request.head), in: flight)
            flight.note(RetryDecision.again(attempt: attempt + 1, wait: wait, cause: cause, retryAfter: retryAfter))
            return wait
        } catch {
            flight.note(RetryDecision.gaveUp(error, cause: cause))
            return nil
        }
    }
}

/// Whether an attempt before this response may have been sent.
private enum FollowsSentAttempt: StageValueKey {
    static var defaultValue: Bool { false }
}

extension Response {
    /// Whether an earlier attempt of the call may have been sent, and got no response or a temporary failure.
    var followsSentAttempt: Bool { values[FollowsSentAttempt.self] }

    /// Records in the response whether earlier attempts of its request may have been sent.
    fileprivate func following(_ sending: SendState) -> Response {
        if sending == .notSent { return self }
        var response = self
        response.values[FollowsSentAttempt.self] = true
        return response
    }
}

private enum IsRetriedBySender: StageValueKey {
    static var defaultValue: Bool { false }
}

extension Request {
    /// Whether the sender of the request makes further attempts, so that no stage may make one.
    var isRetriedBySender: Bool {
        get { values[IsRetriedBySender.self] }
        set { values[IsRetriedBySender.self] = newValue }
    }
}
