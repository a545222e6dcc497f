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
    ///   - rawData: Returns the response as the hooks see it.
    ///   - perform: Makes the call of the endpoint as the hooks changed it.
    /// - Throws: What `perform` throws; ``NetworkError/Kind/cancelled`` if a hook vetoes the call or its result.
    func around<E: Endpoint, Value: Sendable>(
        _ endpoint: E, rawData: (Value) -> RawData, perform: (E) async throws(NetworkError) -> Value
    ) async throws(NetworkError) -> Value {
        var call = InterceptedCall(flight: flight.id, endpoint: endpoint)
        var hasStarted = false
        let value: Value
        do throws(NetworkError) {
            let prepared = try await prepared(endpoint)
            call = InterceptedCall(flight: flight.id, endpoint: prepared)
            await started(call)
            hasStarted = true
            value = try await perform(prepared)
        } catch {
            throw try await fail(error, of: call, hasStarted: hasStarted)
        }
        try await succeed(rawData(value), of: call)
        return value
    }

    /// Completes an endpoint, lets the interceptors change it, and checks it.
    @MainActor
    private func prepared<E: Endpoint>(_ endpoint: E) throws(NetworkError) -> E {
        var endpoint = endpoint
        guard try endpoint.complete(interceptors, as: flight.id, by: nil) else {
            flight.note(CallDecision.vetoedBeforeCall, in: .preparing)
            throw vetoed("call", in: .preparing)
        }
        do { try endpoint.validate() } catch { throw .invalidParameters(in: .validating, error) }
        return endpoint
    }

    @MainActor
    private func started(_ call: InterceptedCall) {
        for interceptor in interceptors { interceptor.afterCall(call, by: nil) }
    }

    @MainActor
    private func succeed(_ rawData: RawData, of call: InterceptedCall) throws(NetworkError) {
        let interceptors = interceptors
        for interceptor in interceptors { interceptor.beforeLanding(.success(rawData), of: call, by: nil) }
        for interceptor in interceptors where !interceptor.beforeSuccess(rawData, of: call, by: nil) {
            flight.note(CallDecision.vetoedSuccess)
            throw vetoed("success", in: .landing)
        }
        for interceptor in interceptors { interceptor.afterSuccess(rawData, of: call, by: nil) }
    }

    /// Returns the error that the call throws.
    @MainActor
    private func fail(
        _ cause: NetworkError, of call: InterceptedCall, hasStarted: Bool
    ) throws(NetworkError) -> NetworkError {
        let error = flight.locate(cause)
        // A call that was cancelled, or vetoed, passes no further hook.
        if error.kind == .cancelled { return error }
        let interceptors = interceptors
        if hasStarted {
            for interceptor in interceptors { interceptor.beforeLanding(.failure(error), of: call, by: nil) }
        }
        if error.isAbsorbed || error.kind == .queued { return error }
        for interceptor in interceptors where !interceptor.beforeFailure(error, of: call, by: nil) {
            flight.note(CallDecision.vetoedFailure)
            throw vetoed("failure", in: .landing)
        }
        for interceptor in interceptors { interceptor.afterFailure(error, of: call, by: nil) }
        return error
    }

    /// Ends the call as vetoed, and returns the error that its caller gets.
    private func vetoed(_ what: String, in step: FlightStep) -> NetworkError {
        flight.finish(.vetoed)
        return NetworkError(.cancelled, in: step, "An interceptor vetoed the \(what).")
    }
}

extension NetworkLayer {
    /// Prepares an endpoint and performs its call, with the hooks of interceptors if there are any.
    func intercepted<E: Endpoint, Value: Sendable>(
        _ endpoint: E, in flight: Flight, rawData: (Value) -> RawData,
        perform: (E) async throws(NetworkError) -> Value
    ) async throws(NetworkError) -> Value {
        guard let hooks = CallHooks(interceptors, of: flight) else { return try await perform(prepared(endpoint)) }
        return try await hooks.around(endpoint, rawData: rawData, perform: perform)
    }
}

extension Endpoint {
    /// Completes the parameters, and lets interceptors change them.
    ///
    /// - Returns: `false` if an interceptor vetoed the call.
    @MainActor
    mutating func complete(
        _ interceptors: [any Interceptor], as flight: FlightID, by manager: (any APIManaging)?
    ) throws(NetworkError) -> Bool {
        do { try complete() } catch { throw .invalidParameters(in: .preparing, error) }
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
