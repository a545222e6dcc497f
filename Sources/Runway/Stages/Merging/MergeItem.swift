import HTTPTypes
import Synchronization

/// One request that may be merged, and the continuation of its call, which waits for the outcome.
final class MergeItem: Sendable {
    /// The outcome of a request in the merger.
    enum Outcome: Sendable {
        /// The request is sent by itself, in its own task; the dispatch ends with it.
        case alone(MergeQueue.DispatchID?, MergeDecision)
        /// The request has a response of its own, which the service has not judged yet.
        case responded(Response)
        /// The envelope was refused: this is the response to it, judged by the service.
        case refused(Response)
        /// The request failed without a response.
        case failed(NetworkError)
    }

    private struct State {
        var outcome: Outcome?
        var continuation: CheckedContinuation<Outcome, Never>?
    }

    let id: MergeQueue.RequestID
    let lane: MergeLane
    let policy: MergePolicy
    let request: Request
    let flight: Flight
    let next: RequestPipeline.Rest
    /// The size of the request by which the policy counts it.
    let byteCount: Int
    /// The largest response that the call accepts.
    let maximumResponseByteCount: Int
    /// The index of the attempt on the flight's record, counted from 0, if the request is sent by itself.
    private let attempt: Int
    /// Guards the outcome, and the continuation that waits for it.
    private let state = Mutex(State())

    /// Creates an item; returns `nil` if the request is not allowed in an envelope.
    init?(
        _ request: Request, _ id: MergeQueue.RequestID, in flight: Flight, under policy: MergePolicy,
        next: RequestPipeline.Rest
    ) {
        guard case .whole(let maximumResponseByteCount) = request.delivery, policy.path.problem == nil,
            let bodyByteCount = request.mergeableBodyByteCount, Self.methods.contains(request.head.method),
            request.head.headerFields[.upgrade] == nil,
            let route = MergeRoute(of: request, in: flight, under: policy)
        else { return nil }
        let byteCount = request.head.headerFields.reduce(bodyByteCount + (request.head.path?.utf8.count ?? 0)) {
            $0 + $1.name.rawName.utf8.count + $1.value.utf8.count
        }
        guard byteCount <= policy.maximumByteCount else { return nil }
        self.id = id
        self.policy = policy
        self.request = request
        self.flight = flight
        self.next = next
        self.byteCount = byteCount
        attempt = flight.recorder.attemptCount
        self.maximumResponseByteCount = maximumResponseByteCount
        lane = MergeLane(session: flight.session, route: route)
    }

    /// The methods that have the same meaning in an envelope as on the wire.
    private static let methods: Set<HTTPRequest.Method> = [.get, .head, .post, .put, .patch, .delete, .options]

    /// The version of HTTP over which the request is sent by itself; `nil` while it is not known.
    var httpVersion: String? { flight.recorder.httpVersion(ofAttempt: attempt) }

    /// The outcome, if there is one already.
    var settledOutcome: Outcome? { state.withLock { $0.outcome } }

    /// Waits for the outcome.
    func outcome() async -> Outcome {
        await withCheckedContinuation { continuation in
            let outcome = state.withLock { state in
                if state.outcome == nil { state.continuation = continuation }
                return state.outcome
            }
            if let outcome { continuation.resume(returning: outcome) }
        }
    }

    /// Sets the outcome. Only the first call has an effect.
    ///
    /// - Returns: Whether this call was the first.
    @discardableResult
    func settle(_ outcome: Outcome) -> Bool {
        let (isFirst, continuation) = state.withLock { state in
            guard state.outcome == nil else { return (false, nil as CheckedContinuation<Outcome, Never>?) }
            state.outcome = outcome
            defer { state.continuation = nil }
            return (true, state.continuation)
        }
        continuation?.resume(returning: outcome)
        return isFirst
    }
}

extension MergeRoute {
    /// The route of a request when it is merged; `nil` if it is for another origin than its service's, or for the route
    /// itself.
    init?(of request: Request, in flight: Flight, under policy: MergePolicy) {
        guard let baseURL = try? flight.configuration.baseURL.get(), baseURL.contains(request.head),
            let path = request.head.path
        else { return nil }
        let route = "\(baseURL.pathPrefix)/\(policy.path.percentEncoded)"
        guard path.prefix(while: { $0 != "?" }) != route else { return nil }
        self.init(origin: Origin(request.head), environment: flight.environment, path: route)
    }
}

extension Request {
    /// The size of a body that can be merged; `nil` for a stream.
    fileprivate var mergeableBodyByteCount: Int? {
        if case .stream = body { nil } else { body.byteCount }
    }
}
