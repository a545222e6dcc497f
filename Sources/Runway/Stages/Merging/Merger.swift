import Synchronization

/// Holds the requests of a layer that wait to leave with others, and what is known of the routes that take them.
///
/// It performs what each lane's ``MergeQueue`` decides. A lane is kept while something of it waits or flies, so that there are
/// never more of them than calls; what is known of routes is kept for the ``maximumRoutes`` used last.
final class Merger: Sendable {
    /// For how many routes it is remembered what their servers said.
    static let maximumRoutes = 64

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

    /// Of how many routes something is known.
    var knownRouteCount: Int { state.withLock { $0.routes.count } }

    func makeTicket() -> MergeQueue.Ticket {
        MergeQueue.Ticket(number: ticketCount.wrappingAdd(1, ordering: .relaxed).newValue)
    }

    /// Takes a request, which is settled when it is known what becomes of it: at once, where it flies alone.
    func arrive(_ item: MergeItem) {
        change { state, deeds in
            state.learn(from: item.lane, &deeds)
            if let reason = state.reasonToStayApart(item.lane.route, item.policy) {
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
            if let httpVersion { state.learn(key.route) { $0.speaksHTTP2 = httpVersion.isMultiplexed } }
            if !taken { state.learn(key.route) { $0.isMissing = true } }
            // What was learned counts for those that wait before the landing lets them leave.
            state.release(key, &deeds)
            state.update(key) { lane in
                guard let departure else { return }
                lane.lone[departure] = nil
                lane.batches[departure] = nil
                lane.perform(lane.queue.land(departure, at: clock.now), in: key, &deeds)
            }
        }
    }

    private func wake(_ key: MergeLane, at instant: Duration) {
        change { state, deeds in
            state.learn(from: key, &deeds)
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
                lane.lone[departure] = items[0]
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
            case .flyAlone(let item, let departure, let decision):
                // A call that was given up in the meantime takes no flight, so nobody else would say that it has landed.
                if !item.settle(.alone(departure, decision)), let departure {
                    land(departure, of: item.lane, over: nil)
                }
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
