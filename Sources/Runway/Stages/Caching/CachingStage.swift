import HTTPTypes

/// Answers from what is kept, and has kept what may be used again.
///
/// A fresh answer in memory lands in the caller's turn. Whole answers are kept, and only after the service judged them fine and the
/// endpoint, and the manager's validator, accepted them; streamed bodies pass untouched.
struct CachingStage: RequestStage {
    var step: FlightStep { .stage(.caching) }
    /// What the stage waits for beside the rest of the pipeline is over at the deadline and at cancellation.
    var endsInTime: Bool { true }

    func answerImmediately(_ request: Request, in flight: Flight) throws(NetworkError) -> ImmediateAnswer {
        let policy = flight.cachePolicy
        switch policy.rule {
        case .none:
            if flight.options.cacheUse == .onlyIfCached { throw .notCached }
            return .pass
        case .timeToLive, .untilEvicted:
            return try TimeToLiveCaching(policy: policy).answerImmediately(CacheKey(request, in: flight), in: flight)
        case .http: return try HTTPCaching().answerImmediately(request, in: flight)
        }
    }

    func respond(
        to request: Request, in flight: Flight, next: RequestPipeline.Rest
    ) async throws(NetworkError) -> Response {
        let (policy, method) = (flight.cachePolicy, request.head.method)
        switch policy.rule {
        case .http: return try await HTTPCaching().respond(to: request, in: flight, next: next)
        case .timeToLive where method.isSafe || method.mayRead, .untilEvicted where method.isSafe || method.mayRead:
            return try await TimeToLiveCaching(policy: policy).respond(to: request, in: flight, next: next)
        case .none, .timeToLive, .untilEvicted:
            if flight.options.cacheUse == .onlyIfCached { throw .notCached }
            // What this call changes, others may keep by HTTP (RFC 9111 §4.4).
            if !method.isSafe { return try await HTTPCaching().respond(to: request, in: flight, next: next) }
            return try request.accepting(await next.send(request, in: flight))
        }
    }
}

extension Request {
    /// Lets an answer pass, unless it says "not modified" to a request that set no condition: then there is nothing that it could mean.
    func accepting(_ response: Response) throws(NetworkError) -> Response {
        let fields = head.headerFields
        guard response.head.status == .notModified, !fields.contains(.ifNoneMatch), !fields.contains(.ifModifiedSince)
        else { return response }
        throw NetworkError(
            .invalidResponse, in: .stage(.caching),
            "The server answered 304 Not Modified to a request without conditions.", status: .notModified)
    }
}

extension NetworkError {
    /// The error of a call that wanted a stored response or none.
    static var notCached: NetworkError {
        NetworkError(
            .notCached, in: .stage(.caching), "No stored response can be used, and the call allows nothing to be sent.",
            sending: .notSent)
    }

    /// Whether a stale answer may stand in: nobody was reached, or the server was not up to it.
    var allowsStaleAnswer: Bool {
        switch kind {
        case .noNetwork, .timedOut, .overloaded: true
        case .refused: status?.kind == .serverError
        default: false
        }
    }
}
