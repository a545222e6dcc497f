extension APIManager {
    /// Lands a stale answer that was found off the main actor, while its call flies on.
    func landProvisionally(_ rawData: RawData, of endpoint: E, _ flight: Flight) {
        guard case .absent = flights[flight.id]?.provisional else { return }
        if refusal(of: rawData) != nil {
            _ = flight.letGoOfGiven(rawData.source)
            return
        }
        untold.append((flight.id, holding))
        keep(rawData, of: endpoint, flight)
        flights[flight.id]?.provisional = .untold
        tellProvisionally(rawData, of: endpoint, flight)
    }

    /// Tells of the stale answer that the manager holds while its call flies on, unless the call was ended or a hook ends it.
    ///
    /// It passes the hooks of a success. A veto takes back the stale answer alone; the fresh one may still land.
    func tellProvisionally(_ rawData: RawData, of endpoint: E, _ flight: Flight) {
        let interceptors = interceptors
        for interceptor in interceptors where isUntold(flight) {
            interceptor.apiManager(self, didReceive: .success(rawData))
        }
        for interceptor in interceptors where isUntold(flight) {
            if interceptor.apiManager(self, shouldSucceedWith: rawData) { continue }
            flight.note(CallDecision.vetoedProvisional)
            flights[flight.id]?.provisional = .absent
            goBack(from: flight.id)
        }
        guard isUntold(flight) else { return }
        flights[flight.id]?.provisional = .told
        keep(rawData, of: endpoint, flight)
        untold.removeAll { $0.flight == flight.id }
        delegate?.apiManagerDidSucceed(self)
        for interceptor in interceptors { interceptor.apiManagerDidSucceed(self) }
    }

    /// Gives the manager back what it held before an answer that nobody will be told of. Without such an answer it changes nothing.
    func goBack(from id: FlightID) {
        guard let index = untold.firstIndex(where: { $0.flight == id }) else { return }
        let before = untold.remove(at: index).before
        // Who was held after it goes back further now.
        for later in untold.indices[index...] { untold[later].before.goBack(from: id, to: before) }
        if answer?.flight.id == id { answer = before.answer }
        if landed?.flight == id { (landed, error) = (before.landed, before.error) }
    }

    private func isUntold(_ flight: Flight) -> Bool {
        if case .untold = flights[flight.id]?.provisional { true } else { false }
    }
}

extension APIManager.Holding {
    /// Forgets a call's answer and landing in favour of what was held before it.
    fileprivate mutating func goBack(from id: FlightID, to before: Self) {
        if answer?.flight.id == id { answer = before.answer }
        if landed?.flight == id { (landed, error) = (before.landed, before.error) }
    }
}
