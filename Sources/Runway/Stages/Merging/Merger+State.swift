extension Merger {
    /// What is known of a route.
    struct Knowledge {
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

    struct Lane {
        var queue: MergeQueue
        var items: [MergeQueue.Ticket: MergeItem] = [:]
        var batches: [MergeQueue.Departure: Batch] = [:]
        var nextWake: Duration?
    }

    struct State {
        var lanes: [MergeLane: Lane] = [:]
        var routes = LeastRecentlyUsed<MergeRoute, Knowledge>(maximumCount: maximumRoutes, maximumByteCount: 0)
    }

    /// What is to be done once the lock is free.
    enum Deed {
        case flyAlone(MergeItem, MergeQueue.Departure?, Merge)
        case carry(MergeQueue.Departure, of: MergeLane)
        case wake(MergeLane, at: Duration)
        case abandon(Batch)
    }
}

extension Merger.State {
    /// Why requests of a route are not merged, if they are not.
    mutating func reasonToStayApart(_ route: MergeRoute, _ policy: MergePolicy) -> Merge.Reason? {
        guard let known = routes.value(for: route) else { return nil }
        if known.isMissing { return .noRoute }
        return known.speaksHTTP2 && !policy.mergesOverHTTP2 ? .http2 : nil
    }

    /// Changes a lane, which is made where there is a way, and let go where nothing of it is left.
    mutating func update(
        _ key: MergeLane, making make: (() -> MergeQueue)? = nil, _ change: (inout Merger.Lane) -> Void
    ) {
        guard var lane = lanes.removeValue(forKey: key) ?? make.map({ Merger.Lane(queue: $0()) }) else { return }
        change(&lane)
        if !lane.queue.isIdle || !lane.batches.isEmpty { lanes[key] = lane }
    }

    /// Lets all that waits for a route fly alone, where it turned out not to merge.
    mutating func release(_ key: MergeLane, _ deeds: inout [Merger.Deed]) {
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
    /// Turns what the queue decided into operations.
    mutating func perform(
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
