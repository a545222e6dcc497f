import HTTPTypes

// Calls that change data which other calls read; see ``Endpoint/invalidates``.
extension Flight {
    /// Stores the responses that a checked endpoint invalidates in the state of the call, which has an unsafe method.
    func readInvalidations(of endpoint: some Endpoint) {
        let invalidations = endpoint.invalidates
        if !invalidations.isEmpty { reading.setInvalidations(invalidations) }
    }

    /// Sends the request of a call that changes data. Performs the call's invalidations before the response is
    /// delivered.
    func sendingChange(
        _ send: () async throws(NetworkError) -> Response
    ) async throws(NetworkError) -> Response {
        reading.beginChange()
        do throws(NetworkError) {
            let response = try await send()
            let isCertain = response.refusal == nil || !response.hops.isEmpty
            let mayHaveTakenEffect = isCertain || response.refusal?.outlook.mayHaveTakenEffect ?? true
            let isUnclear = recorder.hasUnclearAttempt(includingLast: false)
            endChange(isCertain: isCertain, mayHaveTakenEffect: mayHaveTakenEffect || isUnclear)
            return response
        } catch {
            // A further attempt lacked a token. This error says nothing about the last attempt that was sent.
            let isUnsent = error.step == .authorizing
            let mayHaveTakenEffect =
                !isUnsent && (error.sending == .sent || mayHaveSent) && error.outlook.mayHaveTakenEffect
            let isUnclear = recorder.hasUnclearAttempt(includingLast: isUnsent)
            endChange(isCertain: false, mayHaveTakenEffect: mayHaveTakenEffect || isUnclear)
            throw error
        }
    }

    /// Performs the invalidations of a call that changes data. Used if the call is cancelled or times out before its
    /// request has ended.
    func leaveChange() {
        guard reading.isChanging else { return }
        if mayHaveSent { invalidate(isCertain: false) }
    }

    /// Whether a request of the call may have been sent. If requests are merged, the call's own record does not show
    /// whether they were sent.
    private var mayHaveSent: Bool { recorder.attemptCount > 0 || mergePolicy != nil }

    private func endChange(isCertain: Bool, mayHaveTakenEffect: Bool) {
        // In this order: a call that times out at this moment must not return before the responses are removed.
        if mayHaveTakenEffect { invalidate(isCertain: isCertain) }
        reading.endChange()
    }

    private func invalidate(isCertain: Bool) {
        let count = reading.invalidations.reduce(0) { $0 + remove($1) }
        note(CacheDecision.invalidated(count: count, isCertain: isCertain))
    }

    /// Removes the stored responses that an invalidation names. Returns the number of responses removed from memory.
    private func remove(_ invalidation: CacheInvalidation) -> Int {
        switch invalidation.subject {
        case .service(let service): context.cache.remove(.service(service.name))
        case .endpoint(let endpoint): context.cache.remove(endpoint.cacheScope)
        case .call(let endpoint): remove(endpoint)
        }
    }

    private func remove<E: Endpoint>(_ endpoint: E) -> Int {
        var endpoint = endpoint
        // The environment and account of the call are used. They may differ from the current ones of the service.
        let configuration =
            E.Service.self == service ? configuration : context.services.configuration(of: E.Service.self)
        do {
            try endpoint.complete()
            let (key, target) = try context.cacheKey(of: endpoint, with: configuration, retainedLayer: retainedLayer)
            return context.cache.remove(key, of: target)
        } catch {
            return context.cache.remove(E.cacheScope)
        }
    }
}

extension Endpoint {
    fileprivate static var cacheScope: CacheScope { .endpoint(name, service: Service.name) }
}
