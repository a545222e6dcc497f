import NIOCore

/// The number of a connection within its pool, counted up.
typealias ConnectionID = Int

/// The number of a request within its pool, counted up.
typealias RequestID = UInt64

/// An action that ``PoolMachine`` decides on.
enum PoolAction: Equatable {
    /// Make a connection, and report it under this number.
    case connect(ConnectionID)
    /// Send a request on a connection; `isReused` unless the connection has just been made.
    case send(RequestID, on: ConnectionID, isReused: Bool)
    /// Fail a waiting request.
    case fail(RequestID, PoolFailure)
    /// Close a connection without requests, which the machine has removed.
    case close(ConnectionID)
}

/// The result of submitting a request to the pool.
enum PoolSubmission: Equatable {
    /// The request is sent at once.
    case send(on: ConnectionID, isReused: Bool)
    /// The request waits for a connection, and these actions are due.
    case wait([PoolAction])
    /// The request fails.
    case refuse(PoolFailure)
}

/// The reason why a request has no connection.
enum PoolFailure: Equatable {
    /// The limit on waiting requests is reached.
    case tooManyWaiting
    /// The attempt to connect failed.
    case notConnected
    /// No connection was made in time.
    case notConnectedInTime
    /// A connection lost the request, and the request may not move to another.
    case notMoved
    /// The pool is shut down.
    case shutDown
}

/// The way in which a connection carries requests.
enum ConnectionSharing: Equatable {
    /// One at a time (HTTP/1.1).
    case exclusive
    /// This many at once (HTTP/2).
    case shared(limit: Int)
}

/// A request that a connection lost, with the facts that decide whether it may move to another connection.
struct LostRequest: Equatable {
    /// Whether the server certainly did not process the request: no byte of it was written, or the server said so (RFC
    /// 9113 §8.7: REFUSED_STREAM, and GOAWAY with a lower stream), or the server asked for it over HTTP/1.1 instead
    /// (§7: HTTP_1_1_REQUIRED).
    var isUnprocessed: Bool
    /// Whether the connection is reused, so that the server may have closed it before the request arrived (RFC 9112
    /// §9.3.1).
    var wasReused: Bool
    /// Whether a byte of the response arrived.
    var hasResponse: Bool
    /// Whether the request's method is idempotent (RFC 9110 §9.2.2).
    var isIdempotent: Bool
    /// Whether the server closed the connection because it requires HTTP/1.1, and may have processed the request.
    var requiresHTTP1 = false
    /// Whether the request's body can be sent again from its start.
    var isReplayable: Bool
    /// The number of connections that lost the request before.
    var moves: Int
    /// The time at which the connection started to carry the request.
    var begun: NIODeadline
    /// Whether the connection turned out to be lost before any byte of the request was written.
    var isUnsent = false

    /// The most moves of one request.
    static let maximumMoves = 3

    /// Whether the server may have closed the connection, or the network may have dropped it, before the request was
    /// sent. Other connections that were idle as long may be lost for the same reason.
    var isStale: Bool { wasReused && (isUnsent || !isUnprocessed) && !hasResponse }

    /// Whether the request may be sent on another connection.
    var mayMove: Bool {
        guard moves < Self.maximumMoves, isReplayable, !hasResponse else { return false }
        // One stale connection is a race with the server's time-out. A request that is lost on a new one after it is not sent
        // again.
        return isUnprocessed || ((isStale || requiresHTTP1) && isIdempotent && moves == 0)
    }
}
