import HTTPTypes

/// Responds from the cache, stores responses, and shares one request among identical reads in flight. A call that
/// changes data performs its endpoint's invalidations before its response is delivered.
///
/// A fresh response in memory is returned immediately, without a wait. Under a time to live or until evicted, a
/// response is stored only after the service, the endpoint and the manager's validator have accepted it. Under
/// ``CachePolicy/http(onDisk:)`` the server decides what is stored. ``SharedReads`` defines which reads share a
/// request. A streamed body is copied while it is read if HTTP allows storing it. All other bodies are passed on
/// unchanged.
struct ReadingStage: RequestStage {
    let cache: ResponseCache
    let admission: AdmissionControl

    init(_ cache: ResponseCache, _ admission: AdmissionControl) {
        self.cache = cache
        self.admission = admission
    }

    var step: FlightStep { .reading }
    /// `true`: the stage's own waits end at the deadline and when the task is cancelled.
    var endsInTime: Bool { true }

    func detaches(_ request: Request, in flight: Flight) -> Bool { ReadKey.isSharable(request, in: flight) }

    func respondImmediately(_ draft: inout RequestDraft, in flight: Flight) throws(NetworkError) -> ImmediateResponse {
        let policy = flight.cachePolicy
        switch policy.rule {
        case .none:
            if flight.options.cacheUse == .onlyIfCached { throw .notCached }
            return .pass
        case .timeToLive, .untilEvicted:
            return try TimeToLiveReading(cache, policy).respondImmediately(draft.key(in: flight), in: flight)
        case .http: return try HTTPReading(cache).respondImmediately(draft.request(in: flight), in: flight)
        }
    }

    func respond(
        to request: Request, in flight: Flight, next: RequestPipeline.Rest
    ) async throws(NetworkError) -> Response {
        guard flight.reading.invalidates else { return try await read(request, in: flight, next: next) }
        return try await flight.sendingChange { () async throws(NetworkError) in
            try await read(request, in: flight, next: next)
        }
    }

    private func read(
        _ request: Request, in flight: Flight, next: RequestPipeline.Rest
    ) async throws(NetworkError) -> Response {
        let (policy, method) = (flight.cachePolicy, request.head.method)
        let reads = SharedReads(cache: cache, admission: admission, flight: flight, next: next)
        switch policy.rule {
        case .http: return try await HTTPReading(cache).respond(to: request, reads)
        case .timeToLive where method.isSafe || method.mayRead, .untilEvicted where method.isSafe || method.mayRead:
            return try await TimeToLiveReading(cache, policy).respond(to: request, reads)
        case .none, .timeToLive, .untilEvicted:
            if flight.options.cacheUse == .onlyIfCached { throw .notCached }
            // Under the rules of HTTP, responses of the changed target may be stored for other calls (RFC 9111 §4.4).
            if !method.isSafe { return try await HTTPReading(cache).respond(to: request, reads) }
            if ReadKey.isSharable(request, in: flight) { return try request.accepting(await reads.send(request)) }
            return try request.accepting(await next.send(request, in: flight))
        }
    }
}

extension Request {
    /// Returns a response. Throws if the response is a 304 to a request without preconditions, because such a 304 is
    /// invalid.
    func accepting(_ response: Response) throws(NetworkError) -> Response {
        guard response.head.status == .notModified else { return response }
        let fields = head.headerFields
        if fields.contains(.ifNoneMatch) || fields.contains(.ifModifiedSince) { return response }
        throw NetworkError(
            .invalidResponse, in: .reading,
            "The server responded 304 Not Modified to a request without preconditions.", status: .notModified)
    }
}

extension NetworkError {
    /// The error of a call that allows only a stored response.
    static var notCached: NetworkError {
        NetworkError(
            .notCached, in: .reading, "No stored response can be used, and the call allows nothing to be sent.",
            sending: .notSent)
    }

    /// Whether a stale response may be used under a time to live, because the server was not reached or failed. The
    /// client's rule includes every status of 500 and more. The rule of HTTP caching lists four statuses (RFC 5861 §4);
    /// see ``HTTPReading``.
    var allowsStaleResponse: Bool { outlook.isServerUnavailable || kind == .refused && status?.kind == .serverError }
}

private enum IsProvisional: StageValueKey {
    static var defaultValue: Bool { false }
}

extension Response {
    /// Whether the response is stale, and a fresh response is fetched after it is delivered.
    var isProvisional: Bool {
        get { values[IsProvisional.self] }
        set { values[IsProvisional.self] = newValue }
    }
}
