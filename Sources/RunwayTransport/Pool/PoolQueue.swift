import NIOCore

/// The requests of one origin that wait for a connection, in order.
///
/// A withdrawn request is removed from the order later, together with others, since removing it at once would take a
/// search.
struct PoolQueue {
    /// The conditions under which a request waits.
    private struct Wait {
        /// The earliest instant at which the request fails because no connection is available.
        var deadline: NIODeadline
        /// Whether a stale connection lost the request: an idle connection may be stale, too.
        var needsFresh: Bool
    }

    /// The waiting requests in order, among them withdrawn ones that are not removed yet.
    private var order = CircularBuffer<RequestID>()
    /// The conditions of every waiting request.
    private var waits: [RequestID: Wait] = [:]

    var isEmpty: Bool { waits.isEmpty }
    /// The number of waiting requests.
    var count: Int { waits.count }
    /// The earliest deadline of all; `nil` if no request waits.
    var firstDeadline: NIODeadline? { waits.values.lazy.map(\.deadline).min() }

    /// Adds a request behind all others.
    mutating func append(_ request: RequestID, until deadline: NIODeadline) {
        waits[request] = Wait(deadline: deadline, needsFresh: false)
        order.append(request)
    }

    /// Adds a request before all others.
    ///
    /// - Parameter needsFresh: Whether the request needs a connection that can't be stale.
    mutating func prepend(_ request: RequestID, until deadline: NIODeadline, needsFresh: Bool) {
        waits[request] = Wait(deadline: deadline, needsFresh: needsFresh)
        order.prepend(request)
    }

    /// Removes a request, wherever it is.
    ///
    /// - Precondition: The request waits.
    mutating func withdraw(_ request: RequestID) {
        precondition(waits.removeValue(forKey: request) != nil, "request \(request) does not wait")
        if order.count > 2 * waits.count + 64 { removeWithdrawn() }
    }

    /// Removes and returns the first request, or the first that does not need a fresh connection if `mayNeedFresh` is
    /// `false`; `nil` if no such request waits.
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

    /// Removes and returns all requests, in order.
    mutating func takeAll() -> [RequestID] {
        defer { self = PoolQueue() }
        return order.filter { waits[$0] != nil }
    }

    private mutating func removeWithdrawn() { order = CircularBuffer(order.filter { waits[$0] != nil }) }
}
