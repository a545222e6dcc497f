package import HTTPTypes

extension Flight {
    /// Adds a decision to the record of the call.
    package func note<D: StageDecision>(_ decision: D, in step: FlightStep = D.step) {
        recorder.note(decision, in: step, at: clock.now)
    }

    /// Adds a decision, and the time at which it was made, to the record of the call.
    func note<D: StageDecision>(_ decision: D, at now: Duration) { recorder.note(decision, in: D.step, at: now) }

    /// Adds a decision of an app's stage to the record of the call. It must not contain secrets, because records don't
    /// redact it.
    ///
    /// - Parameters:
    ///   - name: The decision in one word, for programs.
    ///   - fields: The values that belong to the decision. The default is empty.
    ///   - text: The decision in a few words, for readers.
    ///   - step: The step in which the decision was made.
    public func note(_ name: String, fields: [String: String] = [:], _ text: String, in step: FlightStep) {
        note(CustomDecision(entry: DecisionRecord(name: name, fields: fields, text: text)), in: step)
    }

    /// Records the HTTP version of an attempt. A transport that knows the version should call this as soon as possible,
    /// because ``MergePolicy`` depends on it.
    ///
    /// - Parameters:
    ///   - version: The version, such as `HTTP/2`.
    ///   - request: The request as received by the transport. The default, `nil`, is the request of the last attempt.
    ///     Pass the request because a hedged call has two attempts at a time.
    public func noteHTTPVersion(_ version: String, of request: Request? = nil) {
        recorder.changeAttempt(request?.attempt) { $0.httpVersion = version }
    }

    /// Records the transport's measurements of an attempt. A later call replaces an earlier one.
    ///
    /// - Parameters:
    ///   - wire: The measurements.
    ///   - request: The request as received by the transport. The default, `nil`, is the request of the last attempt.
    ///     Pass the request because a hedged call has two attempts at a time.
    public func noteWire(_ wire: WireRecord, of request: Request? = nil) {
        recorder.changeAttempt(request?.attempt) { $0.wire = wire }
    }

    /// Replaces the secrets of the call, and other texts that the layer redacts, in a URL. The argument may also be
    /// only a query that begins with its question mark.
    package func redacted(url: String) -> String { recorder.redacted(url: url) }

    /// Returns header fields without the secrets of the call and the values that the layer redacts.
    package func redacted(_ fields: HTTPFields) -> HTTPFields { recorder.redacted(fields) }

    /// Returns the record so far, redacted with `redaction`.
    ///
    /// - Parameter outcome: The outcome to use if the call has not ended. The default is ``FlightOutcome/cancelled``.
    package func record(_ redaction: Redaction, as outcome: FlightOutcome = .cancelled) -> FlightRecord {
        recorder.record(of: self, redaction, at: clock.reading, as: outcome)
    }

    /// Adds facts about the call to an error: the request that the error concerns, or the sign-out of the account.
    func locate(_ error: NetworkError) -> NetworkError { recorder.locate(error) }

    /// Ends the call with an outcome, and reports its record. Returns `false`, without effect, if the call had already
    /// ended.
    @discardableResult
    func finish(_ outcome: FlightOutcome) -> Bool {
        leaveChange()
        guard let report = recorder.end(outcome) else { return false }
        releaseRead()
        context.grace?.end(id)
        if report == .now { context.events.enqueue(self) }
        return true
    }

    /// Ends the call with an error. Returns the error, with the request that it concerns.
    func finish(failing error: NetworkError) -> NetworkError {
        let error = locate(isEndedEarly ? earlyEnd(in: error.step) : error)
        switch error.kind {
        case .cancelled: finish(.cancelled)
        // The stage that stored the call has already ended the call.
        case .queued where recorder.hasEnded: break
        default:
            if error.isAbsorbed, let cause = error.serviceError {
                finish(.absorbed(cause))
            } else {
                finish(.failed(error))
            }
        }
        return error
    }

    /// Allows the record to be reported. If the call has ended, reports it now.
    func releaseRecord() {
        if recorder.release() { context.events.enqueue(self) }
    }

    /// Reports the record again with later entries, if it was reported before.
    package func amend() {
        if recorder.isReported { context.events.enqueue(self, isAmendment: true) }
    }
}
