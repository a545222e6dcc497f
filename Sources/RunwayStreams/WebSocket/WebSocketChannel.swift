public import Observation
public import Runway

/// Follows a WebSocket for a controller, and notifies it as its delegate, on the main actor.
///
/// ```swift
/// @MainActor final class ChatController: WebSocketChannelDelegate {
///     lazy var chat = WebSocketChannel(Chat(room: "swift"), on: network, delegate: self)
///     func appear() { chat.start() }
///
///     func webSocket(_ channel: any WebSocketChanneling, didReceive message: WebSocketMessage) { log.append(message) }
///     func webSocket(_ channel: any WebSocketChanneling, didConnect link: WebSocketLink) {
///         if link.number > 1 { reload() }
///     }
///     func webSocket(_ channel: any WebSocketChanneling, didEndWith error: NetworkError?) {}
/// }
/// ```
///
/// The delegate receives one message after the other; the next waits until the delegate has returned. When a channel is
/// released, its connection is closed. The channel is `Observable`, so that a SwiftUI view can show its state.
///
/// For code whose next step depends on the messages, use the sequence of
/// ``Runway/NetworkLayer/webSocket(_:options:randomness:)`` instead.
@MainActor @Observable
public final class WebSocketChannel<E: Endpoint>: WebSocketChanneling {
    /// The endpoint with the path, parameters and header fields of the handshake.
    public let endpoint: E
    /// The layer over which the WebSocket is opened.
    public let network: NetworkLayer
    /// The delegate that is notified of messages. Held weakly.
    public weak var delegate: (any WebSocketChannelDelegate)?
    /// The current state of the WebSocket.
    public private(set) var state = StreamState.idle
    /// The connection that was opened last; `nil` before the first one.
    public private(set) var link: WebSocketLink?
    /// The error that ended the WebSocket; `nil` if it has not ended, or ended without an error.
    public private(set) var error: NetworkError?
    /// The server's close frame of the last connection that ended. `nil` if no connection has ended, or if that
    /// connection was lost or closed by the client.
    public private(set) var closeFrame: WebSocketCloseFrame?
    /// The type of the WebSocket's endpoint.
    public var endpointType: any Endpoint.Type { E.self }

    private let options: WebSocketOptions
    private var messages: WebSocketSequence?
    private var reading: StreamTask?
    /// The number of starts. A late notification of an earlier start has a smaller number, and is ignored.
    private var startCount = 0

    /// Creates a WebSocket for a controller. Call ``start()`` to open it.
    ///
    /// - Parameters:
    ///   - endpoint: The endpoint with the path, parameters and header fields of the handshake.
    ///   - network: The layer over which the WebSocket is opened.
    ///   - delegate: Notified of messages; held weakly.
    ///   - options: The offered subprotocols and compression, the limits, and the rules of reconnection; see
    ///     ``WebSocketOptions`` for the defaults.
    public init(
        _ endpoint: E, on network: NetworkLayer, delegate: (any WebSocketChannelDelegate)? = nil,
        options: WebSocketOptions = WebSocketOptions()
    ) {
        self.endpoint = endpoint
        self.network = network
        self.delegate = delegate
        self.options = options
    }

    /// Opens the WebSocket. Does nothing if it is open.
    public func start() {
        guard reading == nil else { return }
        startCount += 1
        let start = startCount
        (error, closeFrame) = (nil, nil)
        state = .connecting
        let messages = network.webSocket(endpoint, options, SystemRandomNumberGenerator()) { [weak self] state in
            Task { @MainActor [weak self] in
                guard let self, startCount == start, reading != nil else { return }
                // The end is reported only when the channel can be started again.
                if case let state = self.messages?.state ?? state, state != .ended { self.state = state }
            }
        }
        self.messages = messages
        reading = StreamTask(Task { [weak self] in await Self.read(messages, start) { self } })
    }

    private static func read(
        _ messages: WebSocketSequence, _ start: Int, for channel: () -> WebSocketChannel<E>?
    ) async {
        var failure: NetworkError?
        do throws(NetworkError) {
            var iterator = messages.makeAsyncIterator()
            while let element = try await iterator.next() {
                guard let channel = channel(), channel.startCount == start, channel.reading != nil else { return }
                channel.land(element)
            }
        } catch {
            failure = error
        }
        channel()?.end(with: failure, start)
    }

    /// Sends a message over the open connection; see ``WebSocketSequence/send(_:)``.
    ///
    /// - Throws: `NetworkError.Kind.noNetwork` if no connection is open, since messages do not wait for the next
    ///   connection. `NetworkError.Kind.overloaded` if more than 16 MiB of messages are unsent.
    public func send(_ message: WebSocketMessage) async throws(NetworkError) {
        guard let messages else {
            throw NetworkError(
                .noNetwork, in: .transporting, "The WebSocket was not started; the message was not sent.",
                sending: .notSent)
        }
        try await messages.send(message)
    }

    /// Closes the WebSocket with a closing handshake. The delegate is not notified of the end.
    ///
    /// - Parameters:
    ///   - code: The close code. ``WebSocketCloseCode/normal``, the default, replaces a code that can't be sent.
    ///   - reason: A text for the server's log, cut to 123 bytes. The default is empty.
    public func stop(_ code: WebSocketCloseCode = .normal, reason: String = "") {
        guard reading != nil else { return }
        startCount += 1
        messages?.close(code, reason: reason)
        (messages, reading) = (nil, nil)
        state = .ended
    }

    /// Closes the connection until ``resume()``. Call this function when the app goes into the background.
    public func pause() { messages?.pause() }

    /// Opens a paused WebSocket, and checks an open one. Call this function when the app comes to the foreground.
    public func resume() { messages?.resume() }

    private func land(_ element: WebSocketElement) {
        switch element {
        case .message(let message): delegate?.webSocket(self, didReceive: message)
        case .connected(let link):
            (self.link, closeFrame) = (link, link.previousClose)
            delegate?.webSocket(self, didConnect: link)
        }
    }

    private func end(with error: NetworkError?, _ start: Int) {
        guard startCount == start, reading != nil else { return }
        closeFrame = messages?.closeFrame
        (messages, reading) = (nil, nil)
        state = .ended
        self.error = error
        delegate?.webSocket(self, didEndWith: error)
    }
}

/// A ``WebSocketChannel`` of any endpoint, as delegates receive it.
@MainActor
public protocol WebSocketChanneling: AnyObject {
    /// The type of the WebSocket's endpoint.
    var endpointType: any Endpoint.Type { get }
    /// The current state of the WebSocket.
    var state: StreamState { get }
    /// The connection that was opened last; `nil` before the first one.
    var link: WebSocketLink? { get }
    /// The error that ended the WebSocket; `nil` if it has not ended, or ended without an error.
    var error: NetworkError? { get }
    /// The server's close frame of the last connection that ended; `nil` if the server did not close it.
    var closeFrame: WebSocketCloseFrame? { get }
}

/// Receives the messages of WebSockets, on the main actor. One delegate may serve several WebSockets.
@MainActor
public protocol WebSocketChannelDelegate: AnyObject {
    /// Notifies the delegate of a message.
    func webSocket(_ channel: any WebSocketChanneling, didReceive message: WebSocketMessage)
    /// Notifies the delegate of a new connection. If it is not the first, messages may have been lost: reload the data
    /// that the app shows.
    func webSocket(_ channel: any WebSocketChanneling, didConnect link: WebSocketLink)
    /// Notifies the delegate that the WebSocket ended by itself and does not reconnect. `error` is `nil` if the server
    /// closed it with a normal close frame.
    func webSocket(_ channel: any WebSocketChanneling, didEndWith error: NetworkError?)
}
