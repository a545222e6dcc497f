extension APIManager {
    /// Delivers the result of a call: stores the response that the manager shows, notifies the delegate and calls the
    /// hooks.
    ///
    /// The result is discarded if the call has ended, if a hook ends it, or if the account of the call is no longer
    /// signed in.
    func land(_ landing: Landing) {
        let flight = landing.flight
        guard mayLand(flight), isPending(flight) else {
            if let change = landing.error?.queuedChange { network.changeReports.forget(change.id) }
            return
        }
        switch state.machine.completed(flight.id) {
        case .discard: break
        case .landStale(let stale):
            // The delegate must be notified of the stale response first, even if the fresh response arrives here first.
            landStale(stale)
            land(landing)
        case .fail: fail(landing)
        case .receive(let isValidated): receive(landing, isValidated: isValidated)
        }
    }

    private func receive(_ landing: Landing, isValidated: Bool) {
        let flight = landing.flight
        tasks.remove(flight.id)
        hooks(of: landing).beforeLanding(landing.result) { isPending(flight) }
        guard isPending(flight) else { return }
        guard let rawData = landing.rawData else { return fail(landing) }
        if !isValidated, let refusal = refusal(of: rawData) {
            _ = flight.rejectCached(rawData.source)
            return fail(Landing(flight, landing.endpoint, failing: refusal))
        }
        flight.storeProposal()
        succeed(landing)
    }

    /// Returns the hooks to call for a result.
    private func hooks(of landing: Landing) -> LandingHooks {
        LandingHooks(
            interceptors: interceptors, call: InterceptedCall(landing.flight, landing.endpoint), manager: publicManager)
    }

    private func succeed(_ landing: Landing) {
        let flight = landing.flight
        if state.update({ $0.landUnchanged(landing) }) {
            flight.note(CacheDecision.unchanged)
            flight.finish(.succeeded)
            waiters.landed(flight.id, landing.result)
            return
        }
        let hooks = hooks(of: landing)
        if hooks.vetoer(of: landing.result, landing.endpoint, while: { isPending(flight) }) != nil {
            flight.note(CallDecision.vetoedSuccess)
            end(flight.id, as: .vetoed)
        }
        guard state.update({ $0.land(landing) }) else { return }
        delegate?.apiManagerDidSucceed(self)
        hooks.afterLanding(landing.result)
        flight.finish(.succeeded)
        waiters.landed(flight.id, landing.result)
    }

    private func fail(_ landing: Landing) {
        guard let cause = landing.error else { preconditionFailure("a landing that fails has an error") }
        let flight = landing.flight
        let error = flight.locate(cause)
        if let change = error.queuedChange { return landQueued(flight, change, error) }
        if error.isAbsorbed, let cause = error.serviceError { return end(flight.id, as: .absorbed(cause)) }
        let located = Landing(flight, landing.endpoint, failing: error)
        let hooks = hooks(of: located)
        if hooks.vetoer(of: located.result, located.endpoint, while: { isPending(flight) }) != nil {
            flight.note(CallDecision.vetoedFailure)
            end(flight.id, as: .vetoed)
        }
        if isResumed(flight, after: error) { return }
        guard state.update({ $0.land(located) }) else { return }
        delegate?.apiManager(self, didFailWith: error)
        hooks.afterLanding(located.result)
        _ = flight.finish(failing: error)
        waiters.landed(flight.id, .failure(error))
    }

    /// Notifies the delegate that a call is stored, and waits for the report of its outcome.
    private func landQueued(_ flight: Flight, _ change: QueuedChange, _ error: NetworkError) {
        guard state.update({ $0.end(flight.id) }) != nil else { return network.changeReports.forget(change.id) }
        delegate?.apiManager(self, didQueue: change)
        waiters.landed(flight.id, .failure(error))
        onEndWithoutLanding?(flight.id, .queued(as: change.id))
        network.changeReports.listen(to: change.id) { [weak self] change, result in
            if let self { delegate?.apiManager(self, didReplay: change, with: result) }
        }
    }

    /// If the app has already resumed a failed call, repeats the call instead of delivering its failure, and returns
    /// `true`. Otherwise the app may resume the call later.
    private func isResumed(_ flight: Flight, after error: NetworkError) -> Bool {
        // If another manager makes its calls through this one, that manager repeats them.
        guard owner == nil, isPending(flight), let endpoint = flight.recorder.endpoint as? E else { return false }
        let resume = network.offerResumption(of: flight, after: error, by: self, flight.options) {
            [weak self] options in
            self?.load(endpoint, options: options)
        }
        guard let resume else { return false }
        // The call is ended first, so that the new call does not join it.
        end(flight.id, as: .replaced)
        _ = resume()
        return true
    }

    /// Returns whether the account of a call is signed in. If it is not, the response is not for the current user, so
    /// the call is ended.
    private func mayLand(_ flight: Flight) -> Bool {
        if flight.belongsToCurrentAccount { return true }
        if isPending(flight) { flight.note(CallDecision.accountChanged) }
        end(flight.id, as: .cancelled)
        return false
    }
}

extension APIManager {
    /// Shows a stale response that was found after `load` returned, and notifies the delegate of it.
    func holdAndLandStale(_ landing: Landing) {
        guard mayLand(landing.flight) else { return }
        guard let rawData = landing.rawData else { preconditionFailure("a stale landing has a response") }
        if refusal(of: rawData) != nil {
            _ = landing.flight.rejectCached(rawData.source)
            return
        }
        if state.update({ $0.holdStale(landing) }) { landStale(landing) }
    }

    /// Notifies the delegate of the stale response that is held for a call in flight, after calling the hooks for a
    /// success. Does nothing if the call was ended or a hook ends it. A veto removes only the stale response; the fresh
    /// one may still be delivered.
    func landStale(_ landing: Landing) {
        let flight = landing.flight
        guard isStaleHeld(flight), mayLand(flight) else { return }
        let hooks = hooks(of: landing)
        hooks.beforeLanding(landing.result) { isStaleHeld(flight) }
        guard isStaleHeld(flight) else { return }
        let vetoer = hooks.vetoer(of: landing.result, landing.endpoint) { isStaleHeld(flight) }
        // The hook itself may have ended the call.
        if vetoer != nil, isStaleHeld(flight) {
            flight.note(CallDecision.vetoedProvisional)
            state.update { $0.removeHeldStale(of: flight.id) }
        }
        guard state.update({ $0.landStale(of: flight.id) }) else { return }
        delegate?.apiManagerDidSucceed(self)
        // The delegate or a hook may have ended the call while its fresh response was pending.
        hooks.afterLanding(landing.result) { isPending(flight) }
    }

    private func isStaleHeld(_ flight: Flight) -> Bool { state.machine.heldStale(of: flight.id) != nil }
}
