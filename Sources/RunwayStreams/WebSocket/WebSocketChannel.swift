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
/// The delegate receives one message after the other; the next waits until it has returned. A channel that is released
/// closes its connection. The channel is `Observable`, so that a SwiftUI view can show its state. For code whose next
/// step depends on the messages, use the sequence of ``Runway/NetworkLayer/webSocket(_:options:randomness:)`` instead.
@MainActor @Observable
public final class WebSocketChannel<E: Endpoint>: WebSocketChanneling {
    /// The handshake's path, parameters and header fields.
    public let endpoint: E
    /// The layer that carries the WebSocket.
    public let network: NetworkLayer
    /// The delegate, which is notified of messages. Held weakly: keep a reference to it.
    public weak var delegate: (any WebSocketChannelDelegate)?
    /// The present state of the WebSocket.
    public private(set) var state = StreamState.idle
    /// The connection that was opened last; `nil` before the first.
    public private(set) var link: WebSocketLink?
    /// The error that ended the WebSocket; `nil` if it has not ended, or ended without an error.
    public private(set) var error: NetworkError?
    /// The server's close frame of the last ended connection; `nil` if that connection was lost or closed by this side,
    /// or if none has ended.
    public private(set) var closeFrame: WebSocketCloseFrame?
    /// The type of the WebSocket's endpoint.
    public var endpointType: any Endpoint.Type { E.self }

    private let options: WebSocketOptions
    private var messages: WebSocketSequence?
    private var reading: StreamTask?
    /// The number of starts, by which late notifications of an earlier start are recognised and ignored.
    private var startCount = 0

    /// Creates a WebSocket for a controller. ``start()`` opens it.
    ///
    /// - Parameters:
    ///   - endpoint: The path, parameters and header fields of the handshake.
    ///   - network: The layer that carries the WebSocket.
    ///   - delegate: Notified of messages; held weakly.
    ///   - options: The offer to the server, reconnection and limits; see ``WebSocketOptions`` for the defaults.
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
                // The end is shown when the channel can be started again.
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

    /// Sends a message on the open connection; see ``WebSocketSequence/send(_:)``.
    ///
    /// - Throws: `NetworkError.Kind.noNetwork` if no connection is open: a message does not wait for the next one;
    ///   `NetworkError.Kind.overloaded` beyond 16 MiB of unsent messages.
    public func send(_ message: WebSocketMessage) async throws(NetworkError) {
        guard let messages else {
            throw NetworkError(
                .noNetwork, in: .transporting, "The WebSocket was not started; the message was not sent.",
                sending: .notSent)
        }
        try await messages.send(message)
    }

    /// Closes the WebSocket in order. The delegate is not notified of the end.
    ///
    /// - Parameters:
    ///   - code: The reason as a code. The default is ``WebSocketCloseCode/normal``, which also replaces a code that
    ///     can't be sent.
    ///   - reason: A text for the server's log; only 123 bytes of it are sent. The default is empty.
    public func stop(_ code: WebSocketCloseCode = .normal, reason: String = "") {
        guard reading != nil else { return }
        startCount += 1
        messages?.close(code, reason: reason)
        (messages, reading) = (nil, nil)
        state = .ended
    }

    /// Closes the connection until ``resume()``: call it when the app goes into the background.
    public func pause() { messages?.pause() }

    /// Opens a paused WebSocket, and checks an open one: call it when the app comes to the foreground.
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

/// A WebSocket of any endpoint, as passed to delegates.
@MainActor
public protocol WebSocketChanneling: AnyObject {
    /// The type of the WebSocket's endpoint.
    var endpointType: any Endpoint.Type { get }
    /// The present state of the WebSocket.
    var state: StreamState { get }
    /// The connection that was opened last; `nil` before the first.
    var link: WebSocketLink? { get }
    /// The error that ended the WebSocket; `nil` if it has not ended, or ended without an error.
    var error: NetworkError? { get }
    /// The server's close frame of the last ended connection; `nil` if the server did not close it.
    var closeFrame: WebSocketCloseFrame? { get }
}

/// A delegate that is notified of the messages of WebSockets, on the main actor. It may serve several WebSockets.
@MainActor
public protocol WebSocketChannelDelegate: AnyObject {
    /// Called when a message arrived.
    func webSocket(_ channel: any WebSocketChanneling, didReceive message: WebSocketMessage)
    /// Called when a connection was opened. After the first one, messages may be missing: reload the data that the app
    /// shows.
    func webSocket(_ channel: any WebSocketChanneling, didConnect link: WebSocketLink)
    /// Called when the WebSocket ended by itself, and does not reconnect. `error` is `nil` if the server closed it in
    /// order.
    func webSocket(_ channel: any WebSocketChanneling, didEndWith error: NetworkError?)
}
