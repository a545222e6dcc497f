import Synchronization

/// Holds the requests of a layer that wait to be merged, and the known facts about the routes for merged requests.
///
/// The requests that may be merged with each other form a lane. The merger performs the actions that each lane's
/// ``MergeQueue`` decides. A lane exists while one of its requests waits or is in flight, so there are never more lanes
/// than calls. Facts are stored for the ``maximumRoutes`` most recently used routes.
final class Merger: Sendable {
    /// The maximum number of routes with known facts.
    static let maximumRoutes = 64

    private let clock: LayerClock
    private let timer: DeadlineTimer
    private let requestCount = Atomic<UInt64>(0)
    /// Guards the lanes, and the known facts about the routes.
    private let state = Mutex(State())

    init(clock: LayerClock, timer: DeadlineTimer) {
        self.clock = clock
        self.timer = timer
    }

    var waitingCount: Int { state.withLock { $0.lanes.values.reduce(0) { $0 + $1.queue.waitingCount } } }

    var laneCount: Int { state.withLock { $0.lanes.count } }

    var knownRouteCount: Int { state.withLock { $0.routes.count } }

    func makeID() -> MergeQueue.RequestID {
        MergeQueue.RequestID(number: requestCount.wrappingAdd(1, ordering: .relaxed).newValue)
    }

    /// Adds a request. If the request must be sent separately, its outcome is set at once; otherwise the outcome is set
    /// later.
    func arrive(_ item: MergeItem) {
        change { state, operations in
            state.learn(from: item.lane, &operations)
            if let reason = state.reasonNotToMerge(item.lane.route, item.policy) {
                operations.append(.sendAlone(item, nil, .notMerged(reason)))
                return
            }
            state.update(item.lane, making: { MergeQueue(item.policy) }) { lane in
                lane.items[item.id] = item
                let actions = lane.queue.arrive(item.id, byteCount: item.byteCount, at: clock.now)
                lane.perform(actions, in: item.lane, arriving: item.id, &operations)
            }
        }
    }

    /// Removes a request that waits or is in flight with others. When the last request of a dispatch is removed, the
    /// dispatch is cancelled.
    func leave(_ item: MergeItem, failing error: NetworkError) {
        change { state, operations in
            state.update(item.lane) { lane in
                if lane.queue.cancel(item.id) {
                    lane.items[item.id] = nil
                    return
                }
                for (dispatch, batch) in lane.batches {
                    guard let index = batch.items.firstIndex(where: { $0 === item }) else { continue }
                    lane.batches[dispatch]?.items.remove(at: index)
                    guard batch.items.count == 1 else { return }
                    lane.batches[dispatch] = nil
                    operations.append(.abandon(batch))
                    lane.perform(lane.queue.complete(dispatch, at: clock.now), in: item.lane, &operations)
                    return
                }
            }
        }
        item.settle(.failed(error))
    }

    /// Records the end of a dispatch (requests that were sent together), and its HTTP version if that is known.
    func complete(_ dispatch: MergeQueue.DispatchID?, of key: MergeLane, over httpVersion: String?, taken: Bool = true)
    {
        change { state, operations in
            if let httpVersion { state.learn(key.route) { $0.speaksHTTP2 = httpVersion.isMultiplexed } }
            if !taken { state.learn(key.route) { $0.isMissing = true } }
            // The new facts must be applied to the waiting requests before the dispatch ends, because its end may send
            // these requests.
            state.release(key, &operations)
            state.update(key) { lane in
                guard let dispatch else { return }
                lane.lone[dispatch] = nil
                lane.batches[dispatch] = nil
                lane.perform(lane.queue.complete(dispatch, at: clock.now), in: key, &operations)
            }
        }
    }

    private func wake(_ key: MergeLane, at instant: Duration) {
        change { state, operations in
            state.learn(from: key, &operations)
            state.update(key) { lane in
                if lane.nextWake == instant { lane.nextWake = nil }
                lane.perform(lane.queue.wake(at: clock.now), in: key, &operations)
            }
        }
    }

    /// Returns the requests of a dispatch (requests that are sent together) whose calls still wait. If only one is
    /// left, it is sent separately.
    func takeItems(_ dispatch: MergeQueue.DispatchID, of key: MergeLane) -> [MergeItem] {
        var items: [MergeItem] = []
        change { state, operations in
            state.update(key) { lane in
                items = lane.batches[dispatch]?.items ?? []
                guard items.count == 1 else { return }
                lane.batches[dispatch] = nil
                lane.lone[dispatch] = items[0]
                operations.append(.sendAlone(items[0], dispatch, .waitedAlone))
            }
        }
        return items.count > 1 ? items : []
    }

    /// Sets the call that sends a batch of merged requests. Returns whether any call still waits for the batch.
    func setEnvelopeFlight(_ envelopeFlight: Flight, of dispatch: MergeQueue.DispatchID, in key: MergeLane) -> Bool {
        state.withLock { state in
            state.lanes[key]?.batches[dispatch]?.envelopeFlight = envelopeFlight
            return state.lanes[key]?.batches[dispatch] != nil
        }
    }

    /// Changes the state under the lock, and then performs the operations without holding the lock.
    private func change(_ body: (inout State, inout [Operation]) -> Void) {
        let operations = state.withLock { state in
            var operations: [Operation] = []
            body(&state, &operations)
            return operations
        }
        for operation in operations {
            switch operation {
            case .sendAlone(let item, let dispatch, let decision):
                // The call no longer waits, so its request is not sent. The end of its dispatch must be recorded here.
                if !item.settle(.alone(dispatch, decision)), let dispatch {
                    complete(dispatch, of: item.lane, over: nil)
                }
            case .wake(let key, let instant):
                _ = timer.schedule(at: instant) { [weak self] in self?.wake(key, at: instant) }
            case .sendEnvelope(let dispatch, let key): start(dispatch, of: key)
            case .abandon(let batch):
                batch.task?.cancel()
                batch.envelopeFlight?.finish(.cancelled)
            }
        }
    }

    private func start(_ dispatch: MergeQueue.DispatchID, of key: MergeLane) {
        let task = Task.detached { await self.sendEnvelope(dispatch, of: key) }
        let isAwaited = state.withLock { state in
            state.lanes[key]?.batches[dispatch]?.task = task
            return state.lanes[key]?.batches[dispatch] != nil
        }
        if !isAwaited { task.cancel() }
    }
}
