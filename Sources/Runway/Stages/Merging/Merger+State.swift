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

        /// The version of HTTP over which they fly; `nil` while it is not known.
        var httpVersion: String? { carrier?.recorder.httpVersion(ofAttempt: 0) }
    }

    struct Lane {
        var queue: MergeQueue
        /// Those that wait.
        var items: [MergeQueue.Ticket: MergeItem] = [:]
        /// Those that fly alone.
        var lone: [MergeQueue.Departure: MergeItem] = [:]
        /// Those that fly together.
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

    /// Learns from what is in the air that the origin speaks HTTP/2: the wire knows before there is an answer. What waits for the route
    /// then flies alone, unless its policy merges over HTTP/2, too.
    mutating func learn(from key: MergeLane, _ deeds: inout [Merger.Deed]) {
        guard lanes[key]?.speaksHTTP2 == true else { return }
        learn(key.route) { $0.speaksHTTP2 = true }
        release(key, &deeds)
    }

    /// Changes what is known of a route.
    mutating func learn(_ route: MergeRoute, _ change: (inout Merger.Knowledge) -> Void) {
        var known = routes.value(for: route) ?? Merger.Knowledge()
        change(&known)
        routes.insert(known, for: route, byteCount: 0)
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
    /// Whether anything in the air is known to fly over HTTP/2, or over its successor.
    var speaksHTTP2: Bool {
        lone.values.contains { $0.httpVersion?.isMultiplexed == true }
            || batches.values.contains { $0.httpVersion?.isMultiplexed == true }
    }

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
                    lone[departure] = leaving[0]
                    deeds.append(.flyAlone(leaving[0], departure, decision))
                } else if !leaving.isEmpty {
                    batches[departure] = Merger.Batch(items: leaving)
                    deeds.append(.carry(departure, of: key))
                }
            }
        }
    }
}

extension String {
    /// Whether this version of HTTP puts any number of requests on one connection.
    var isMultiplexed: Bool { hasPrefix("HTTP/2") || hasPrefix("HTTP/3") }
}
