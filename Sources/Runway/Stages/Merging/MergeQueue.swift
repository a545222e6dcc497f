/// Decides which requests of one lane wait, which are sent together, and when: a state machine without requests, clock
/// or tasks.
///
/// If nothing is in flight, a request is sent at once. Otherwise it waits until a dispatch has ended, until its longest
/// wait has passed, or until the maximum number for one envelope waits. A dispatch that carried several requests, or
/// for which others wait, is followed by a settling time in which its callers may make further requests; the settling
/// time ends early when as many have arrived as the dispatch carried.
struct MergeQueue: Sendable {
    /// Identifies one request.
    struct RequestID: Hashable, Sendable {
        let number: UInt64
    }

    /// Identifies one dispatch, by the first request in it.
    struct DispatchID: Hashable, Sendable {
        let first: RequestID
    }

    /// An action of the queue.
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
    /// The dispatches in flight, and how many requests each has.
    private var inFlight: [DispatchID: Int] = [:]
    /// The time at which the settling time of a dispatch ends, and the number of requests of its callers that may
    /// arrive until then.
    private var settling: (end: Duration, awaited: Int)?

    init(_ policy: MergePolicy) {
        maximumCount = min(max(1, policy.maximumCount), 100)
        maximumByteCount = policy.maximumByteCount
        wait = min(max(.zero, policy.wait), .seconds(1))
        settlingTime = min(max(.zero, policy.settling), wait)
    }

    /// Whether the next request is sent at once.
    var isIdle: Bool { waiting.isEmpty && inFlight.isEmpty && settling == nil }

    /// The number of waiting requests.
    var waitingCount: Int { waiting.count }

    /// Adds a request.
    mutating func arrive(_ id: RequestID, byteCount: Int, at now: Duration) -> [Action] {
        if isIdle { return [dispatch([id])] }
        var actions: [Action] = []
        if waiting.reduce(byteCount, { $0 + $1.byteCount }) > maximumByteCount { actions += dispatchWaiting() }
        waiting.append(Waiting(id: id, byteCount: byteCount, arrival: now))
        settling?.awaited -= 1
        if waiting.count >= maximumCount || settling?.awaited == 0 { return actions + dispatchWaiting() }
        return actions + nextWake()
    }

    /// Removes a request; returns whether it waited here.
    mutating func cancel(_ id: RequestID) -> Bool {
        guard let index = waiting.firstIndex(where: { $0.id == id }) else { return false }
        waiting.remove(at: index)
        return true
    }

    /// Records that a dispatch has ended, however it ended. One that is not in flight changes nothing.
    mutating func complete(_ dispatch: DispatchID, at now: Duration) -> [Action] {
        guard let count = inFlight.removeValue(forKey: dispatch) else { return [] }
        // A request that was sent by itself while no other waited does not suggest that others will arrive.
        if waiting.isEmpty, count < 2 { return [] }
        guard settlingTime > .zero else { return dispatchWaiting() }
        settling = (settling?.end ?? now + settlingTime, (settling?.awaited ?? 0) + count)
        return nextWake()
    }

    /// Checks the time.
    mutating func wake(at now: Duration) -> [Action] {
        let hasSettled = settling.map { $0.end <= now } ?? false
        let hasWaited = waiting.first.map { $0.arrival + wait <= now } ?? false
        if hasSettled { settling = nil }
        return hasSettled || hasWaited ? dispatchWaiting() : nextWake()
    }

    /// Sends all waiting requests, each by itself.
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
