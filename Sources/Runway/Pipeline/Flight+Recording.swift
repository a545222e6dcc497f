package import HTTPTypes

extension Flight {
    /// Writes a decision into the record of the call.
    package func note<D: StageDecision>(_ decision: D, in step: FlightStep = D.step) {
        recorder.note(decision, in: step, at: clock.now)
    }

    /// Writes a decision that was made at an instant on the layer's clock.
    func note<D: StageDecision>(_ decision: D, at now: Duration) { recorder.note(decision, in: D.step, at: now) }

    /// Writes a decision that follows from the last one, at the instant of that: the clock is not read again.
    func noteConsequence<D: StageDecision>(_ decision: D) {
        recorder.note(decision, in: D.step, at: nil)
    }

    /// Writes a decision of the app's own into the record of the call. It must hold no secret: records don't redact it.
    ///
    /// - Parameters:
    ///   - name: The decision, in one word for programs.
    ///   - fields: The values that belong to it. The default is empty.
    ///   - text: The decision in a few words, for people.
    ///   - step: The step that decided.
    public func note(_ name: String, fields: [String: String] = [:], _ text: String, in step: FlightStep) {
        note(CustomDecision(entry: DecisionRecord(name: name, fields: fields, text: text)), in: step)
    }

    /// Records which version of HTTP an attempt uses. For transports that know, as soon as they do: ``MergePolicy``
    /// depends on it.
    ///
    /// - Parameters:
    ///   - version: The version, such as `HTTP/2`.
    ///   - request: The request as received by the transport. The default, `nil`, is the request of the last attempt; a
    ///     hedged call has two at a time.
    public func noteHTTPVersion(_ version: String, of request: Request? = nil) {
        recorder.changeAttempt(request?.attempt) { $0.httpVersion = version }
    }

    /// Records the wire facts of an attempt. For transports that know them; a later call replaces an earlier one.
    ///
    /// - Parameters:
    ///   - wire: The wire facts.
    ///   - request: The request as received by the transport. The default, `nil`, is the request of the last attempt; a
    ///     hedged call has two at a time.
    public func noteWire(_ wire: WireRecord, of request: Request? = nil) {
        recorder.changeAttempt(request?.attempt) { $0.wire = wire }
    }

    /// Returns a URL, or a query with its question mark, without the secrets of the call and the texts that the layer
    /// redacts.
    package func redacted(url: String) -> String { recorder.redacted(url: url) }

    /// Returns header fields without the secrets of the call and the values that the layer redacts.
    package func redacted(_ fields: HTTPFields) -> HTTPFields { recorder.redacted(fields) }

    /// Returns the record so far, redacted by `redaction`.
    ///
    /// - Parameter outcome: The outcome if the call has not ended yet. The default is ``FlightOutcome/cancelled``.
    package func record(_ redaction: Redaction, as outcome: FlightOutcome = .cancelled) -> FlightRecord {
        recorder.record(of: self, redaction, at: clock.reading, as: outcome)
    }

    /// Adds the call's facts to an error: the request that it concerns, or that the account signed out.
    func locate(_ error: NetworkError) -> NetworkError { recorder.locate(error) }

    /// Ends the call with an outcome, and reports its record. Only the first ending counts; returns whether this was
    /// it.
    @discardableResult
    func finish(_ outcome: FlightOutcome) -> Bool {
        leaveChange()
        guard let report = recorder.end(outcome) else { return false }
        releaseRead()
        context.grace?.end(id)
        if report == .now { context.events.enqueue(self) }
        return true
    }

    /// Ends the call with an error, and returns the error with the request that it concerns.
    func finish(failing error: NetworkError) -> NetworkError {
        let error = locate(isEndedEarly ? earlyEnd(in: error.step) : error)
        switch error.kind {
        case .cancelled: finish(.cancelled)
        // The stage that stored the call has ended it.
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

    /// Reports the record that was held back, if the call has ended.
    func releaseRecord() {
        if recorder.release() { context.events.enqueue(self) }
    }

    /// Reports the record again, with later entries, if it has been reported.
    package func amend() {
        if recorder.isReported { context.events.enqueue(self, isAmendment: true) }
    }
}
