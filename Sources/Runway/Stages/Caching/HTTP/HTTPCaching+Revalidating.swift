import HTTPTypes

extension HTTPCaching {
    /// Fetches anew what was given stale, in a flight of its own that no caller waits for (RFC 5861 §3).
    ///
    /// It takes off only because a call came for the stale answer, and is one of the layer's ``BackgroundFlights``: where one flies for
    /// the same already, or there is no room, what is kept stays stale until the next call for it. It has the deadline and the record of
    /// a call of the same endpoint.
    func revalidate(
        _ request: Request, _ candidates: [StoredResponse], after flight: Flight, next: RequestPipeline.Rest
    ) {
        let cache = flight.layer.cache
        var whole = request
        if case .streamed = request.delivery {
            whole.delivery = .whole(maximumByteCount: cache.http.limits.maximumBodyByteCount)
        }
        guard let key = CacheKey(whole, in: flight) else { return }
        if cache.background.isFlying(key) { return flight.note(CacheDecision.leftToOthers) }
        let own = flight.makeSibling(flight.endpoint)
        // Who signed in or out since then is not to be asked for what the other was given.
        guard own.session == flight.session, own.environment == flight.environment else { return }
        let stage = StageChain.Link(place: .caching, stage: Revalidation(candidates: candidates))
        let rest = RequestPipeline.Rest(links: ([stage] + next.links)[...], transport: next.transport)
        let start = cache.background.start(key, flight: own.id) { [whole] in
            do throws(NetworkError) {
                let response = try await DeadlineStage().respond(to: whole, in: own, next: rest)
                own.setSource(response.source)
                if let refusal = response.refusal { throw refusal }
                own.finish(.succeeded)
            } catch {
                _ = own.finish(failing: error)
            }
        }
        if start == .started { return }
        flight.note(CacheDecision.leftToOthers)
        own.finish(.cancelled)
    }
}

/// Stands at the caching stage's place in a flight that fetches anew: nothing that is kept is given, but in the place of an error.
private struct Revalidation: RequestStage {
    let candidates: [StoredResponse]
    var step: FlightStep { HTTPCaching.step }
    var endsInTime: Bool { true }

    func respond(
        to request: Request, in flight: Flight, next: RequestPipeline.Rest
    ) async throws(NetworkError) -> Response {
        flight.note(HTTPCacheDecision.revalidating)
        return try await HTTPCaching().fetch(request, validating: candidates, in: flight, next: next)
    }
}

extension Flight {
    /// Another flight of the same endpoint, that takes off now.
    fileprivate func makeSibling<E: Endpoint>(_ endpoint: E.Type) -> Flight {
        layer.makeFlight(endpoint, options.ofTheLayer)
    }
}
