import NIOCore

/// The number of a connection within its pool, counted up.
typealias ConnectionID = Int

/// The number of a request within its pool, counted up.
typealias RequestID = UInt64

/// What ``PoolMachine`` decides.
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

/// What happens to a request that is submitted to the pool.
enum PoolSubmission: Equatable {
    /// It is sent at once.
    case send(on: ConnectionID, isReused: Bool)
    /// It waits for a connection, and these actions are due.
    case wait([PoolAction])
    /// It fails.
    case refuse(PoolFailure)
}

/// Why a request has no connection.
enum PoolFailure: Equatable {
    /// The limit on waiting requests is reached.
    case tooManyWaiting
    /// The attempt to connect failed.
    case notConnected
    /// No connection was made in time.
    case notConnectedInTime
    /// It was lost on a connection, and may not move to another.
    case notMoved
    /// The pool is shut down.
    case shutDown
}

/// How a connection carries requests.
enum ConnectionSharing: Equatable {
    /// One at a time (HTTP/1.1).
    case exclusive
    /// This many at once (HTTP/2).
    case shared(limit: Int)
}

/// A request that a connection lost: what decides whether it may move to another.
struct LostRequest: Equatable {
    /// Whether the server certainly did not process it: nothing of it was written, or the server said so (RFC 9113
    /// §8.7: REFUSED_STREAM, and GOAWAY with a lower stream), or asked for it over HTTP/1.1 instead (§7:
    /// HTTP_1_1_REQUIRED).
    var isUnprocessed: Bool
    /// Whether the connection is reused, so that the server may have closed it before the request came (RFC 9112
    /// §9.3.1).
    var wasReused: Bool
    /// Whether a byte of its response came.
    var hasResponse: Bool
    /// Whether its method is idempotent (RFC 9110 §9.2.2).
    var isIdempotent: Bool
    /// Whether the server closed the connection because it requires HTTP/1.1, and may have processed the request.
    var requiresHTTP1 = false
    /// Whether its body can be sent from its start.
    var isReplayable: Bool
    /// The number of connections that lost it before.
    var moves: Int
    /// When its connection started to carry it.
    var begun: NIODeadline
    /// Whether its connection turned out to be lost before anything of it was written.
    var isUnsent = false

    /// How often a request may move.
    static let maximumMoves = 3

    /// Whether its connection may have been closed by the server or dropped by the network before it was sent. So may
    /// be all others that were idle as long.
    var isStale: Bool { wasReused && (isUnsent || !isUnprocessed) && !hasResponse }

    /// Whether it may be sent on another connection.
    var mayMove: Bool {
        guard moves < Self.maximumMoves, isReplayable, !hasResponse else { return false }
        // One stale connection is a race with the server's time-out. A request that is lost on a new one after it is not sent
        // again.
        return isUnprocessed || ((isStale || requiresHTTP1) && isIdempotent && moves == 0)
    }
}
