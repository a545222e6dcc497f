import RunwayTesting

/// What an origin received, to assert on, and waits for more of it, so that no test has to sleep.
///
/// Every wait throws `WaitTimedOut` after `limit` of real time (default: a minute), ``ShutDownError`` when the origin
/// is shut down before, and `CancellationError`.
extension ScriptedOrigin {
    /// The requests in the order in which they were received, over all connections, up to the limit.
    ///
    /// A request is added when all of it was read, when a response to it begins, or when its connection ended during
    /// it.
    public var requests: [ReceivedRequest] { record.requests }

    /// The requests that the script had no response for, up to the limit.
    public var unexpectedRequests: [ReceivedRequest] { record.requests.filter { !$0.isScripted } }

    /// The malformed requests, up to the limit on requests.
    public var malformedRequests: [MalformedRequest] { record.malformed }

    /// Why TLS handshakes failed, one sentence each, up to the limit on requests.
    public var handshakeFailures: [String] { record.handshakeFailures }

    /// How many requests were received, also past the limit.
    public var requestCount: Int { record.requestCount.value }

    /// How many connections were accepted so far.
    public var connectionCount: Int { record.connectionCount.value }

    /// How many connections are open.
    public var openConnectionCount: Int { record.openConnectionCount }

    /// Returns once at least `count` requests were received in all: the stored ones, in order.
    ///
    /// - Throws: `WaitTimedOut` after `limit`, ``ShutDownError`` when the origin is shut down before,
    ///   `CancellationError`.
    @discardableResult
    public func waitForRequests(
        count: Int,
        within limit: Duration = .seconds(60)
    ) async throws -> [ReceivedRequest] {
        try await record.requestCount.wait(atLeast: count, within: limit, subject: "requests")
        return requests
    }

    /// Returns once at least `count` connections were accepted in all.
    ///
    /// - Throws: `WaitTimedOut` after `limit`, ``ShutDownError`` when the origin is shut down before,
    ///   `CancellationError`.
    public func waitForConnections(count: Int, within limit: Duration = .seconds(60)) async throws {
        try await record.connectionCount.wait(atLeast: count, within: limit, subject: "connections")
    }

    /// Returns once at least `count` connections ended in all, whoever ended them.
    ///
    /// A test can see with it that a cancelled call closed its socket: hold the response at a `ScriptedGate`, cancel,
    /// and wait for the disconnect.
    ///
    /// - Throws: `WaitTimedOut` after `limit`, ``ShutDownError`` when the origin is shut down before,
    ///   `CancellationError`.
    public func waitForDisconnects(count: Int, within limit: Duration = .seconds(60)) async throws {
        try await record.disconnectCount.wait(atLeast: count, within: limit, subject: "disconnects")
    }
}
