import HTTPTypes

extension HTTPReading {
    /// Revalidates a stale response that a call received, in a separate call that no caller waits for (RFC 5861 §3).
    ///
    /// The new call is one of the ``BackgroundFlights``. If one is in flight for the same key, or if there are too
    /// many, the response stays stale until the next call. The new call has the deadline and the record of a call of
    /// the same endpoint.
    func revalidate(_ fetch: Fetch, _ reads: SharedReads) {
        let (flight, next) = (reads.flight, reads.next)
        var request = fetch.request
        if case .streamed = request.delivery {
            request.delivery = .whole(maximumByteCount: cache.limits.maximumHTTPBodyByteCount)
        }
        // Requests that match the same stored responses share one revalidation.
        var selecting = request
        selecting.head.headerFields = HTTPFields(
            request.head.headerFields.filter { field in
                flight.isAuthenticating(field.name) || fetch.candidates.contains { $0.vary.names(field.name) }
            })
        guard let key = CacheKey(selecting, in: flight) else { return }
        let stage = Revalidation(cache: cache, admission: reads.admission, candidates: fetch.candidates)
        let rest = RequestPipeline.Rest(first: StageLink(stage, above: next.first), end: next.end)
        flight.startRevalidation(of: key) {
            flight.makeSibling(flight.endpoint)
        } work: { [request] own in
            do throws(NetworkError) {
                let response = try await rest.sendWithinDeadline(request, in: own)
                own.recorder.setSource(response.source)
                if let refusal = response.refusal { throw refusal }
                own.finish(.succeeded)
            } catch {
                _ = own.finish(failing: error)
            }
        }
    }
}

/// Replaces the reading stage in a call that only revalidates. It uses a stored response only in place of an error.
private struct Revalidation: RequestStage {
    let cache: ResponseCache
    let admission: AdmissionControl
    let candidates: [HTTPStoredResponse]
    var step: FlightStep { .reading }
    var endsInTime: Bool { true }

    func respond(
        to request: Request, in flight: Flight, next: RequestPipeline.Rest
    ) async throws(NetworkError) -> Response {
        let fetch = HTTPReading.Fetch(request, validating: candidates, decision: .revalidating)
        let reads = SharedReads(cache: cache, admission: admission, flight: flight, next: next)
        guard let response = try await HTTPReading(cache).fetch(fetch, reads) else {
            preconditionFailure("a request without a lookup does not depend on the cache")
        }
        return response
    }
}

extension Flight {
    /// Creates a new call of the same endpoint. The call starts now.
    fileprivate func makeSibling<E: Endpoint>(_ endpoint: E.Type) -> Flight {
        context.makeFlight(endpoint, options.forBackgroundFlight, retainedLayer: retainedLayer)
    }
}
