/// Decides which requests of one lane wait, which leave together, and when. It knows no request, no clock and no task.
///
/// The rules: where nothing is in the air, a request leaves at once. Otherwise it waits until a flight has landed, until it has
/// waited long enough, or until as many wait as may leave as one. A flight with several answers, or one that others wait for, is
/// followed by a moment in which the callers that it served may ask for more; when as many have come as it served, the moment is over.
struct MergeQueue: Sendable {
    /// Names one request.
    struct Ticket: Hashable, Sendable {
        let number: UInt64
    }

    /// Names one flight, by the first request in it.
    struct Departure: Hashable, Sendable {
        let first: Ticket
    }

    /// What the queue wants done.
    enum Action: Equatable, Sendable {
        /// These leave now, as one flight.
        case leave([Ticket], as: Departure)
        /// The queue wants to be woken at this instant.
        case wake(at: Duration)
    }

    private struct Waiting: Sendable {
        let ticket: Ticket
        let byteCount: Int
        let arrival: Duration
    }

    private let maximumCount: Int
    private let maximumByteCount: Int
    private let wait: Duration
    private let settlingTime: Duration

    private var waiting: [Waiting] = []
    /// The flights in the air, and how many requests each has.
    private var inAir: [Departure: Int] = [:]
    /// Until when a landed flight counts as landing, and how many requests of its callers may come until then.
    private var settling: (end: Duration, awaited: Int)?

    init(_ policy: MergePolicy) {
        maximumCount = min(max(1, policy.maximumCount), 100)
        maximumByteCount = policy.maximumByteCount
        wait = min(max(.zero, policy.wait), .seconds(1))
        settlingTime = min(max(.zero, policy.settling), wait)
    }

    /// Whether the next request leaves at once.
    var isIdle: Bool { waiting.isEmpty && inAir.isEmpty && settling == nil }

    /// How many requests wait.
    var waitingCount: Int { waiting.count }

    /// Takes a request.
    mutating func arrive(_ ticket: Ticket, byteCount: Int, at now: Duration) -> [Action] {
        if isIdle { return [depart([ticket])] }
        var actions: [Action] = []
        if waiting.reduce(byteCount, { $0 + $1.byteCount }) > maximumByteCount { actions += departWaiting() }
        waiting.append(Waiting(ticket: ticket, byteCount: byteCount, arrival: now))
        settling?.awaited -= 1
        if waiting.count >= maximumCount || settling?.awaited == 0 { return actions + departWaiting() }
        return actions + nextWake()
    }

    /// Lets go of a request; gives whether it waited here.
    mutating func cancel(_ ticket: Ticket) -> Bool {
        guard let index = waiting.firstIndex(where: { $0.ticket == ticket }) else { return false }
        waiting.remove(at: index)
        return true
    }

    /// Notes that a flight is over, however it ended. What is not in the air changes nothing.
    mutating func land(_ departure: Departure, at now: Duration) -> [Action] {
        guard let count = inAir.removeValue(forKey: departure) else { return [] }
        // One that flew alone while nobody waited says nothing of others to come.
        if waiting.isEmpty, count < 2 { return [] }
        guard settlingTime > .zero else { return departWaiting() }
        settling = (settling?.end ?? now + settlingTime, (settling?.awaited ?? 0) + count)
        return nextWake()
    }

    /// Looks at the time.
    mutating func wake(at now: Duration) -> [Action] {
        let hasSettled = settling.map { $0.end <= now } ?? false
        let hasWaited = waiting.first.map { $0.arrival + wait <= now } ?? false
        if hasSettled { settling = nil }
        return hasSettled || hasWaited ? departWaiting() : nextWake()
    }

    /// Lets everything that waits leave, each alone.
    mutating func release() -> [Action] {
        let tickets = waiting.map(\.ticket)
        waiting = []
        settling = nil
        return tickets.map { depart([$0]) }
    }

    private mutating func departWaiting() -> [Action] {
        settling = nil
        let tickets = waiting.map(\.ticket)
        waiting = []
        return tickets.isEmpty ? [] : [depart(tickets)]
    }

    private mutating func depart(_ tickets: [Ticket]) -> Action {
        let departure = Departure(first: tickets[0])
        inAir[departure] = tickets.count
        return .leave(tickets, as: departure)
    }

    private func nextWake() -> [Action] {
        let instants = [waiting.first.map { $0.arrival + wait }, settling?.end].compactMap(\.self)
        return instants.min().map { [.wake(at: $0)] } ?? []
    }
}
