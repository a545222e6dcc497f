import HTTPTypes
import Synchronization

/// One request that may leave with others, and the place where its call waits for what becomes of it.
final class MergeItem: Sendable {
    /// What becomes of a request.
    enum Outcome: Sendable {
        /// It flies in its own task, as itself; the departure lands with it.
        case alone(MergeQueue.Departure?, Merge)
        /// It has an answer of its own, which the service has not judged yet.
        case answered(Response)
        /// The envelope was refused: this is the answer to it, judged by the service.
        case refused(Response)
        /// There is no answer.
        case failed(NetworkError)
    }

    private struct State {
        var outcome: Outcome?
        var continuation: CheckedContinuation<Outcome, Never>?
    }

    let ticket: MergeQueue.Ticket
    let lane: MergeLane
    let policy: MergePolicy
    let request: Request
    let flight: Flight
    let next: RequestPipeline.Rest
    /// The size of the request, as the policy counts it.
    let byteCount: Int
    /// The largest answer that the call reads.
    let maximumResponseByteCount: Int
    /// Which of its flight's requests on the wire it is, counted from 0, where it flies alone.
    private let attempt: Int
    /// Guards what became of the request, and who waits for it.
    private let state = Mutex(State())

    /// Takes a request; `nil` for one that can't stand in an envelope.
    init?(
        _ request: Request, _ ticket: MergeQueue.Ticket, in flight: Flight, under policy: MergePolicy,
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
        self.ticket = ticket
        self.policy = policy
        self.request = request
        self.flight = flight
        self.next = next
        self.byteCount = byteCount
        attempt = flight.recorder.attemptCount
        self.maximumResponseByteCount = maximumResponseByteCount
        lane = MergeLane(session: flight.session, route: route)
    }

    /// The methods that mean the same in an envelope as on the wire.
    private static let methods: Set<HTTPRequest.Method> = [.get, .head, .post, .put, .patch, .delete, .options]

    /// The version of HTTP over which the request flies alone; `nil` while it is not known.
    var httpVersion: String? { flight.recorder.httpVersion(ofAttempt: attempt) }

    /// What becomes of the request, where it is known already.
    var settledOutcome: Outcome? { state.withLock { $0.outcome } }

    /// Waits for what becomes of the request.
    func outcome() async -> Outcome {
        await withCheckedContinuation { continuation in
            let outcome = state.withLock { state in
                if state.outcome == nil { state.continuation = continuation }
                return state.outcome
            }
            if let outcome { continuation.resume(returning: outcome) }
        }
    }

    /// Says what becomes of the request; the first word counts.
    ///
    /// - Returns: Whether it was the first.
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
    /// Where a request goes when it is merged; `nil` for one that is for another place than its service's, or for the route itself.
    init?(of request: Request, in flight: Flight, under policy: MergePolicy) {
        guard let baseURL = try? flight.configuration.baseURL.get(), let path = request.head.path,
            request.head.scheme == baseURL.scheme, request.head.authority == baseURL.authority,
            path.hasPrefix("\(baseURL.pathPrefix)/")
        else { return nil }
        let route = "\(baseURL.pathPrefix)/\(policy.path.percentEncoded)"
        guard path.prefix(while: { $0 != "?" }) != route else { return nil }
        self.init(origin: Origin(request.head), environment: flight.environment, path: route)
    }
}

extension Request {
    /// The size of a body that can stand in an envelope; `nil` for a stream.
    fileprivate var mergeableBodyByteCount: Int? {
        if case .stream = body { nil } else { body.byteCount }
    }
}
