extension APIManager {
    /// Lets a reformer make what a view shows from the answer that landed last, here and now, in the isolation of the caller.
    ///
    /// - Throws: One ``NetworkError`` of the step ``FlightStep/reforming``: what the reformer threw, or that nothing has landed. It is
    ///   on the record of the call.
    public func fetch<R: Reformer>(_ reformer: R) throws(NetworkError) -> R.Value {
        let (flight, endpoint, rawData) = try reformable()
        do {
            return try reformer.reform(rawData, from: endpoint)
        } catch {
            throw flight.reformingFailed(R.self, rawData, error)
        }
    }

    /// Lets a reformer make what a view shows from the answer that landed last, off the main actor.
    ///
    /// - Throws: One ``NetworkError`` of the step ``FlightStep/reforming``: what the reformer threw, or that nothing has landed. It is
    ///   on the record of the call.
    public func fetchConcurrently<R: Reformer & Sendable>(
        _ reformer: R
    ) async throws(NetworkError) -> R.Value where R.Value: Sendable {
        let (flight, endpoint, rawData) = try reformable()
        return try await Self.reform(reformer, rawData, endpoint, flight)
    }

    @concurrent
    private nonisolated static func reform<R: Reformer & Sendable>(
        _ reformer: R, _ rawData: RawData, _ endpoint: any Endpoint, _ flight: Flight
    ) async throws(NetworkError) -> R.Value where R.Value: Sendable {
        do {
            return try reformer.reform(rawData, from: endpoint)
        } catch {
            throw flight.reformingFailed(R.self, rawData, error)
        }
    }

    private func reformable() throws(NetworkError) -> (Flight, any Endpoint, RawData) {
        guard let answer = state.last.answer, let endpoint = answer.endpoint, let rawData = answer.rawData else {
            throw NetworkError(
                .invalidResponse, in: .reforming, "There is no answer of \(E.name) to reform: none has landed.")
        }
        return (answer.flight, endpoint, rawData)
    }
}

extension Flight {
    /// The error of a reformer, written into the record of the call.
    func reformingFailed<R>(_ reformer: R.Type, _ rawData: RawData, _ error: any Error) -> NetworkError {
        let located = locate(.invalidResponse(in: .reforming, rawData, error))
        // A view may ask again and again, and the answer does not change: what one reformer has to say is said once.
        let name = "\(reformer)"
        if !hasNoted({ if case CallDecision.reformingFailed(name, _) = $0 { true } else { false } }) {
            note(CallDecision.reformingFailed(reformer: name, detail: located.detail), in: .reforming)
            amend()
        }
        return located
    }
}
