extension APIManager {
    /// Uses a reformer to convert the last delivered response into a value for a view. Runs in the caller's isolation.
    ///
    /// - Throws: A ``NetworkError`` of the step ``FlightStep/reforming`` if the reformer throws or no response was
    ///   delivered. The record of the call contains the error, too.
    public func fetch<R: Reformer>(_ reformer: R) throws(NetworkError) -> R.Value {
        let (flight, endpoint, rawData) = try reformable()
        do {
            return try reformer.reform(rawData, from: endpoint)
        } catch {
            throw flight.reformingFailed(R.self, rawData, error)
        }
    }

    /// Uses a reformer to convert the body of the response that made the last call fail; see
    /// ``APIManaging/fetchFailure(_:)``.
    public func fetchFailure<R: Reformer>(_ reformer: R) throws(NetworkError) -> R.Value {
        try state.last.landed.reformFailure(of: E.self, reformer)
    }

    /// Uses a reformer to convert the last delivered response into a value for a view. Runs off the main actor.
    ///
    /// - Throws: A ``NetworkError`` of the step ``FlightStep/reforming`` if the reformer throws or no response was
    ///   delivered. The record of the call contains the error, too.
    public func fetchConcurrently<R: Reformer & Sendable>(
        _ reformer: R
    ) async throws(NetworkError) -> R.Value where R.Value: Sendable {
        let (flight, endpoint, rawData) = try reformable()
        return try await flight.reform(rawData, of: endpoint, with: reformer)
    }

    private func reformable() throws(NetworkError) -> (Flight, any Endpoint, RawData) {
        guard let landing = state.last.response, let endpoint = landing.endpoint, let rawData = landing.rawData else {
            throw NetworkError(
                .invalidResponse, in: .reforming, "There is no response of \(E.name) to reform: none has landed.")
        }
        return (landing.flight, endpoint, rawData)
    }
}

extension Landing? {
    /// Uses a reformer to convert the response that reports the failure.
    func reformFailure<R: Reformer>(of endpoint: any Endpoint.Type, _ reformer: R) throws(NetworkError) -> R.Value {
        guard let landing = self, let rawData = landing.error?.rawData, let parameters = landing.endpoint else {
            throw NetworkError(
                .invalidResponse, in: .reforming,
                "There is no refused response of \(endpoint.name) to reform: the last call "
                    + (self?.error == nil ? "has not failed." : "failed without a response."))
        }
        do {
            return try reformer.reform(rawData, from: parameters)
        } catch {
            throw landing.flight.reformingFailed(R.self, rawData, error)
        }
    }
}

extension Flight {
    /// Uses a reformer to convert a response, off the caller's actor.
    @concurrent func reform<R: Reformer & Sendable>(
        _ rawData: RawData, of endpoint: any Endpoint, with reformer: R
    ) async throws(NetworkError) -> R.Value where R.Value: Sendable {
        do {
            return try reformer.reform(rawData, from: endpoint)
        } catch {
            throw reformingFailed(R.self, rawData, error)
        }
    }

    /// Returns the error of a reformer, and adds it to the record of the call.
    func reformingFailed<R>(_ reformer: R.Type, _ rawData: RawData, _ error: any Error) -> NetworkError {
        let located = locate(.invalidResponse(in: .reforming, rawData, error))
        // A view may convert the same response repeatedly. The error of each reformer is recorded only once.
        let name = "\(reformer)"
        if !recorder.hasNoted({ if case CallDecision.reformingFailed(name, _) = $0 { true } else { false } }) {
            note(CallDecision.reformingFailed(reformer: name, detail: located.detail), in: .reforming)
            amend()
        }
        return located
    }
}
