extension Merger {
    /// The known facts about the server of a route.
    struct Knowledge {
        var isMissing = false
        var speaksHTTP2 = false
    }

    /// Requests that are in flight together.
    struct Batch {
        /// The requests whose calls still wait.
        var items: [MergeItem]
        var task: Task<Void, Never>?
        var envelopeFlight: Flight?

        /// The HTTP version of the merged request; `nil` while it is unknown.
        var httpVersion: String? { envelopeFlight?.recorder.httpVersion(ofAttempt: 0) }
    }

    struct Lane {
        var queue: MergeQueue
        var items: [MergeQueue.RequestID: MergeItem] = [:]
        /// The requests in flight that were sent separately.
        var lone: [MergeQueue.DispatchID: MergeItem] = [:]
        /// The requests in flight that were sent together.
        var batches: [MergeQueue.DispatchID: Batch] = [:]
        var nextWake: Duration?
    }

    struct State {
        var lanes: [MergeLane: Lane] = [:]
        var routes = LeastRecentlyUsed<MergeRoute, Knowledge>(maximumCount: maximumRoutes, maximumByteCount: 0)
    }

    /// An operation to perform after the lock is released.
    enum Operation {
        case sendAlone(MergeItem, MergeQueue.DispatchID?, MergeDecision)
        case sendEnvelope(MergeQueue.DispatchID, of: MergeLane)
        case wake(MergeLane, at: Duration)
        case abandon(Batch)
    }
}

extension Merger.State {
    /// Returns the reason why requests of a route are not merged, or `nil` if requests of the route are merged.
    mutating func reasonNotToMerge(_ route: MergeRoute, _ policy: MergePolicy) -> MergeDecision.Reason? {
        guard let known = routes.value(for: route) else { return nil }
        if known.isMissing { return .noRoute }
        return known.speaksHTTP2 && !policy.mergesOverHTTP2 ? .http2 : nil
    }

    /// Checks whether a request in flight uses HTTP/2. The version is known before the response. If it is HTTP/2,
    /// waiting requests of the route are sent separately, unless the policy also merges over HTTP/2.
    mutating func learn(from key: MergeLane, _ operations: inout [Merger.Operation]) {
        guard lanes[key]?.speaksHTTP2 == true else { return }
        learn(key.route) { $0.speaksHTTP2 = true }
        release(key, &operations)
    }

    /// Changes the known facts about the server of a route.
    mutating func learn(_ route: MergeRoute, _ change: (inout Merger.Knowledge) -> Void) {
        var known = routes.value(for: route) ?? Merger.Knowledge()
        change(&known)
        routes.insert(known, for: route, byteCount: 0)
    }

    /// Changes the state of a lane. Creates the lane if needed, and removes it when it is empty.
    mutating func update(
        _ key: MergeLane, making make: (() -> MergeQueue)? = nil, _ change: (inout Merger.Lane) -> Void
    ) {
        guard var lane = lanes.removeValue(forKey: key) ?? make.map({ Merger.Lane(queue: $0()) }) else { return }
        change(&lane)
        if !lane.queue.isIdle || !lane.batches.isEmpty { lanes[key] = lane }
    }

    /// If it is now known that requests of a route must not be merged, sends the waiting ones separately.
    mutating func release(_ key: MergeLane, _ operations: inout [Merger.Operation]) {
        for other in lanes.keys where other.route == key.route {
            guard let policy = lanes[other]?.items.values.first?.policy,
                let reason = reasonNotToMerge(key.route, policy)
            else { continue }
            update(other) { lane in
                lane.perform(lane.queue.release(), in: other, because: .notMerged(reason), &operations)
            }
        }
    }
}

extension Merger.Lane {
    /// Whether any request in flight uses HTTP/2 or HTTP/3.
    var speaksHTTP2: Bool {
        lone.values.contains { $0.httpVersion?.isMultiplexed == true }
            || batches.values.contains { $0.httpVersion?.isMultiplexed == true }
    }

    /// Converts the queue's actions into operations.
    mutating func perform(
        _ actions: [MergeQueue.Action], in key: MergeLane, arriving: MergeQueue.RequestID? = nil,
        because decision: MergeDecision = .waitedAlone, _ operations: inout [Merger.Operation]
    ) {
        for action in actions {
            switch action {
            case .wake(let instant):
                if let nextWake, nextWake <= instant { continue }
                nextWake = instant
                operations.append(.wake(key, at: instant))
            case .leave(let ids, let dispatch):
                let leaving = ids.compactMap { items.removeValue(forKey: $0) }
                if leaving.count == 1 {
                    let decision = ids == [arriving] ? .sentAtOnce : decision
                    lone[dispatch] = leaving[0]
                    operations.append(.sendAlone(leaving[0], dispatch, decision))
                } else if !leaving.isEmpty {
                    batches[dispatch] = Merger.Batch(items: leaving)
                    operations.append(.sendEnvelope(dispatch, of: key))
                }
            }
        }
    }
}

extension String {
    /// Whether this HTTP version sends concurrent requests over one connection.
    var isMultiplexed: Bool { hasPrefix("HTTP/2") || hasPrefix("HTTP/3") }
}
