import Synchronization

/// Holds the requests of a layer that wait to leave with others, and what is known of the routes that take them.
///
/// It performs what each lane's ``MergeQueue`` decides. A lane is kept while something of it waits or flies, so that there are
/// never more of them than calls; what is known of routes is kept for the ``maximumRoutes`` used last.
final class Merger: Sendable {
    /// For how many routes it is remembered what their servers said.
    static let maximumRoutes = 64

    /// What is known of a route.
    private struct Knowledge {
        var isMissing = false
        var speaksHTTP2 = false
    }

    /// Requests that left together.
    struct Batch {
        /// Those whose calls are still there.
        var items: [MergeItem]
        var task: Task<Void, Never>?
        var carrier: Flight?
    }

    private struct Lane {
        var queue: MergeQueue
        var items: [MergeQueue.Ticket: MergeItem] = [:]
        var batches: [MergeQueue.Departure: Batch] = [:]
        var nextWake: Duration?
    }

    private struct State {
        var lanes: [MergeLane: Lane] = [:]
        var routes = LeastRecentlyUsed<MergeRoute, Knowledge>(maximumCount: maximumRoutes, maximumByteCount: 0)
    }

    /// What is to be done once the lock is free.
    private enum Deed {
        case flyAlone(MergeItem, MergeQueue.Departure?, Merge)
        case carry(MergeQueue.Departure, of: MergeLane)
        case wake(MergeLane, at: Duration)
        case abandon(Batch)
    }

    private let clock: LayerClock
    private let timer: DeadlineTimer
    private let ticketCount = Atomic<UInt64>(0)
    /// Guards the lanes and what is known of the routes.
    private let state = Mutex(State())

    init(clock: LayerClock, timer: DeadlineTimer) {
        self.clock = clock
        self.timer = timer
    }

    /// How many requests wait.
    var waitingCount: Int { state.withLock { $0.lanes.values.reduce(0) { $0 + $1.queue.waitingCount } } }

    /// How many lanes have something that waits or flies.
    var laneCount: Int { state.withLock { $0.lanes.count } }

    func makeTicket() -> MergeQueue.Ticket {
        MergeQueue.Ticket(number: ticketCount.wrappingAdd(1, ordering: .relaxed).newValue)
    }

    /// Takes a request, which is settled when it is known what becomes of it: at once, where it flies alone.
    func arrive(_ item: MergeItem) {
        change { state, deeds in
            if let reason = state.reasonToStayApart(item) {
                deeds.append(.flyAlone(item, nil, .apart(reason)))
                return
            }
            state.update(item.lane, making: { MergeQueue(item.policy) }) { lane in
                lane.items[item.ticket] = item
                let actions = lane.queue.arrive(item.ticket, byteCount: item.byteCount, at: clock.now)
                lane.perform(actions, in: item.lane, arriving: item.ticket, &deeds)
            }
        }
    }

    /// Lets go of a request that waits or flies with others. The last one of a flight takes the flight with it.
    func leave(_ item: MergeItem, failing error: NetworkError) {
        change { state, deeds in
            state.update(item.lane) { lane in
                if lane.queue.cancel(item.ticket) {
                    lane.items[item.ticket] = nil
                    return
                }
                for (departure, batch) in lane.batches {
                    guard let index = batch.items.firstIndex(where: { $0 === item }) else { continue }
                    lane.batches[departure]?.items.remove(at: index)
                    guard batch.items.count == 1 else { return }
                    lane.batches[departure] = nil
                    deeds.append(.abandon(batch))
                    lane.perform(lane.queue.land(departure, at: clock.now), in: item.lane, &deeds)
                    return
                }
            }
        }
        item.settle(.failed(error))
    }

    /// Notes that a flight is over, and over which version of HTTP it went, where that is known.
    func land(_ departure: MergeQueue.Departure?, of key: MergeLane, over httpVersion: String?, taken: Bool = true) {
        change { state, deeds in
            var known = state.routes.value(for: key.route) ?? Knowledge()
            if let httpVersion { known.speaksHTTP2 = httpVersion.hasPrefix("HTTP/2") || httpVersion.hasPrefix("HTTP/3") }
            if !taken { known.isMissing = true }
            if httpVersion != nil || !taken { state.routes.insert(known, for: key.route, byteCount: 0) }
            state.update(key) { lane in
                guard let departure else { return }
                lane.batches[departure] = nil
                lane.perform(lane.queue.land(departure, at: clock.now), in: key, &deeds)
            }
            state.release(key, &deeds)
        }
    }

    private func wake(_ key: MergeLane, at instant: Duration) {
        change { state, deeds in
            state.update(key) { lane in
                if lane.nextWake == instant { lane.nextWake = nil }
                lane.perform(lane.queue.wake(at: clock.now), in: key, &deeds)
            }
        }
    }

    /// The requests of a flight whose calls are still there, as it leaves; one that is left over flies as itself.
    func board(_ departure: MergeQueue.Departure, of key: MergeLane) -> [MergeItem] {
        var items: [MergeItem] = []
        change { state, deeds in
            state.update(key) { lane in
                items = lane.batches[departure]?.items ?? []
                guard items.count == 1 else { return }
                lane.batches[departure] = nil
                deeds.append(.flyAlone(items[0], departure, .waitedAlone))
            }
        }
        return items.count > 1 ? items : []
    }

    /// Says which flight carries a batch; gives whether anybody still waits for it.
    func setCarrier(_ carrier: Flight, of departure: MergeQueue.Departure, in key: MergeLane) -> Bool {
        state.withLock { state in
            state.lanes[key]?.batches[departure]?.carrier = carrier
            return state.lanes[key]?.batches[departure] != nil
        }
    }

    /// Changes the state, and does after it what has to be done without the lock.
    private func change(_ body: (inout State, inout [Deed]) -> Void) {
        let deeds = state.withLock { state in
            var deeds: [Deed] = []
            body(&state, &deeds)
            return deeds
        }
        for deed in deeds {
            switch deed {
            case .flyAlone(let item, let departure, let decision): item.settle(.alone(departure, decision))
            case .wake(let key, let instant):
                _ = timer.schedule(at: instant) { [weak self] in self?.wake(key, at: instant) }
            case .carry(let departure, let key): start(departure, of: key)
            case .abandon(let batch):
                batch.task?.cancel()
                batch.carrier?.finish(.cancelled)
            }
        }
    }

    private func start(_ departure: MergeQueue.Departure, of key: MergeLane) {
        let task = Task.detached { await self.carry(departure, of: key) }
        let isAwaited = state.withLock { state in
            state.lanes[key]?.batches[departure]?.task = task
            return state.lanes[key]?.batches[departure] != nil
        }
        if !isAwaited { task.cancel() }
    }
}

extension Merger.State {
    fileprivate mutating func reasonToStayApart(_ item: MergeItem) -> Merge.Reason? {
        reasonToStayApart(item.lane.route, item.policy)
    }

    private mutating func reasonToStayApart(_ route: MergeRoute, _ policy: MergePolicy) -> Merge.Reason? {
        guard let known = routes.value(for: route) else { return nil }
        if known.isMissing { return .noRoute }
        return known.speaksHTTP2 && !policy.mergesOverHTTP2 ? .http2 : nil
    }

    /// Changes a lane, which is made where there is a way, and let go where nothing of it is left.
    fileprivate mutating func update(
        _ key: MergeLane, making make: (() -> MergeQueue)? = nil, _ change: (inout Merger.Lane) -> Void
    ) {
        guard var lane = lanes.removeValue(forKey: key) ?? make.map({ Merger.Lane(queue: $0()) }) else { return }
        change(&lane)
        if !lane.queue.isIdle || !lane.batches.isEmpty { lanes[key] = lane }
    }

    /// Lets all that waits for a route fly alone, where it turned out not to merge.
    fileprivate mutating func release(_ key: MergeLane, _ deeds: inout [Merger.Deed]) {
        for other in lanes.keys where other.route == key.route {
            guard let policy = lanes[other]?.items.values.first?.policy,
                let reason = reasonToStayApart(key.route, policy)
            else { continue }
            update(other) { lane in
                lane.perform(lane.queue.release(), in: other, because: .apart(reason), &deeds)
            }
        }
    }
}

extension Merger.Lane {
    /// Turns what the queue decided into deeds.
    fileprivate mutating func perform(
        _ actions: [MergeQueue.Action], in key: MergeLane, arriving: MergeQueue.Ticket? = nil,
        because decision: Merge = .waitedAlone, _ deeds: inout [Merger.Deed]
    ) {
        for action in actions {
            switch action {
            case .wake(let instant):
                if let nextWake, nextWake <= instant { continue }
                nextWake = instant
                deeds.append(.wake(key, at: instant))
            case .leave(let tickets, let departure):
                let leaving = tickets.compactMap { items.removeValue(forKey: $0) }
                if leaving.count == 1 {
                    let decision = tickets == [arriving] ? .flewAtOnce : decision
                    deeds.append(.flyAlone(leaving[0], departure, decision))
                } else if !leaving.isEmpty {
                    batches[departure] = Merger.Batch(items: leaving)
                    deeds.append(.carry(departure, of: key))
                }
            }
        }
    }
}
