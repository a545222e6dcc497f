public import Runway

/// The messages of a WebSocket as a sequence, for code whose next step depends on them: scripts, servers, tests.
///
/// ```swift
/// let chat = network.webSocket(Chat(room: "swift"))
/// for try await element in chat {
///     switch element {
///     case .connected: try await chat.send(.text("hello"))
///
///     case .message(let message): print(message)
///     }
/// }
/// ```
///
/// The connection is opened when an iteration starts. It is closed when the iterator is released or the WebSocket ends.
/// The WebSocket reconnects by itself; every connection begins with ``WebSocketElement/connected(_:)``. A slow reader
/// slows the server down, see ``WebSocketOptions``. A sequence can be read only once: a second iteration ends at once.
///
/// If an account was signed in when the sequence was created, connections are opened only while this account is signed
/// in. After its sign-out the sequence ends with a `NetworkError.Kind.cancelled` error.
public struct WebSocketSequence: AsyncSequence, Sendable {
    /// The elements of the sequence.
    public typealias Element = WebSocketElement
    /// The error that ended the WebSocket.
    public typealias Failure = NetworkError

    private let driver: WebSocketDriver
    private let isRead = ReadMark()

    init(_ driver: WebSocketDriver) { self.driver = driver }

    /// The current state of the WebSocket.
    public var state: StreamState { driver.streamState }

    /// The server's close frame of the last connection that ended. `nil` if no connection has ended, or if that
    /// connection was lost or closed by the client.
    public var closeFrame: WebSocketCloseFrame? { driver.closeFrame }

    /// Sends a message over the open connection. Returns when the system has accepted all of it. Only a message from
    /// the server can confirm that the sent message arrived.
    ///
    /// - Throws: `NetworkError.Kind.noNetwork` if no connection is open, since messages do not wait for the next
    ///   connection. `NetworkError.Kind.overloaded` if more than 16 MiB of messages are unsent.
    public func send(_ message: WebSocketMessage) async throws(NetworkError) { try await driver.send(message) }

    /// Closes the WebSocket with a closing handshake. The iteration returns the waiting messages, and then `nil`.
    ///
    /// - Parameters:
    ///   - code: The close code. ``WebSocketCloseCode/normal``, the default, replaces a code that can't be sent.
    ///   - reason: A text for the server's log, cut to 123 bytes. The default is empty.
    public func close(_ code: WebSocketCloseCode = .normal, reason: String = "") {
        driver.stop(WebSocketClose((code.isSendable ? code : .normal).number, reason))
    }

    /// Closes the connection until ``resume()``. Call this function when the app goes into the background.
    public func pause() { driver.pause() }

    /// Opens a paused WebSocket, and checks an open one. Call this function when the app comes to the foreground.
    public func resume() { driver.resume() }

    /// Starts the iteration. Only the first iterator receives messages.
    public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(driver: driver, isFirst: isRead.set()) }

    /// The iterator of a WebSocket sequence.
    public struct AsyncIterator: AsyncIteratorProtocol {
        fileprivate let driver: WebSocketDriver
        fileprivate let isFirst: Bool
        private var running: StreamTask?

        fileprivate init(driver: WebSocketDriver, isFirst: Bool) { (self.driver, self.isFirst) = (driver, isFirst) }

        /// Waits for the next element. Returns `nil` at the end of the WebSocket, and when the task is cancelled.
        ///
        /// - Throws: The error that ended the WebSocket, such as a refusal by the server.
        public mutating func next(
            isolation actor: isolated (any Actor)? = #isolation
        ) async throws(NetworkError) -> WebSocketElement? {
            guard isFirst else { return nil }
            if running == nil { running = StreamTask(Task { [driver] in await driver.run() }) }
            return try await driver.handoff.next()
        }
    }
}

extension NetworkLayer {
    /// Returns a WebSocket of an endpoint; see ``WebSocketSequence``.
    ///
    /// The handshake is a GET call of the endpoint that passes all stages of the layer. An `https` base URL of the
    /// service means `wss`. An `http` base URL, which the service has to allow, means `ws`.
    ///
    /// - Parameters:
    ///   - endpoint: The endpoint with the path, parameters and header fields of the handshake.
    ///   - options: The offered subprotocols and compression, the limits, and the rules of reconnection; see
    ///     ``WebSocketOptions`` for the defaults.
    ///   - randomness: Randomises delays. The default is the system's generator; a test passes a seeded one.
    public func webSocket<E: Endpoint>(
        _ endpoint: E, options: WebSocketOptions = WebSocketOptions(),
        randomness: any RandomNumberGenerator & Sendable = SystemRandomNumberGenerator()
    ) -> WebSocketSequence {
        webSocket(endpoint, options, randomness) { _ in }
    }

    func webSocket<E: Endpoint>(
        _ endpoint: E, _ options: WebSocketOptions, _ randomness: any RandomNumberGenerator & Sendable,
        onState: @escaping @Sendable (StreamState) -> Void
    ) -> WebSocketSequence {
        let (offer, account) = (options.offer, StreamAccount("WebSocket", of: E.service, on: self))
        let driver = WebSocketDriver(of: account, on: self, options, random: randomness, onState: onState) {
            [self] () async throws(NetworkError) in
            try await openWebSocket(endpoint, offering: offer, options: .standard)
        }
        return WebSocketSequence(driver)
    }
}
