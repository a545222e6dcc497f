import NIOCore

/// The number of a connection in its pool. Numbers ascend and are never reused.
typealias ConnectionID = Int

/// The number of a request in its pool. Numbers ascend and are never reused.
typealias RequestID = UInt64

enum PoolAction: Equatable {
    /// Open a connection, and report it under this number.
    case connect(ConnectionID)
    /// Send a request on a connection. `isReused` is `false` for a new connection.
    case send(RequestID, on: ConnectionID, isReused: Bool)
    case fail(RequestID, PoolFailure)
    /// Close a connection without requests. The machine has already removed it.
    case close(ConnectionID)
}

enum PoolSubmission: Equatable {
    /// The request is sent immediately.
    case send(on: ConnectionID, isReused: Bool)
    /// The request waits for a connection. Perform these actions.
    case wait([PoolAction])
    case refuse(PoolFailure)
}

enum PoolFailure: Equatable {
    /// The limit on waiting requests is reached.
    case tooManyWaiting
    /// The connection could not be established.
    case notConnected
    /// No connection was established in time.
    case notConnectedInTime
    /// A connection that carried the request was lost, and the request must not be sent again.
    case notMoved
    case shutDown
}

/// The number of requests that a connection carries at the same time.
enum ConnectionSharing: Equatable {
    /// The connection carries one request at a time (HTTP/1.1).
    case exclusive
    /// The connection carries up to `limit` requests at the same time (HTTP/2).
    case shared(limit: Int)
}

/// A request whose connection was lost, with the facts that decide whether it may be sent on another connection.
struct LostRequest: Equatable {
    /// Whether the server certainly did not process the request, for one of these reasons:
    ///
    /// - no byte of the request was written;
    /// - the server said so: REFUSED_STREAM, or GOAWAY with a lower stream (RFC 9113 §8.7);
    /// - the server requires HTTP/1.1: HTTP_1_1_REQUIRED (§7).
    var isUnprocessed: Bool
    /// Whether the connection had been used before, so that the server may have closed it before the request arrived
    /// (RFC 9112 §9.3.1).
    var wasReused: Bool
    /// Whether a byte of the response arrived.
    var hasResponse: Bool
    /// Whether the request's method is idempotent (RFC 9110 §9.2.2).
    var isIdempotent: Bool
    /// Whether the server closed the connection because it requires HTTP/1.1. The server may have processed the
    /// request.
    var requiresHTTP1 = false
    /// Whether the request's body can be sent again from its start.
    var isReplayable: Bool
    /// The number of earlier connections that were lost while they carried the request.
    var moves: Int
    /// The time when the connection started to carry the request.
    var begun: NIODeadline
    /// Whether the connection was found to be lost before any byte of the request was written.
    var isUnsent = false

    static let maximumMoves = 3

    /// Whether the connection may have been closed by the server, or dropped by the network, before the request was
    /// sent. Other connections that were idle for the same time may be lost, too.
    var isStale: Bool { wasReused && (isUnsent || !isUnprocessed) && !hasResponse }

    /// Whether the request may be sent on another connection.
    var mayMove: Bool {
        guard moves < Self.maximumMoves, isReplayable, !hasResponse else { return false }
        // A stale connection may be lost because the server closed it just before the request arrived. If the new
        // connection is lost too, the request is not sent again.
        return isUnprocessed || ((isStale || requiresHTTP1) && isIdempotent && moves == 0)
    }
}
