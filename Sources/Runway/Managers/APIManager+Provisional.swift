extension APIManager {
    /// Lands a stale answer that was found off the main actor, while its call flies on.
    func landProvisionally(_ rawData: RawData, of endpoint: E, _ flight: Flight) {
        guard case .absent = state.flights[flight.id]?.provisional, mayLand(flight) else { return }
        if refusal(of: rawData) != nil {
            _ = flight.rejectCached(rawData.source)
            return
        }
        let landing = Landing(flight, endpoint, rawData)
        state.hold(landing)
        state.setProvisional(.untold, of: flight.id)
        tellProvisionally(landing)
    }

    /// Tells of the stale answer that the manager holds while its call flies on, unless the call was ended or a hook ends it.
    ///
    /// It passes the hooks of a success. A veto takes back the stale answer alone; the fresh one may still land.
    func tellProvisionally(_ landing: Landing) {
        guard let rawData = landing.rawData, mayLand(landing.flight) else { return }
        let flight = landing.flight
        let interceptors = interceptors
        let call = ManagerCall(flight: flight.id, endpoint: landing.endpoint)
        for interceptor in interceptors where isUntold(flight) {
            interceptor.apiManager(self, didReceive: .success(rawData), of: call)
        }
        for interceptor in interceptors where isUntold(flight) {
            if interceptor.apiManager(self, shouldSucceedWith: rawData, of: call) { continue }
            flight.note(CallDecision.vetoedProvisional)
            state.setProvisional(.absent, of: flight.id)
            state.goBack(from: flight.id)
        }
        guard isUntold(flight) else { return }
        state.setProvisional(.told, of: flight.id)
        state.keep(landing)
        state.tell(flight.id)
        delegate?.apiManagerDidSucceed(self)
        // The delegate, or a hook, may have ended the call, whose fresh response is still to come.
        for interceptor in interceptors where isHere(flight) {
            interceptor.apiManager(self, didSucceedWith: rawData, of: call)
        }
    }

    private func isUntold(_ flight: Flight) -> Bool {
        if case .untold = state.flights[flight.id]?.provisional { true } else { false }
    }
}
