/// The hooks for the result of one call: the endpoint's hooks, which may veto the result, and the interceptors' hooks.
@MainActor
struct LandingHooks {
    /// The owner of the hook that vetoed a call or its result.
    enum Vetoer: String {
        case endpoint = "The endpoint"
        case interceptor = "An interceptor"
    }

    let interceptors: [any Interceptor]
    let call: InterceptedCall
    /// The manager that made the call; `nil` if the call has no manager.
    let manager: (any APIManaging)?

    /// Calls the hooks before a result is delivered.
    ///
    /// - Parameter isPending: Returns whether the result may still be delivered. A hook may have ended the call; then
    ///   no further hook is called. The default always returns `true`.
    func beforeLanding(_ result: Result<RawData, NetworkError>, while isPending: () -> Bool = { true }) {
        for interceptor in interceptors where isPending() {
            interceptor.beforeLanding(result, of: call, by: manager)
        }
    }

    /// Calls the hooks that may veto a result, until one vetoes it. Returns the owner of that hook, or `nil` if the
    /// result may be delivered.
    ///
    /// - Parameters:
    ///   - endpoint: The endpoint whose hook is called first; `nil` to call no endpoint's hook.
    ///   - isPending: See ``beforeLanding(_:while:)``.
    func vetoer(
        of result: Result<RawData, NetworkError>, _ endpoint: (any Endpoint)?, while isPending: () -> Bool = { true }
    ) -> Vetoer? {
        if let endpoint, !endpoint.allows(result) { return .endpoint }
        for interceptor in interceptors where isPending() {
            let isAllowed =
                switch result {
                case .success(let rawData): interceptor.beforeSuccess(rawData, of: call, by: manager)
                case .failure(let error): interceptor.beforeFailure(error, of: call, by: manager)
                }
            if !isAllowed { return .interceptor }
        }
        return nil
    }

    /// Calls the hooks after a result was delivered.
    ///
    /// - Parameter isPending: See ``beforeLanding(_:while:)``.
    func afterLanding(_ result: Result<RawData, NetworkError>, while isPending: () -> Bool = { true }) {
        for interceptor in interceptors where isPending() {
            switch result {
            case .success(let rawData): interceptor.afterSuccess(rawData, of: call, by: manager)
            case .failure(let error): interceptor.afterFailure(error, of: call, by: manager)
            }
        }
    }
}

extension Flight {
    /// Ends a call whose result was vetoed. Returns the error that the caller receives.
    func veto(_ result: Result<RawData, NetworkError>, by vetoer: LandingHooks.Vetoer) -> NetworkError {
        switch result {
        case .success: end(as: .vetoedSuccess, by: vetoer, "success", in: .landing)
        case .failure: end(as: .vetoedFailure, by: vetoer, "failure", in: .landing)
        }
    }

    /// Ends a call with the outcome ``FlightOutcome/vetoed``. Returns the error that the caller receives.
    func end(
        as decision: CallDecision, by vetoer: LandingHooks.Vetoer, _ what: String, in step: FlightStep
    ) -> NetworkError {
        note(decision, in: step)
        finish(.vetoed)
        return NetworkError(.cancelled, in: step, "\(vetoer.rawValue) vetoed the \(what).")
    }
}
