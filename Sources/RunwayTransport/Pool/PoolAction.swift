import NIOCore

/// The number of a connection within its pool, counted up.
typealias ConnectionID = Int

/// The number of a request within its pool, counted up.
typealias RequestID = UInt64

/// What ``PoolMachine`` wants done.
enum PoolAction: Equatable {
    /// Make a connection and tell of it under this number.
    case connect(ConnectionID)
    /// Send a request on a connection that can take it; `isReused` where the connection was not made for the first requests on it.
    case send(RequestID, on: ConnectionID, isReused: Bool)
    /// End a request that waits.
    case fail(RequestID, PoolFailure)
    /// Close a connection that nothing uses. The machine has forgotten it already.
    case close(ConnectionID)
}

/// What becomes of a request that is given to the pool.
enum PoolSubmission: Equatable {
    /// It goes out at once.
    case send(on: ConnectionID, isReused: Bool)
    /// It waits for a connection, and this is to be done for it.
    case wait([PoolAction])
    /// It does not wait.
    case refuse(PoolFailure)
}

/// Why a request got no connection.
enum PoolFailure: Equatable {
    /// As many requests wait as may.
    case tooManyWaiting
    /// The attempt to connect failed.
    case notConnected
    /// No connection was made in time.
    case notConnectedInTime
    /// It was lost on a connection, and must not or may not be sent on another.
    case notMoved
    /// The pool is shut down.
    case shutDown
}

/// How a connection carries requests.
enum ConnectionSharing: Equatable {
    /// One at a time (HTTP/1.1).
    case exclusive
    /// So many at once (HTTP/2).
    case shared(limit: Int)
}

/// A request that a connection did not answer: what decides whether it may be sent on another.
struct LostRequest: Equatable {
    /// Whether the server did certainly not act on it: nothing of it was written, or the server said so
    /// (RFC 9113 §8.7: REFUSED_STREAM, and GOAWAY with a lower stream).
    var isUnprocessed: Bool
    /// Whether the connection was in use before, so that the server may have closed it before it saw the request (RFC 9112 §9.3.1).
    var wasReused: Bool
    /// Whether a byte of its answer came.
    var hasResponse: Bool
    /// Whether its method is idempotent (RFC 9110 §9.2.2).
    var isIdempotent: Bool
    /// Whether its body can be sent from its start.
    var isReplayable: Bool
    /// On how many connections it was lost before.
    var moves: Int
    /// When it was given to its connection.
    var begun: NIODeadline

    /// The most connections that one request is sent on, less one.
    static let maximumMoves = 3

    /// Whether its connection may have been dead since before it was sent: closed by the server, or forgotten on the way to it. So may
    /// be all others that were idle as long.
    var isStale: Bool { wasReused && !isUnprocessed && !hasResponse }

    /// Whether it may be sent on another connection.
    var mayMove: Bool {
        guard moves < Self.maximumMoves, isReplayable, !hasResponse else { return false }
        // One stale connection is a race with the server's clock; what is lost on the new one after it meets a server that does not
        // answer.
        return isUnprocessed || (isStale && isIdempotent && moves == 0)
    }
}
