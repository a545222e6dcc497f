public import Observation
public import Runway

/// Follows a WebSocket for a controller, and notifies it as its delegate, on the main actor.
///
/// ```swift
/// @MainActor final class ChatController: WebSocketChannelDelegate {
///     lazy var chat = WebSocketChannel(Chat(room: "swift"), on: network, delegate: self)
///     func appear() { chat.start() }
///     func webSocket(_ channel: any WebSocketChanneling, didReceive message: WebSocketMessage) { log.append(message) }
///     func webSocket(_ channel: any WebSocketChanneling, didConnect link: WebSocketLink) {
///         if link.number > 1 { reload() }
///     }
///     func webSocket(_ channel: any WebSocketChanneling, didEndWith error: NetworkError?) {}
/// }
/// ```
///
/// The delegate receives one message after the other; the next waits until it has returned. A channel that is released
/// closes its connection. It is `Observable`, so that a SwiftUI view can show its state. Code whose next step depends
/// on the messages uses the sequence of ``Runway/NetworkLayer/webSocket(_:options:randomness:)`` instead.
@MainActor @Observable
public final class WebSocketChannel<E: Endpoint>: WebSocketChanneling {
    /// The handshake's path, parameters and header fields.
    public let endpoint: E
    /// The layer that carries the WebSocket.
    public let network: NetworkLayer
    /// Notified of messages. Held weakly: keep a reference to it.
    public weak var delegate: (any WebSocketChannelDelegate)?
    /// What the WebSocket is doing.
    public private(set) var state = StreamState.idle
    /// The connection that was opened last; `nil` before the first.
    public private(set) var link: WebSocketLink?
    /// The error with which the WebSocket ended; `nil` if it has not, or ended without one.
    public private(set) var error: NetworkError?
    /// The close frame with which the server closed the last connection that has ended; `nil` if that was lost or
    /// closed by this side, and before the end of the first.
    public private(set) var closeFrame: WebSocketCloseFrame?
    /// The endpoint that the WebSocket is of.
    public var endpointType: any Endpoint.Type { E.self }

    private let options: WebSocketOptions
    private var messages: WebSocketSequence?
    private var reading: StreamTask?
    /// Counts the starts, so that nothing of an earlier one is shown.
    private var startCount = 0

    /// Connects a controller with a WebSocket. It is opened by ``start()``.
    ///
    /// - Parameters:
    ///   - endpoint: The path, parameters and header fields of the handshake.
    ///   - network: The layer that carries it.
    ///   - delegate: Notified of messages; held weakly.
    ///   - options: What is offered, and how it reconnects; see ``WebSocketOptions`` for the defaults.
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
    /// - Throws: `NetworkError.Kind.noNetwork` if no connection is open: nothing waits for the next one;
    ///   `NetworkError.Kind.overloaded` beyond ``WebSocketOptions/maximumUnsentByteCount``.
    public func send(_ message: WebSocketMessage) async throws(NetworkError) {
        guard let messages else {
            throw NetworkError(
                .noNetwork, in: .transporting, "The WebSocket was not started; the message was not sent.",
                sending: .notSent)
        }
        try await messages.send(message)
    }

    /// Closes the WebSocket in order. The delegate is not notified of it.
    ///
    /// - Parameters:
    ///   - code: Why. The default is ``WebSocketCloseCode/normal``, also in the place of a code that can't be sent.
    ///   - reason: A text for the server's log, of which 123 bytes are sent. The default is empty.
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

/// A WebSocket of any endpoint, as delegates see it.
@MainActor
public protocol WebSocketChanneling: AnyObject {
    /// The endpoint that the WebSocket is of.
    var endpointType: any Endpoint.Type { get }
    /// What the WebSocket is doing.
    var state: StreamState { get }
    /// The connection that was opened last; `nil` before the first.
    var link: WebSocketLink? { get }
    /// The error with which the WebSocket ended; `nil` if it has not, or ended without one.
    var error: NetworkError? { get }
    /// The close frame with which the server closed the last connection that has ended; `nil` if it did not.
    var closeFrame: WebSocketCloseFrame? { get }
}

/// Notified of the messages of WebSockets, on the main actor. One delegate may serve several.
@MainActor
public protocol WebSocketChannelDelegate: AnyObject {
    /// A message came.
    func webSocket(_ channel: any WebSocketChanneling, didReceive message: WebSocketMessage)
    /// A connection is open. If it is not the first, messages may be missing: load what the app shows anew.
    func webSocket(_ channel: any WebSocketChanneling, didConnect link: WebSocketLink)
    /// The WebSocket ended by itself: with an error, or `nil` if the server closed it in order. It does not reconnect.
    func webSocket(_ channel: any WebSocketChanneling, didEndWith error: NetworkError?)
}
