import RunwayTesting

/// Requests and connections of an origin to assert on, and functions that wait for more, so that no test has to sleep.
///
/// Every wait throws `WaitTimedOut` after `limit` of real time (default: a minute), ``ShutDownError`` if the origin is
/// shut down before, and `CancellationError`.
extension ScriptedOrigin {
    /// The requests in the order in which they were received, over all connections, up to the limit.
    ///
    /// A request is added when it was read in full, when a response to it begins, or when its connection ends during
    /// it.
    public var requests: [ReceivedRequest] { record.requests }

    /// The requests for which the script had no response, up to the limit.
    public var unexpectedRequests: [ReceivedRequest] { record.requests.filter { !$0.isScripted } }

    /// The malformed requests, up to the limit on requests.
    public var malformedRequests: [MalformedRequest] { record.malformed }

    /// The reasons why TLS handshakes failed, one sentence each, up to the limit on requests.
    public var handshakeFailures: [String] { record.handshakeFailures }

    /// The number of requests that were received, including those beyond the limit.
    public var requestCount: Int { record.requestCount.value }

    /// The number of connections that were accepted so far.
    public var connectionCount: Int { record.connectionCount.value }

    /// The number of open connections.
    public var openConnectionCount: Int { record.openConnectionCount }

    /// Waits until at least `count` requests were received in all. Returns the stored requests, in order.
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

    /// Waits until at least `count` connections were accepted in all.
    ///
    /// - Throws: `WaitTimedOut` after `limit`, ``ShutDownError`` when the origin is shut down before,
    ///   `CancellationError`.
    public func waitForConnections(count: Int, within limit: Duration = .seconds(60)) async throws {
        try await record.connectionCount.wait(atLeast: count, within: limit, subject: "connections")
    }

    /// Waits until at least `count` connections ended in all, on either side.
    ///
    /// A test can verify with it that a cancelled call closed its socket: hold the response at a `ScriptedGate`, cancel
    /// the call, and wait for the disconnect.
    ///
    /// - Throws: `WaitTimedOut` after `limit`, ``ShutDownError`` when the origin is shut down before,
    ///   `CancellationError`.
    public func waitForDisconnects(count: Int, within limit: Duration = .seconds(60)) async throws {
        try await record.disconnectCount.wait(atLeast: count, within: limit, subject: "disconnects")
    }
}
