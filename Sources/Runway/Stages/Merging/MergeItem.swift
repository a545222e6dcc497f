import HTTPTypes
import Synchronization

/// One request that may be merged, and the continuation of its call, which waits for the outcome.
final class MergeItem: Sendable {
    /// The way in which a request that may be merged was handled.
    enum Outcome: Sendable {
        /// The request must be sent separately by its own task. If the case has a dispatch (see ``MergeQueue``), the
        /// dispatch ends with the request.
        case alone(MergeQueue.DispatchID?, MergeDecision)
        /// The request received its response, which the service has not judged yet.
        case responded(Response)
        /// The merged request was refused with this response, which the service has judged.
        case refused(Response)
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
    /// The size of the request in bytes, as the policy counts it.
    let byteCount: Int
    /// The maximum size of the response that the call accepts, in bytes.
    let maximumResponseByteCount: Int
    /// The index that the attempt has in the call's record if the request is sent separately, counted from 0.
    private let attempt: Int
    /// Guards the outcome, and the continuation that waits for it.
    private let state = Mutex(State())

    /// Creates an item, or returns `nil` if the request can't be merged.
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

    /// The methods that have the same meaning in a merged request as in a separate one.
    private static let methods: Set<HTTPRequest.Method> = [.get, .head, .post, .put, .patch, .delete, .options]

    /// The HTTP version of the separately sent request; `nil` while it is unknown.
    var httpVersion: String? { flight.recorder.httpVersion(ofAttempt: attempt) }

    /// The outcome; `nil` while the request has none.
    var settledOutcome: Outcome? { state.withLock { $0.outcome } }

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
    /// Returns the route for merging a request. Returns `nil` if the request is for another origin than its service's,
    /// or for the merging route itself.
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
    /// The size of a body that can be merged, in bytes; `nil` for a stream.
    fileprivate var mergeableBodyByteCount: Int? {
        if case .stream = body { nil } else { body.byteCount }
    }
}
