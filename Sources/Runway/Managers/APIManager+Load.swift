extension APIManager {
    /// Makes a call.
    ///
    /// The delegate is told in a later turn of the main actor, never from inside this method. What memory already holds is in
    /// ``rawData`` when it returns.
    ///
    /// - Returns: The number of the call; with ``OverlapPolicy/ignoreNew``, the number of the call that flies already.
    @discardableResult
    public func load(_ endpoint: E, options: CallOptions = .standard) -> FlightID {
        let flight = network.makeFlight(E.self, options)
        flight.setManager(owner ?? self)
        return launch(endpoint, flight)
    }

    /// Makes a call with the parameters that ``parameterSource`` gives.
    ///
    /// - Returns: The number of the call; with ``OverlapPolicy/ignoreNew``, the number of the call that flies already.
    @discardableResult
    public func load(options: CallOptions) -> FlightID {
        load(given: parameterSource?.endpoint(for: self), by: parameterSource, options)
    }

    /// Makes a call with what a parameter source gave.
    func load(given: (any Endpoint)?, by source: (any ParameterSource)?, _ options: CallOptions) -> FlightID {
        let flight = network.makeFlight(E.self, options)
        flight.setManager(owner ?? self)
        if let endpoint = given as? E { return launch(endpoint, flight) }
        let found = given.map { "gave a \(type(of: $0))" } ?? (source == nil ? "is missing" : "gave nothing")
        let error = NetworkError(
            .invalidParameters, in: .preparing, "The manager's parameter source \(found); it needs a \(E.self).")
        deliver(.failure(error), of: nil, flight)
        return flight.id
    }

    private func launch(_ endpoint: E, _ flight: Flight) -> FlightID {
        flight.setGiven(endpoint)
        var endpoint = endpoint
        do throws(NetworkError) {
            guard let prepared = try prepare(endpoint, flight.id) else {
                flight.note(CallDecision.vetoedBeforeCall, in: .preparing)
                flight.finish(.vetoed)
                return flight.id
            }
            endpoint = prepared
            var draft = try network.draft(endpoint, in: flight)
            // Before the overlap is settled, so that a call that can't be made takes nobody's place.
            if let running = ignoring {
                _ = try draft.request(in: flight)
                flight.finish(.ignored(running: running))
                return running
            }
            // So that one that fails at once takes nobody's place either.
            let answer = try network.acceptedImmediately(&draft, for: endpoint, in: flight)
            if answer?.isProvisional ?? true { _ = try draft.request(in: flight) }
            replaceRunning(by: flight)
            if let answer {
                try land(answer, to: &draft, of: endpoint, flight)
            } else {
                fly(try draft.request(in: flight), for: endpoint, flight)
            }
            let call = ManagerCall(flight: flight.id, endpoint: endpoint)
            for interceptor in interceptors where isHere(flight) { interceptor.apiManager(self, didTakeOff: call) }
        } catch {
            deliver(.failure(error), of: endpoint, flight)
        }
        return flight.id
    }

    /// Lets the endpoint, the interceptors and the validator see the call; `nil` where an interceptor does not let it take off.
    private func prepare(_ endpoint: E, _ flight: FlightID) throws(NetworkError) -> E? {
        var endpoint = endpoint
        do { try endpoint.complete() } catch { throw .invalidParameters(in: .preparing, error) }
        let interceptors = interceptors
        if !interceptors.isEmpty {
            var candidate: any Endpoint = endpoint
            for interceptor in interceptors {
                guard interceptor.apiManager(self, shouldCall: &candidate, as: flight) else { return nil }
            }
            guard let changed = candidate as? E else {
                throw NetworkError(
                    .invalidParameters, in: .preparing,
                    "An interceptor changed the \(E.self) into a \(type(of: candidate)).")
            }
            endpoint = changed
        }
        do {
            try endpoint.validate()
            try validator?.apiManager(self, validate: endpoint)
        } catch {
            throw .invalidParameters(in: .validating, error)
        }
        return endpoint
    }

    /// The call that flies already, where the overlap policy has a new one ignored.
    private var ignoring: FlightID? {
        guard overlap == .ignoreNew, !state.flights.isEmpty else { return nil }
        return state.flights.filter { $0.value.phase == .flying }.keys.min()
    }

    /// Ends the calls that have not landed, where the overlap policy has a new one take their place.
    private func replaceRunning(by flight: Flight) {
        guard overlap == .cancelRunning, !state.flights.isEmpty else { return }
        flight.note(CallDecision.replacedRunning(state.flights.count), in: .overlapping)
        for id in state.flights.keys.sorted() { end(id, as: .replaced) }
    }

    /// Holds an answer that was there at once, and has the delegate told in the next turn. A provisional one flies on.
    private func land(
        _ answer: AcceptedAnswer, to draft: inout RequestDraft, of endpoint: E, _ flight: Flight
    ) throws(NetworkError) {
        if let refusal = refusal(of: answer.rawData) {
            if flight.rejectCached(answer.rawData.source) {
                return fly(try draft.request(in: flight), for: endpoint, flight)
            }
            return deliver(.failure(refusal), of: draft.endpoint, flight, .answered)
        }
        let landing = Landing(flight, draft.endpoint, answer.rawData)
        state.hold(landing)
        guard answer.isProvisional else {
            return deliver(.success(answer.rawData), of: draft.endpoint, flight, .answered)
        }
        fly(try draft.request(in: flight), for: endpoint, flight, provisional: .untold)
        Task { @MainActor [weak self] in self?.tellProvisionally(landing) }
    }

    private func fly(
        _ request: Request, for endpoint: E, _ flight: Flight, provisional: RunningFlight.Provisional = .absent
    ) {
        state.add(RunningFlight(flight: flight, phase: .flying, provisional: provisional))
        if E.cache.mayLandTwice || flight.options.cache?.mayLandTwice ?? false {
            flight.setProvisionalLanding { [weak self, network] response, flight in
                guard let rawData = try? network.checked(response, for: endpoint, in: flight) else { return }
                rawData.index()
                Task { @MainActor in self?.landProvisionally(rawData, of: endpoint, flight) }
            }
        }
        let task = Task { @concurrent [weak self, network] in
            let result: Result<RawData, NetworkError>
            do throws(NetworkError) {
                let rawData = try await network.accept(request, for: endpoint, in: flight).rawData
                // Here, off the main actor, and once, however many reformers read it.
                rawData.index()
                result = .success(rawData)
            } catch {
                result = .failure(error)
            }
            await MainActor.run { [weak self] in
                // Asked for here, in the turn in which it lands, and not before: a manager that went away lands nothing.
                if let self { land(result, of: endpoint, flight) } else { flight.finish(.cancelled) }
            }
        }
        box.insert(task, for: flight.id)
    }

    /// Lands what is known already, an answer or why there is none, in the next turn of the main actor.
    private func deliver(
        _ result: Result<RawData, NetworkError>, of endpoint: (any Endpoint)?, _ flight: Flight,
        _ phase: RunningFlight.Phase = .grounded
    ) {
        state.add(RunningFlight(flight: flight, phase: phase))
        // Not in the box: nothing of it can be cancelled but the landing, which looks for the call.
        Task { @MainActor [weak self] in
            if let self { land(result, of: endpoint, flight) } else { flight.finish(.cancelled) }
        }
    }
}
