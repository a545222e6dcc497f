import HTTPTypes

// Calls that change resources which other calls read; see ``Endpoint/invalidates``.
extension Flight {
    /// Stores in the flight the invalidations that a checked endpoint declares.
    func readInvalidations<E: Endpoint>(of endpoint: E) {
        if E.method.isSafe { return }
        let invalidations = endpoint.invalidates
        if !invalidations.isEmpty { reading.setInvalidations(invalidations) }
    }

    /// Sends the request of a change, and performs its invalidations before its response lands.
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
            // A token was missing for another attempt: the error says nothing of the last one.
            let isUnsent = error.step == .authorizing
            let mayHaveTakenEffect =
                !isUnsent && (error.sending == .sent || mayHaveSent) && error.outlook.mayHaveTakenEffect
            let isUnclear = recorder.hasUnclearAttempt(includingLast: isUnsent)
            endChange(isCertain: false, mayHaveTakenEffect: mayHaveTakenEffect || isUnclear)
            throw error
        }
    }

    /// Performs the invalidations of a change whose call ends before its request: the call was cancelled, or its
    /// deadline passed.
    func leaveChange() {
        guard reading.isChanging else { return }
        if mayHaveSent { invalidate(isCertain: false) }
    }

    /// Whether a request of the call may have been sent. The request of a merged call is recorded with its envelope.
    private var mayHaveSent: Bool { recorder.attemptCount > 0 || mergePolicy != nil }

    private func endChange(isCertain: Bool, mayHaveTakenEffect: Bool) {
        reading.endChange()
        if mayHaveTakenEffect { invalidate(isCertain: isCertain) }
    }

    private func invalidate(isCertain: Bool) {
        let count = reading.invalidations.reduce(0) { $0 + remove($1) }
        note(CacheDecision.invalidated(count: count, isCertain: isCertain))
    }

    /// Removes the stored responses that an invalidation names. Returns the number of those that were in memory.
    private func remove(_ invalidation: CacheInvalidation) -> Int {
        switch invalidation.subject {
        case .service(let service): context.cache.remove(.service(service.name))
        case .endpoint(let endpoint): context.cache.remove(endpoint.cacheScope)
        case .call(let endpoint): remove(endpoint)
        }
    }

    private func remove<E: Endpoint>(_ endpoint: E) -> Int {
        var endpoint = endpoint
        // In the environment and for the account of the change, whatever they are by now.
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
    /// All responses of the endpoint.
    fileprivate static var cacheScope: CacheScope { .endpoint(name, service: Service.name) }
}
