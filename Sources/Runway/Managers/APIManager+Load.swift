import struct Foundation.URL

extension APIManager {
    /// Makes a call, and returns before its result is delivered.
    ///
    /// The delegate is notified in a later turn of the main actor, never within this method. If the response is in
    /// memory, ``rawData`` contains it when this method returns.
    ///
    /// - Returns: The number of the call. If the call joins a call in flight, or is ignored because of a call in
    ///   flight, the result is the number of the call in flight; see ``OverlapPolicy``.
    @discardableResult
    public func load(_ endpoint: E, options: CallOptions = .standard) -> FlightID {
        start(endpoint, makeFlight(options))
    }

    /// Makes a call with the parameters that ``parameterSource`` supplies, and returns before its result is delivered.
    ///
    /// - Returns: The number of the call. If the call joins a call in flight, or is ignored because of a call in
    ///   flight, the result is the number of the call in flight; see ``OverlapPolicy``.
    @discardableResult
    public func load(options: CallOptions) -> FlightID {
        load(parameterSource?.endpoint(for: self), from: parameterSource, options)
    }

    /// Makes a call, waits until the delegate was notified of the result, and returns the response. For scripts and
    /// tests.
    ///
    /// ```swift
    /// let rawData = try await rentals.landing(of: RentalList(city: "上海"))
    /// ```
    ///
    /// - Parameters:
    ///   - endpoint: The call to make.
    ///   - options: Settings of this call that override those of its endpoint.
    /// - Throws: The errors of ``landing(of:)``.
    @discardableResult
    public func landing(of endpoint: E, options: CallOptions = .standard) async throws(NetworkError) -> RawData {
        try await landing(of: load(endpoint, options: options))
    }

    /// Makes a call for another manager. That manager makes its calls through this one and decides whose results are
    /// delivered.
    ///
    /// - Parameter decide: Called with the call's identity and number, after the hooks that may veto the call. Not
    ///   called if the call has failed by then. If `decide` returns `nil`, ``overlap`` decides.
    func load(
        _ endpoint: E, options: CallOptions, deciding decide: (CallIdentity?, FlightID) -> LandingMachine.Overlap?
    ) -> FlightID {
        start(endpoint, makeFlight(options), isCompared: true, deciding: decide)
    }

    /// Makes a call with the parameters that a source supplied.
    func load(_ supplied: (any Endpoint)?, from source: (any ParameterSource)?, _ options: CallOptions) -> FlightID {
        let flight = makeFlight(options)
        if let endpoint = supplied as? E { return start(endpoint, flight) }
        let found =
            supplied.map { "supplied a \(type(of: $0))" } ?? (source == nil ? "is missing" : "supplied nothing")
        let error = NetworkError(
            .invalidParameters, in: .preparing, "The manager's parameter source \(found); it needs a \(E.self).")
        refuse(flight, nil, error)
        return flight.id
    }

    /// - Parameter isCompared: Whether `decide` needs the identity of the call. If not, a call that finds its response
    ///   in memory has none, unless it is made beside another.
    private func start(
        _ endpoint: E, _ flight: Flight, isCompared: Bool = false,
        deciding decide: (CallIdentity?, FlightID) -> LandingMachine.Overlap? = { _, _ in nil }
    ) -> FlightID {
        flight.recorder.setEndpoint(endpoint)
        var endpoint = endpoint
        do throws(NetworkError) {
            try flight.checkResumption()
            var prepared = endpoint
            guard try prepare(&prepared, flight.id) else {
                flight.note(CallDecision.vetoedBeforeCall, in: .preparing)
                flight.finish(.vetoed)
                return flight.id
            }
            endpoint = prepared
            var draft = try network.draft(endpoint, in: flight)
            let file = destination(of: endpoint)
            let isCompared = isCompared || state.machine.inFlightCount > 0
            var identity = isCompared ? try identity(&draft, in: flight, writing: file) : nil
            switch decide(identity, flight.id) ?? state.machine.requested(identity) {
            case .start: break
            case .join(let running):
                if flight.bypassesCircuit { state.machine.flight(running)?.bypassCircuits() }
                flight.finish(.joined(running: running))
                return running
            case .ignore(let running):
                // The request is created even for a call that may be ignored. An invalid call then fails instead of
                // being ignored.
                _ = try draft.request(in: flight)
                flight.finish(.ignored(running: running))
                return running
            }
            let transfer = try transfer(of: endpoint, to: file, in: flight)
            // A download or upload is always sent, never looked up in the cache.
            let found =
                transfer == nil
                ? try lookUp(endpoint, &draft, flight) : .request(try draft.request(in: flight), stale: nil)
            if !isCompared, case .request = found { identity = try self.identity(&draft, in: flight, writing: file) }
            start(found, of: endpoint, as: identity, flight, transfer)
            let interceptors = interceptors
            if !interceptors.isEmpty {
                let call = InterceptedCall(flight, endpoint)
                for interceptor in interceptors where isPending(flight) {
                    interceptor.afterCall(call, by: publicManager)
                }
            }
        } catch {
            refuse(flight, endpoint, error)
        }
        return flight.id
    }

    /// Returns the identity of a call, by which another call may join it; `nil` if calls don't join.
    private func identity(
        _ draft: inout RequestDraft, in flight: Flight, writing file: URL?
    ) throws(NetworkError) -> CallIdentity? {
        guard overlap == .joinOrReplace, let content = draft.content else { return nil }
        // The body is read only once, so that a later call is compared with the content that this call sends.
        let body: RequestBody? = if case .raw = E.encoding { try draft.request(in: flight).body } else { nil }
        return CallIdentity(content, in: flight, sending: body, writing: file)
    }

    /// Passes the call to the endpoint, the interceptors and the validator. They may change the call.
    ///
    /// - Returns: `false` if an interceptor vetoed the call.
    private func prepare(_ endpoint: inout E, _ flight: FlightID) throws(NetworkError) -> Bool {
        try endpoint.prepare { (endpoint: inout E) throws(NetworkError) in
            let interceptors = interceptors
            return interceptors.isEmpty ? true : try endpoint.intercept(interceptors, as: flight, by: publicManager)
        } validator: {
            try validator?.apiManager(publicManager, validate: $0)
        }
    }

    /// Looks for a response in memory, and creates the request if one must be sent.
    private func lookUp(
        _ endpoint: E, _ draft: inout RequestDraft, _ flight: Flight
    ) throws(NetworkError) -> Found {
        guard let response = try network.acceptedImmediately(&draft, for: endpoint, in: flight) else {
            return .request(try draft.request(in: flight), stale: nil)
        }
        let request = response.isProvisional ? try draft.request(in: flight) : nil
        if let refusal = refusal(of: response.rawData) {
            guard flight.rejectCached(response.rawData.source) else {
                return .result(Landing(flight, draft.content?.endpoint, failing: refusal))
            }
            return .request(try draft.request(in: flight), stale: nil)
        }
        let landing = Landing(flight, draft.content?.endpoint ?? endpoint, response.rawData)
        return request.map { .request($0, stale: landing) } ?? .result(landing)
    }

    private func start(
        _ found: Found, of endpoint: E, as identity: CallIdentity?, _ flight: Flight, _ transfer: Transfer?
    ) {
        let replaced = state.update { machine in
            switch found {
            case .result(let landing): machine.startCompleted(landing)
            case .request(_, let stale): machine.startInFlight(flight, as: identity, holding: stale)
            }
        }
        close(replaced, for: flight)
        switch found {
        case .result(let landing): landLater(landing)
        case .request(let request, let stale):
            send(request, for: endpoint, flight, transfer)
            if let stale { Task { @MainActor [weak self] in self?.landStale(stale) } }
        }
    }

    private func send(_ request: Request, for endpoint: E, _ flight: Flight, _ transfer: Transfer?) {
        if transfer != nil {
            flight.forgoProvisional()
        } else if E.cache.mayLandTwice || flight.options.cache?.mayLandTwice ?? false {
            flight.setProvisionalLanding { [weak self, network] response, flight in
                guard let rawData = try? network.checked(response, for: endpoint, in: flight).rawData else { return }
                rawData.index()
                let landing = Landing(flight, endpoint, rawData)
                Task { @MainActor in self?.holdAndLandStale(landing) }
            }
        }
        let task = Task { @concurrent [weak self, network] in
            let landing: Landing
            do throws(NetworkError) {
                let rawData =
                    if let transfer { try await transfer(request) } else {
                        try await network.accept(request, for: endpoint, in: flight).rawData
                    }
                // The body is indexed here, once and off the main actor, however many reformers read it.
                rawData.index()
                landing = Landing(flight, endpoint, rawData)
            } catch {
                landing = Landing(flight, endpoint, failing: error)
            }
            await MainActor.run { [weak self] in
                // The manager is retained only during the delivery. A manager that was released before delivers
                // nothing.
                if let self { return land(landing) }
                if let change = landing.error?.queuedChange { network.changeReports.forget(change.id) }
                flight.finish(.cancelled)
            }
        }
        tasks.insert(task, for: flight.id)
    }

    /// Ends the calls that `newer` replaced, and prevents the resumption of failed calls that `newer` makes
    /// unnecessary.
    private func close(_ replaced: [Flight], for newer: Flight) {
        if overlap.replacesOlder { network.withdrawResumption(by: self) }
        if !replaced.isEmpty { newer.note(CallDecision.replacedRunning(replaced.count), in: .overlapping) }
        for flight in replaced { close(flight, as: .replaced) }
    }

    /// Fails a call that can't be made.
    private func refuse(_ flight: Flight, _ endpoint: (any Endpoint)?, _ error: NetworkError) {
        close(state.update { $0.refuse(flight) }, for: flight)
        landLater(Landing(flight, endpoint, failing: error))
    }

    /// Delivers an available result in a later turn of the main actor.
    private func landLater(_ landing: Landing) {
        // Each delivery has its own task, which carries the task-local values of the caller of `load` to the delegate.
        // The task need not be cancellable, since the result of a call that has ended is not delivered.
        Task { @MainActor [weak self] in
            if let self { land(landing) } else { landing.flight.finish(.cancelled) }
        }
    }
}

private enum Found {
    /// The result is available before `load` returns.
    case result(Landing)
    /// A request must be sent. If `stale` exists, it is delivered before the fresh response. The case is indirect
    /// because a request is large.
    indirect case request(Request, stale: Landing?)
}
