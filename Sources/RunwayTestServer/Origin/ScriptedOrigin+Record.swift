import RunwayTesting

/// The recorded requests and connections of an origin, and functions that wait for more, so that tests need not sleep.
///
/// Each wait throws an error after `limit` of real time (by default a minute) or if the origin is shut down meanwhile,
/// and `CancellationError`.
extension ScriptedOrigin {
    /// The requests of all connections in the order of their arrival, up to the limit.
    ///
    /// A request is added when it was read completely, when a response to it begins, or when its connection ends.
    public var requests: [ReceivedRequest] { record.requests }

    /// The requests without a response in the script, up to the limit.
    public var unexpectedRequests: [ReceivedRequest] { record.requests.filter { !$0.isScripted } }

    /// The reasons why requests were malformed, one sentence each, up to the limit on requests.
    public var malformedRequests: [String] { record.malformed.map(\.description) }

    /// The reasons why TLS handshakes failed, one sentence each, up to the limit on requests.
    public var handshakeFailures: [String] { record.handshakeFailures }

    /// The number of received requests, including those beyond the limit.
    public var requestCount: Int { record.requestCount.value }

    /// The number of connections accepted since the start.
    public var connectionCount: Int { record.connectionCount.value }

    /// The number of connections that are open now.
    public var openConnectionCount: Int { record.openConnectionCount }

    /// Waits until at least `count` requests have arrived since the start. Returns the stored requests, in order.
    ///
    /// - Throws: An error after `limit` or if the origin is shut down meanwhile, `CancellationError`.
    @discardableResult
    public func waitForRequests(
        count: Int,
        within limit: Duration = .seconds(60)
    ) async throws -> [ReceivedRequest] {
        try await record.requestCount.wait(atLeast: count, within: limit, subject: "requests")
        return requests
    }

    /// Waits until at least `count` connections were accepted since the start.
    ///
    /// - Throws: An error after `limit` or if the origin is shut down meanwhile, `CancellationError`.
    public func waitForConnections(count: Int, within limit: Duration = .seconds(60)) async throws {
        try await record.connectionCount.wait(atLeast: count, within: limit, subject: "connections")
    }

    /// Waits until at least `count` connections have ended since the start, on either side.
    ///
    /// A test can use it to check that a cancelled call closes its socket: hold the response at a `ScriptedGate`,
    /// cancel the call, and wait for the disconnect.
    ///
    /// - Throws: An error after `limit` or if the origin is shut down meanwhile, `CancellationError`.
    public func waitForDisconnects(count: Int, within limit: Duration = .seconds(60)) async throws {
        try await record.disconnectCount.wait(atLeast: count, within: limit, subject: "disconnects")
    }
}
