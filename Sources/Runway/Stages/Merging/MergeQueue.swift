/// Decides which requests of one lane wait, and which are sent together and when. The requests of a *lane* may be
/// merged with each other. The queue is a state machine without requests, clock or tasks.
///
/// If nothing is in flight, a request is sent at once. Otherwise it waits until a dispatch ends, until the policy's
/// maximum wait has passed, or until enough requests wait to fill an envelope.
///
/// A *dispatch* is one or more requests that are sent together. If a dispatch contained several requests, or if others
/// wait for its end, a settling time follows. In that time the callers may make further requests. The settling time
/// ends early when as many requests have arrived as the dispatch contained.
struct MergeQueue: Sendable {
    struct RequestID: Hashable, Sendable {
        let number: UInt64
    }

    /// Identifies a dispatch (requests that are sent together) by the first of its requests.
    struct DispatchID: Hashable, Sendable {
        let first: RequestID
    }

    /// An action that the queue requires.
    enum Action: Equatable, Sendable {
        /// Send these requests now, in one dispatch.
        case leave([RequestID], as: DispatchID)
        /// Wake the queue at this instant.
        case wake(at: Duration)
    }

    private struct Waiting: Sendable {
        let id: RequestID
        let byteCount: Int
        let arrival: Duration
    }

    private let maximumCount: Int
    private let maximumByteCount: Int
    private let wait: Duration
    private let settlingTime: Duration

    private var waiting: [Waiting] = []
    /// The number of requests of each dispatch in flight. A dispatch consists of requests that were sent together.
    private var inFlight: [DispatchID: Int] = [:]
    /// The end of the current settling time, in which callers may make further requests, and the number of requests
    /// that are expected until then.
    private var settling: (end: Duration, awaited: Int)?

    init(_ policy: MergePolicy) {
        maximumCount = min(max(1, policy.maximumCount), 100)
        maximumByteCount = policy.maximumByteCount
        wait = min(max(.zero, policy.wait), .seconds(1))
        settlingTime = min(max(.zero, policy.settling), wait)
    }

    /// Whether the next request can be sent at once.
    var isIdle: Bool { waiting.isEmpty && inFlight.isEmpty && settling == nil }

    var waitingCount: Int { waiting.count }

    mutating func arrive(_ id: RequestID, byteCount: Int, at now: Duration) -> [Action] {
        if isIdle { return [dispatch([id])] }
        var actions: [Action] = []
        if waiting.reduce(byteCount, { $0 + $1.byteCount }) > maximumByteCount { actions += dispatchWaiting() }
        waiting.append(Waiting(id: id, byteCount: byteCount, arrival: now))
        settling?.awaited -= 1
        if waiting.count >= maximumCount || settling?.awaited == 0 { return actions + dispatchWaiting() }
        return actions + nextWake()
    }

    /// Removes a request. Returns whether it was waiting.
    mutating func cancel(_ id: RequestID) -> Bool {
        guard let index = waiting.firstIndex(where: { $0.id == id }) else { return false }
        waiting.remove(at: index)
        return true
    }

    /// Records the end of a dispatch (requests that were sent together), whatever its outcome. Does nothing if the
    /// dispatch is not in flight.
    mutating func complete(_ dispatch: DispatchID, at now: Duration) -> [Action] {
        guard let count = inFlight.removeValue(forKey: dispatch) else { return [] }
        // The request that has ended was sent by itself, and no other request waited. So no further requests are
        // expected.
        if waiting.isEmpty, count < 2 { return [] }
        guard settlingTime > .zero else { return dispatchWaiting() }
        settling = (settling?.end ?? now + settlingTime, (settling?.awaited ?? 0) + count)
        return nextWake()
    }

    /// Returns the actions that are due at this time.
    mutating func wake(at now: Duration) -> [Action] {
        let hasSettled = settling.map { $0.end <= now } ?? false
        let hasWaited = waiting.first.map { $0.arrival + wait <= now } ?? false
        if hasSettled { settling = nil }
        return hasSettled || hasWaited ? dispatchWaiting() : nextWake()
    }

    /// Sends all waiting requests separately.
    mutating func release() -> [Action] {
        let ids = waiting.map(\.id)
        waiting = []
        settling = nil
        return ids.map { dispatch([$0]) }
    }

    private mutating func dispatchWaiting() -> [Action] {
        settling = nil
        let ids = waiting.map(\.id)
        waiting = []
        return ids.isEmpty ? [] : [dispatch(ids)]
    }

    private mutating func dispatch(_ ids: [RequestID]) -> Action {
        let dispatch = DispatchID(first: ids[0])
        inFlight[dispatch] = ids.count
        return .leave(ids, as: dispatch)
    }

    private func nextWake() -> [Action] {
        let instants = [waiting.first.map { $0.arrival + wait }, settling?.end].compactMap(\.self)
        return instants.min().map { [.wake(at: $0)] } ?? []
    }
}
