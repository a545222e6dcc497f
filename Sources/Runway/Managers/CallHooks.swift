/// Runs the interceptors of a layer around a call that no manager makes.
struct CallHooks: Sendable {
    private let registry: InterceptorRegistry
    private let flight: Flight

    init?(_ registry: InterceptorRegistry, of flight: Flight) {
        if registry.all(of: flight.endpoint).isEmpty { return nil }
        self.registry = registry
        self.flight = flight
    }

    private var interceptors: [any Interceptor] { registry.all(of: flight.endpoint) }

    /// Prepares an endpoint and performs its call. Calls the hooks before and after both steps.
    ///
    /// - Parameters:
    ///   - endpoint: The endpoint as the caller passed it.
    ///   - hasLanding: Whether a caller receives the result, so that the endpoint's hooks are called, too. The default
    ///     is `true`.
    ///   - rawData: Returns the response that the hooks receive. If it returns `nil`, no hook for a success is called.
    ///   - perform: Makes the call with the endpoint as changed by the hooks.
    /// - Throws: The error of `perform`; ``NetworkError/Kind/cancelled`` if a hook vetoes the call or its result.
    func around<E: Endpoint, Value: Sendable>(
        _ endpoint: E, hasLanding: Bool = true, rawData: (Value) -> RawData?,
        perform: (E) async throws(NetworkError) -> Value
    ) async throws(NetworkError) -> Value {
        var call = InterceptedCall(flight, endpoint)
        var hasStarted = false
        var endpoint = endpoint
        let value: Value
        do throws(NetworkError) {
            endpoint = try await prepared(endpoint)
            call = InterceptedCall(flight, endpoint)
            await started(call)
            hasStarted = true
            value = try await perform(endpoint)
        } catch {
            throw try await fail(error, of: call, hasLanding ? endpoint : nil, hasStarted: hasStarted)
        }
        if let rawData = rawData(value) { try await succeed(rawData, of: call, hasLanding ? endpoint : nil) }
        return value
    }

    /// Completes an endpoint, passes it to the interceptors, and checks it.
    @MainActor
    private func prepared<E: Endpoint>(_ endpoint: E) throws(NetworkError) -> E {
        var endpoint = endpoint
        let isMade = try endpoint.prepare { (endpoint: inout E) throws(NetworkError) in
            try endpoint.intercept(interceptors, as: flight.id, by: nil)
        } validator: { _ in
        }
        guard isMade else {
            throw flight.end(as: .vetoedBeforeCall, by: .interceptor, "call", in: .preparing)
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
        let hooks = LandingHooks(interceptors: interceptors, call: call, manager: nil)
        hooks.beforeLanding(.success(rawData))
        try land(.success(rawData), endpoint, hooks)
    }

    /// Calls the hooks for a failure, and returns the error that the call throws.
    @MainActor
    private func fail(
        _ cause: NetworkError, of call: InterceptedCall, _ endpoint: (any Endpoint)?, hasStarted: Bool
    ) throws(NetworkError) -> NetworkError {
        let error = flight.locate(cause)
        // A call that was cancelled or vetoed calls no further hook.
        if error.kind == .cancelled { return error }
        let hooks = LandingHooks(interceptors: interceptors, call: call, manager: nil)
        if hasStarted { hooks.beforeLanding(.failure(error)) }
        if error.isAbsorbed || error.kind == .queued { return error }
        try land(.failure(error), endpoint, hooks)
        return error
    }

    /// Calls the hooks that may veto a result, and then the hooks after the result.
    @MainActor
    private func land(
        _ result: Result<RawData, NetworkError>, _ endpoint: (any Endpoint)?, _ hooks: LandingHooks
    ) throws(NetworkError) {
        if let vetoer = hooks.vetoer(of: result, endpoint) { throw flight.veto(result, by: vetoer) }
        hooks.afterLanding(result)
    }
}
