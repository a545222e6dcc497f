extension APIManager {
    /// The layer's interceptors for the endpoint, then the manager's own.
    var interceptors: [any Interceptor] {
        let shared = network.interceptors[ObjectIdentifier(E.self)]?.compactMap(\.interceptor) ?? []
        return interceptor.map { shared + [$0] } ?? shared
    }

    /// Lands a call: keeps what it brought and tells the delegate, unless the call was ended before or a hook ends it.
    func land(_ result: Result<RawData, NetworkError>, of endpoint: E?, _ flight: Flight) {
        box.remove(flight.id)
        let interceptors = interceptors
        if isComingBack(flight, with: result) {
            for interceptor in interceptors where isHere(flight) { interceptor.apiManager(self, didReceive: result) }
        }
        guard isHere(flight) else { return }
        switch result {
        case .success(let rawData):
            do {
                try validator?.apiManager(self, validateAnswer: rawData)
            } catch {
                return fail(flight, endpoint, .invalidAnswer(in: .checking, rawData, error), interceptors)
            }
            if let endpoint { succeed(flight, endpoint, rawData, interceptors) }
        case .failure(let error):
            fail(flight, endpoint, error, interceptors)
        }
    }

    private func succeed(_ flight: Flight, _ endpoint: E, _ rawData: RawData, _ interceptors: [any Interceptor]) {
        for interceptor in interceptors where isHere(flight) {
            if interceptor.apiManager(self, shouldSucceedWith: rawData) { continue }
            flight.note(CallDecision.vetoedSuccess)
            end(flight.id, as: .vetoed)
        }
        guard flights.removeValue(forKey: flight.id) != nil else { return }
        keep(rawData, of: endpoint, flight)
        delegate?.apiManagerDidSucceed(self)
        for interceptor in interceptors { interceptor.apiManagerDidSucceed(self) }
        flight.finish(.succeeded)
    }

    private func fail(_ flight: Flight, _ endpoint: E?, _ error: NetworkError, _ interceptors: [any Interceptor]) {
        let error = flight.locate(error)
        if error.isAbsorbed, case .service(let cause) = error.kind { return end(flight.id, as: .absorbed(cause)) }
        for interceptor in interceptors where isHere(flight) {
            if interceptor.apiManager(self, shouldFailWith: error) { continue }
            flight.note(CallDecision.vetoedFailure)
            end(flight.id, as: .vetoed)
        }
        guard flights.removeValue(forKey: flight.id) != nil else { return }
        self.error = error
        landed = endpoint.map { (flight.id, $0) }
        delegate?.apiManager(self, didFailWith: error)
        for interceptor in interceptors { interceptor.apiManager(self, didFailWith: error) }
        _ = flight.finish(failing: error)
    }

    /// Makes an answer the one that the manager holds.
    func keep(_ rawData: RawData, of endpoint: E, _ flight: Flight) {
        answer = (rawData, flight, endpoint)
        error = nil
        landed = (flight.id, endpoint)
    }

    /// Whether a call took off at all: one that failed before, for a bad parameter, has nothing to come back with.
    private func isComingBack(_ flight: Flight, with result: Result<RawData, NetworkError>) -> Bool {
        if case .success = result { true } else { flights[flight.id]?.phase == .flying }
    }

    /// Whether a call has neither landed nor been ended, by a hook for instance.
    private func isHere(_ flight: Flight) -> Bool { flights[flight.id] != nil }
}
