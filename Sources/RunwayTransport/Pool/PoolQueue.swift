import NIOCore

/// The requests of one origin that wait for a connection, in order.
///
/// Withdrawn requests are removed from the order later, many at once, since removing each immediately would need a
/// search.
struct PoolQueue {
    private struct Wait {
        /// The instant after which the request fails if no connection is available.
        var deadline: NIODeadline
        /// Whether a stale connection was lost while it carried the request. The request must then not use an idle
        /// connection, which may be stale, too.
        var needsFresh: Bool
    }

    /// The waiting requests in order, including withdrawn ones that are not removed yet.
    private var order = CircularBuffer<RequestID>()
    private var waits: [RequestID: Wait] = [:]

    var isEmpty: Bool { waits.isEmpty }
    var count: Int { waits.count }
    var firstDeadline: NIODeadline? { waits.values.lazy.map(\.deadline).min() }

    mutating func append(_ request: RequestID, until deadline: NIODeadline) {
        waits[request] = Wait(deadline: deadline, needsFresh: false)
        order.append(request)
    }

    /// Adds a request before all others.
    ///
    /// - Parameter needsFresh: Whether the request needs a connection that cannot be stale.
    mutating func prepend(_ request: RequestID, until deadline: NIODeadline, needsFresh: Bool) {
        waits[request] = Wait(deadline: deadline, needsFresh: needsFresh)
        order.prepend(request)
    }

    /// Removes a request.
    ///
    /// - Precondition: The request is waiting.
    mutating func withdraw(_ request: RequestID) {
        precondition(waits.removeValue(forKey: request) != nil, "request \(request) does not wait")
        if order.count > 2 * waits.count + 64 { removeWithdrawn() }
    }

    /// Removes and returns the first request; if `mayNeedFresh` is `false`, the first one that may use a connection
    /// that could be stale. Returns `nil` if no such request is waiting.
    mutating func takeFirst(mayNeedFresh: Bool) -> RequestID? {
        while let first = order.first, waits[first] == nil { order.removeFirst() }
        let next = order.firstIndex { waits[$0].map { mayNeedFresh || !$0.needsFresh } ?? false }
        guard let next else { return nil }
        let request = order.remove(at: next)
        waits[request] = nil
        return request
    }

    /// Removes and returns the requests whose deadline has passed, in order.
    mutating func takeLate(at now: NIODeadline) -> [RequestID] {
        guard let firstDeadline, firstDeadline <= now else { return [] }
        let late: [RequestID] = order.filter { waits[$0].map { $0.deadline <= now } ?? false }
        for request in late { waits[request] = nil }
        removeWithdrawn()
        return late
    }

    mutating func takeAll() -> [RequestID] {
        defer { self = PoolQueue() }
        return order.filter { waits[$0] != nil }
    }

    private mutating func removeWithdrawn() { order = CircularBuffer(order.filter { waits[$0] != nil }) }
}
