extension NetworkLayer {
    /// Repeats the calls of a service's managers that failed because the network was lost, the user had to log in, or a
    /// new token was refused. Each manager repeats its calls with their parameters and options.
    ///
    /// ```swift
    /// for await status in network.statuses where status.isReachable { network.resumeCalls(of: Listings.self) }
    /// ```
    ///
    /// A call that failed because the network was lost is resumed only if it is safe to send the request again. This is
    /// so in four cases:
    ///
    /// - The method of the call is idempotent (RFC 9110 §9.2.2).
    /// - No part of the request was sent (``NetworkError/sending``).
    /// - The policy of the call sets ``RetryPolicy/isRepeatable``.
    /// - The call is an upload that the new call continues (``UploadResumption``). Such an upload is never sent a
    ///   second time: if its stored state is missing, in use, or of another request, the call fails as
    ///   ``NetworkError/Kind/storage``.
    ///
    /// An `Idempotency-Key` does not make a call resumable, because the new call has its own key
    /// (``Endpoint/sendsIdempotencyKey``). To send a change again under the same key, store it (``OfflinePolicy``). A
    /// change that failed because a login or a token was missing is not resumed if one of its attempts may have taken
    /// effect.
    ///
    /// A call can be resumed for 10 minutes after its failure; at most 100 calls of one layer can be resumed. A call
    /// can no longer be resumed if its manager was released, has cancelled or cleared its calls, or has made another
    /// call under an ``OverlapPolicy`` that replaces calls. Calls without a manager, such as those of
    /// ``call(_:options:)``, can't be resumed, because they have thrown their error to the caller.
    ///
    /// A resumed call is a new call with its own number and record. Its parameters are completed, intercepted and
    /// checked again. It is never sent for another account: if another account has signed in, the call fails as
    /// ``NetworkError/Kind/loginCancelled``. A call that needs a login waits for the user to sign in.
    ///
    /// - Returns: The numbers of the new calls.
    @MainActor @discardableResult
    public func resumeCalls<Service: APIService>(of service: Service.Type) -> [FlightID] {
        let isSignedIn = settings(of: service).account != nil
        return resume { $0.owner.service == service && (isSignedIn || $0.cause != .needsLogin) }
    }

    /// Repeats the calls that failed because an account's login or token was missing. If calls in `flights` later fail
    /// for this reason, they are repeated as soon as they fail.
    @MainActor
    func resumeCalls(of owner: TokenIdentity, awaiting flights: [FlightID]) -> [FlightID] {
        func account<Service: APIService>(of service: Service.Type) -> String? { settings(of: service).account }
        if account(of: owner.service) == nil { return [] }
        // A login does not help calls that failed because the network was lost.
        return resume(awaiting: flights) { $0.owner == owner && $0.cause != .noNetwork }
    }

    @MainActor
    private func resume(
        awaiting flights: [FlightID] = [], where predicate: (ResumableCalls.Call) -> Bool
    ) -> [FlightID] {
        // A repeated call replaces the other calls of its manager. All calls are therefore removed from the list before
        // the first is repeated.
        let calls = resumable.take(awaiting: flights, at: clock.now, where: predicate)
        return calls.compactMap { $0.manager.manager == nil ? nil : $0.load() }
    }

    /// Stores how a failed call can be repeated, if its error may be temporary and it is safe to make the call twice.
    ///
    /// - Parameters:
    ///   - flight: The call.
    ///   - error: The error of the call.
    ///   - manager: The app's manager that made the call.
    ///   - options: The options that the manager received.
    ///   - load: Makes the call again with these options.
    /// - Returns: A function that repeats the call, if the app has already resumed it; otherwise `nil`.
    @MainActor
    func offerResumption(
        of flight: Flight, after error: NetworkError, by manager: any APIManaging, _ options: CallOptions,
        _ load: @escaping @MainActor (CallOptions) -> FlightID?
    ) -> (@MainActor () -> FlightID?)? {
        guard let resumption = flight.resumption(after: error) else { return nil }
        let owner = TokenIdentity(flight)
        var options = options
        options.resumption = resumption
        let call = ResumableCalls.Call(
            flight: flight.id, owner: owner, cause: error.kind, manager: WeakManager(manager: manager)
        ) { [options] in load(options) }
        return resumable.add(call, at: clock.now) ? call.load : nil
    }

    /// Prevents a call of a manager, or all of its calls, from being resumed.
    @MainActor
    func withdrawResumption(of flight: FlightID? = nil, by manager: any APIManaging) {
        if resumable.count > 0 { resumable.remove(flight, of: manager) }
    }
}

extension Flight {
    /// Describes how the call may be repeated as a new call after an error, or returns `nil` if it may not be repeated.
    fileprivate func resumption(after error: NetworkError) -> Resumption? {
        // The rule is the same as for a retry, except that the call's `Idempotency-Key` can't be used again: hooks may
        // change what the new call sends.
        var mayBeRepeated = endpoint.method.isIdempotent || retryPolicy.isRepeatable
        switch error.kind {
        case .noNetwork: mayBeRepeated = mayBeRepeated || error.sending == .notSent
        // The call lacks a login. If the server received the last request, it refused that request, so the call may be
        // repeated.
        case _ where error.outlook.obstacle == .login:
            mayBeRepeated = mayBeRepeated || !recorder.hasUnclearAttempt(includingLast: true)
        default: return nil
        }
        guard mayBeRepeated || isContinuedByNext else { return nil }
        // Even if this call sent nothing, the upload that it continues may have been sent completely.
        let mustContinue = !mayBeRepeated || options.resumption?.mustContinue == true
        return Resumption(flight: id, account: account, environment: environment, mustContinue: mustContinue)
    }
}
