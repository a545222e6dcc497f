extension APIManager {
    /// The layer's interceptors for the endpoint, then the manager's own.
    var interceptors: [any Interceptor] {
        let shared =
            network.interceptors.isEmpty
            ? [] : network.interceptors[ObjectIdentifier(E.self)]?.compactMap(\.interceptor) ?? []
        return interceptor.map { shared + [$0] } ?? shared
    }

    /// Lands a call: keeps what it brought and tells the delegate, unless the call was ended before, a hook ends it, or the account
    /// that it was made for is not signed in any more.
    func land(_ result: Result<RawData, NetworkError>, of endpoint: (any Endpoint)?, _ flight: Flight) {
        guard mayLand(flight) else { return }
        // Whatever order the two turns came in, nobody hears of the fresh answer before the stale one.
        if case .untold = state.flights[flight.id]?.provisional, let held = state.last.answer,
            held.flight.id == flight.id
        {
            tellProvisionally(held)
        }
        box.remove(flight.id)
        let interceptors = interceptors
        // A call that failed before it took off, for a bad parameter, has nothing to come back with.
        if state.flights[flight.id]?.phase != .grounded {
            let call = ManagerCall(flight: flight.id, endpoint: endpoint)
            for interceptor in interceptors where isHere(flight) {
                interceptor.apiManager(self, didReceive: result, of: call)
            }
        }
        guard let running = state.flights[flight.id] else { return }
        switch result {
        case .success(let rawData):
            // The validator has seen what was there when `load` returned.
            if running.phase == .flying, let refusal = refusal(of: rawData) {
                _ = flight.letGoOfGiven(rawData.source)
                return fail(flight, endpoint, refusal, interceptors)
            }
            flight.keepProposal()
            if let endpoint { succeed(flight, endpoint, rawData, interceptors) }
        case .failure(let error):
            fail(flight, endpoint, error, interceptors)
        }
    }

    private func succeed(
        _ flight: Flight, _ endpoint: any Endpoint, _ rawData: RawData, _ interceptors: [any Interceptor]
    ) {
        if isTold(rawData, flight) {
            state.remove(flight.id)
            state.keep(Landing(flight, endpoint, rawData))
            flight.note(CacheDecision.unchanged)
            flight.finish(.succeeded)
            return
        }
        let call = ManagerCall(flight: flight.id, endpoint: endpoint)
        for interceptor in interceptors where isHere(flight) {
            if interceptor.apiManager(self, shouldSucceedWith: rawData, of: call) { continue }
            flight.note(CallDecision.vetoedSuccess)
            end(flight.id, as: .vetoed)
        }
        guard state.remove(flight.id) != nil else { return }
        state.keep(Landing(flight, endpoint, rawData))
        state.tell(flight.id)
        delegate?.apiManagerDidSucceed(self)
        for interceptor in interceptors { interceptor.apiManager(self, didSucceedWith: rawData, of: call) }
        flight.finish(.succeeded)
    }

    private func fail(
        _ flight: Flight, _ endpoint: (any Endpoint)?, _ error: NetworkError, _ interceptors: [any Interceptor]
    ) {
        let error = flight.locate(error)
        if error.isAbsorbed, let cause = error.serviceError { return end(flight.id, as: .absorbed(cause)) }
        let call = ManagerCall(flight: flight.id, endpoint: endpoint)
        for interceptor in interceptors where isHere(flight) {
            if interceptor.apiManager(self, shouldFailWith: error, of: call) { continue }
            flight.note(CallDecision.vetoedFailure)
            end(flight.id, as: .vetoed)
        }
        guard state.remove(flight.id) != nil else { return }
        state.last = LastLanding(
            answer: state.last.answer, landed: Landing(flight, endpoint), error: error)
        delegate?.apiManager(self, didFailWith: error)
        for interceptor in interceptors { interceptor.apiManager(self, didFailWith: error, of: call) }
        _ = flight.finish(failing: error)
    }

    /// Why the manager's validator does not accept an answer; `nil` where it does, or there is none.
    func refusal(of rawData: RawData) -> NetworkError? {
        do {
            try validator?.apiManager(self, validateResponse: rawData)
            return nil
        } catch {
            return .invalidResponse(in: .checking, rawData, error)
        }
    }

    /// Whether the delegate was told of the same bytes, as the provisional answer of the same call that the manager still holds.
    private func isTold(_ rawData: RawData, _ flight: Flight) -> Bool {
        guard case .told = state.flights[flight.id]?.provisional, let answer = state.last.answer,
            answer.flight.id == flight.id
        else {
            return false
        }
        return answer.rawData?.bytes == rawData.bytes
    }

    /// Returns whether the account that a call was made for is signed in. If it is not, ends the call: its response is not for the current
    /// user.
    func mayLand(_ flight: Flight) -> Bool {
        if flight.isOfCurrentAccount { return true }
        if isHere(flight) { flight.note(CallDecision.accountChanged) }
        end(flight.id, as: .cancelled)
        return false
    }

    /// Whether a call has neither landed nor been ended, by a hook for instance.
    func isHere(_ flight: Flight) -> Bool { state.flights[flight.id] != nil }
}
