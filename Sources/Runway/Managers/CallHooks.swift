/// The hooks of the layer's interceptors around a call that no manager makes.
struct CallHooks: Sendable {
    private let registry: InterceptorRegistry
    private let flight: Flight

    /// The hooks of a call; `nil` if it has no interceptors.
    init?(_ registry: InterceptorRegistry, of flight: Flight) {
        if registry.all(of: flight.endpoint).isEmpty { return nil }
        self.registry = registry
        self.flight = flight
    }

    private var interceptors: [any Interceptor] { registry.all(of: flight.endpoint) }

    /// Prepares an endpoint and performs its call, with the hooks before and after both.
    ///
    /// - Parameters:
    ///   - endpoint: The endpoint as the caller passed it.
    ///   - hasLanding: Whether the result is for a caller, so that the hooks of the endpoint are called, too. The default is `true`.
    ///   - rawData: Returns the response as the hooks see it; `nil` if there is none, and then no hook of a success is called.
    ///   - perform: Makes the call of the endpoint as the hooks changed it.
    /// - Throws: What `perform` throws; ``NetworkError/Kind/cancelled`` if a hook vetoes the call or its result.
    func around<E: Endpoint, Value: Sendable>(
        _ endpoint: E, hasLanding: Bool = true, rawData: (Value) -> RawData?,
        perform: (E) async throws(NetworkError) -> Value
    ) async throws(NetworkError) -> Value {
        var call = InterceptedCall(flight: flight.id, endpoint: endpoint)
        var hasStarted = false
        var endpoint = endpoint
        let value: Value
        do throws(NetworkError) {
            endpoint = try await prepared(endpoint)
            call = InterceptedCall(flight: flight.id, endpoint: endpoint)
            await started(call)
            hasStarted = true
            value = try await perform(endpoint)
        } catch {
            throw try await fail(error, of: call, hasLanding ? endpoint : nil, hasStarted: hasStarted)
        }
        if let rawData = rawData(value) { try await succeed(rawData, of: call, hasLanding ? endpoint : nil) }
        return value
    }

    /// Completes an endpoint, lets the interceptors change it, and checks it.
    @MainActor
    private func prepared<E: Endpoint>(_ endpoint: E) throws(NetworkError) -> E {
        var endpoint = endpoint
        let isMade = try endpoint.prepare { (endpoint: inout E) throws(NetworkError) in
            try endpoint.intercept(interceptors, as: flight.id, by: nil)
        }
        guard isMade else {
            flight.note(CallDecision.vetoedBeforeCall, in: .preparing)
            throw flight.vetoed("An interceptor", "call", in: .preparing)
        }
        return endpoint
    }

    @MainActor
    private func started(_ call: InterceptedCall) {
        for interceptor in interceptors { interceptor.afterCall(call, by: nil) }
    }

    @MainActor
    private func succeed(
        _ rawData: RawData, of call: InterceptedCall, _ endpoint: (any Endpoint)?
    ) throws(NetworkError) {
        let interceptors = interceptors
        for interceptor in interceptors { interceptor.beforeLanding(.success(rawData), of: call, by: nil) }
        if let endpoint { try flight.checkVeto(of: endpoint, on: rawData) }
        for interceptor in interceptors where !interceptor.beforeSuccess(rawData, of: call, by: nil) {
            flight.note(CallDecision.vetoedSuccess)
            throw flight.vetoed("An interceptor", "success", in: .landing)
        }
        for interceptor in interceptors { interceptor.afterSuccess(rawData, of: call, by: nil) }
    }

    /// Returns the error that the call throws.
    @MainActor
    private func fail(
        _ cause: NetworkError, of call: InterceptedCall, _ endpoint: (any Endpoint)?, hasStarted: Bool
    ) throws(NetworkError) -> NetworkError {
        let error = flight.locate(cause)
        // A call that was cancelled, or vetoed, passes no further hook.
        if error.kind == .cancelled { return error }
        let interceptors = interceptors
        if hasStarted {
            for interceptor in interceptors { interceptor.beforeLanding(.failure(error), of: call, by: nil) }
        }
        if error.isAbsorbed || error.kind == .queued { return error }
        if let endpoint { try flight.checkVeto(of: endpoint, on: error) }
        for interceptor in interceptors where !interceptor.beforeFailure(error, of: call, by: nil) {
            flight.note(CallDecision.vetoedFailure)
            throw flight.vetoed("An interceptor", "failure", in: .landing)
        }
        for interceptor in interceptors { interceptor.afterFailure(error, of: call, by: nil) }
        return error
    }
}

extension NetworkLayer {
    /// Prepares an endpoint and performs its call, with the hooks of interceptors, if there are any, and of the endpoint.
    func intercepted<E: Endpoint, Value: Sendable>(
        _ endpoint: E, in flight: Flight, rawData: (Value) -> RawData,
        perform: (E) async throws(NetworkError) -> Value
    ) async throws(NetworkError) -> Value {
        if let hooks = CallHooks(interceptors, of: flight) {
            return try await hooks.around(endpoint, rawData: rawData, perform: perform)
        }
        var endpoint = endpoint
        let value: Value
        do throws(NetworkError) {
            endpoint = try prepared(endpoint)
            value = try await perform(endpoint)
        } catch {
            let error = flight.locate(error)
            if error.kind != .cancelled, error.kind != .queued, !error.isAbsorbed {
                try flight.checkVeto(of: endpoint, on: error)
            }
            throw error
        }
        try flight.checkVeto(of: endpoint, on: rawData(value))
        return value
    }
}

// The hooks of endpoints.
extension Flight {
    /// Returns whether the endpoint of a manager's call lets a result land, and records it if not.
    @MainActor
    func endpointAllows(_ landing: Landing) -> Bool {
        guard let endpoint = landing.endpoint else { return true }
        switch landing.result {
        case .success(let rawData):
            if endpoint.beforeSuccess(rawData) { return true }
            note(CallDecision.vetoedSuccess)
        case .failure(let error):
            if endpoint.beforeFailure(error) { return true }
            note(CallDecision.vetoedFailure)
        }
        return false
    }

    /// Ends the call as vetoed if its endpoint does not let a success land.
    fileprivate func checkVeto(of endpoint: some Endpoint, on rawData: RawData) throws(NetworkError) {
        if endpoint.beforeSuccess(rawData) { return }
        note(CallDecision.vetoedSuccess)
        throw vetoed("The endpoint", "success", in: .landing)
    }

    /// Ends the call as vetoed if its endpoint does not let a failure land.
    fileprivate func checkVeto(of endpoint: some Endpoint, on error: NetworkError) throws(NetworkError) {
        if endpoint.beforeFailure(error) { return }
        note(CallDecision.vetoedFailure)
        throw vetoed("The endpoint", "failure", in: .landing)
    }

    /// Ends the call as vetoed, and returns the error that its caller gets.
    fileprivate func vetoed(_ who: String, _ what: String, in step: FlightStep) -> NetworkError {
        finish(.vetoed)
        return NetworkError(.cancelled, in: step, "\(who) vetoed the \(what).")
    }
}

extension Endpoint {
    /// Completes the parameters, and checks them by the endpoint's own rules and then by those of `validator`.
    ///
    /// - Parameters:
    ///   - change: Lets interceptors change the completed parameters. Returns `false` if one vetoed the call, which is then not checked.
    ///   - validator: Throws if the parameters are invalid.
    /// - Returns: `false` if the call was vetoed.
    mutating func prepare(
        _ change: (inout Self) throws(NetworkError) -> Bool = { _ in true },
        validator: (Self) throws -> Void = { _ in }
    ) throws(NetworkError) -> Bool {
        do { try complete() } catch { throw .invalidParameters(in: .preparing, error) }
        guard try change(&self) else { return false }
        do {
            try validate()
            try validator(self)
        } catch {
            throw .invalidParameters(in: .validating, error)
        }
        return true
    }

    /// Lets interceptors change the parameters.
    ///
    /// - Returns: `false` if an interceptor vetoed the call.
    @MainActor
    mutating func intercept(
        _ interceptors: [any Interceptor], as flight: FlightID, by manager: (any APIManaging)?
    ) throws(NetworkError) -> Bool {
        if interceptors.isEmpty { return true }
        var candidate: any Endpoint = self
        for interceptor in interceptors {
            guard interceptor.beforeCall(to: &candidate, as: flight, by: manager) else { return false }
        }
        guard let changed = candidate as? Self else {
            throw NetworkError(
                .invalidParameters, in: .preparing,
                "An interceptor changed the \(Self.self) into a \(type(of: candidate)).")
        }
        self = changed
        return true
    }
}
