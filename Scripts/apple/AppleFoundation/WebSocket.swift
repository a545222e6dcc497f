import Synchronization

// Classes are unchecked Sendable since Apple declares them Sendable; what changes is guarded.

// developer.apple.com: URLSessionWebSocketDelegate. Its methods are optional there.
public protocol URLSessionWebSocketDelegate: URLSessionTaskDelegate {
    // developer.apple.com: urlSession(_:webSocketTask:didOpenWithProtocol:)
    func urlSession(
        _ session: URLSession, webSocketTask: URLSessionWebSocketTask, didOpenWithProtocol protocol: String?)
    // developer.apple.com: urlSession(_:webSocketTask:didCloseWith:reason:)
    func urlSession(
        _ session: URLSession, webSocketTask: URLSessionWebSocketTask,
        didCloseWith closeCode: URLSessionWebSocketTask.CloseCode, reason: Data?)
}

extension URLSession {
    // developer.apple.com: URLSession.webSocketTask(with:)
    public func webSocketTask(with request: URLRequest) -> URLSessionWebSocketTask {
        precondition(["ws", "wss"].contains(request.url?.scheme), "The URL of a WebSocket has the scheme ws or wss.")
        return added(URLSessionWebSocketTask(request, of: self))
    }
}

// developer.apple.com: URLSessionWebSocketTask
open class URLSessionWebSocketTask: URLSessionTask, @unchecked Sendable {
    // developer.apple.com: URLSessionWebSocketTask.Message
    public enum Message: Sendable {
        case data(Data)
        case string(String)
    }

    // developer.apple.com: URLSessionWebSocketTask.CloseCode. Any other number is a value, too, as of every enumeration from C.
    public struct CloseCode: RawRepresentable, Sendable, Equatable {
        public let rawValue: Int
        public init?(rawValue: Int) { self.rawValue = rawValue }
        private init(_ rawValue: Int) { self.rawValue = rawValue }
        public static let invalid = CloseCode(0)
        public static let normalClosure = CloseCode(1000)
        public static let goingAway = CloseCode(1001)
        public static let noStatusReceived = CloseCode(1005)
        public static let messageTooBig = CloseCode(1009)
    }

    private struct Guarded {
        var maximumMessageSize = 1 << 20
        var arrived: [Message] = []
        var receivers: [@Sendable (Result<Message, any Error>) -> Void] = []
        var isClosed = false
    }
    private let guarded = Mutex(Guarded())
    fileprivate let seen = AsyncStream.makeStream(of: FakeWebSocketEvent.self)

    // developer.apple.com: URLSessionWebSocketTask.maximumMessageSize. 1 MiB by default.
    open var maximumMessageSize: Int {
        get { guarded.withLock { $0.maximumMessageSize } }
        set { guarded.withLock { $0.maximumMessageSize = newValue } }
    }

    // developer.apple.com: URLSessionWebSocketTask.receive(completionHandler:)
    open func receive(completionHandler: @escaping @Sendable (Result<Message, any Error>) -> Void) {
        guarded.withLock { $0.receivers.append(completionHandler) }
        deliver()
    }

    // developer.apple.com: URLSessionWebSocketTask.send(_:completionHandler:)
    open func send(_ message: Message, completionHandler: @escaping @Sendable ((any Error)?) -> Void) {
        if isClosed { return completionHandler(POSIXError(.ENOTCONN)) }
        seen.continuation.yield(.message(message))
        completionHandler(nil)
    }

    // developer.apple.com: URLSessionWebSocketTask.sendPing(pongReceiveHandler:)
    open func sendPing(pongReceiveHandler: @escaping @Sendable ((any Error)?) -> Void) {
        if isClosed { return pongReceiveHandler(POSIXError(.ENOTCONN)) }
        seen.continuation.yield(.ping(pongReceiveHandler))
    }

    // developer.apple.com: URLSessionWebSocketTask.cancel(with:reason:)
    open func cancel(with closeCode: CloseCode, reason: Data?) {
        if !isClosed { seen.continuation.yield(.close(closeCode.rawValue, reason)) }
    }

    override open func cancel() {
        super.cancel()
        endMessages()
    }

    private var isClosed: Bool { guarded.withLock { $0.isClosed } }

    fileprivate func arrive(_ message: Message) {
        guarded.withLock { $0.arrived.append(message) }
        deliver()
    }

    /// No message comes any more.
    fileprivate func endMessages() {
        guarded.withLock { $0.isClosed = true }
        deliver()
        seen.continuation.yield(.end)
    }

    private func deliver() {
        while true {
            let next = guarded.withLock { state -> (@Sendable () -> Void)? in
                guard !state.receivers.isEmpty, !state.arrived.isEmpty || state.isClosed else { return nil }
                let receiver = state.receivers.removeFirst()
                guard let message = state.arrived.first else {
                    return { receiver(.failure(POSIXError(.ENOTCONN))) }
                }
                state.arrived.removeFirst()
                let byteCount =
                    switch message {
                    case .data(let data): data.count
                    case .string(let text): text.utf8.count
                    }
                let isTooLarge = byteCount > state.maximumMessageSize
                return { receiver(isTooLarge ? .failure(POSIXError(.EMSGSIZE)) : .success(message)) }
            }
            guard let next else { return }
            next()
        }
    }
}

/// What the server of a fake WebSocket sees.
public enum FakeWebSocketEvent: Sendable {
    case message(URLSessionWebSocketTask.Message)
    /// A ping, and what its pong calls.
    case ping(@Sendable ((any Error)?) -> Void)
    case close(Int, Data?)
    /// The task ended.
    case end
}

/// The server of a task that is a WebSocket.
extension FakeExchange {
    private var webSocket: URLSessionWebSocketTask { task as! URLSessionWebSocketTask }

    /// What the client does, in order.
    public var events: AsyncStream<FakeWebSocketEvent> { webSocket.seen.stream }
    public var maximumMessageSize: Int { webSocket.maximumMessageSize }

    /// Completes the handshake.
    public func open(_ subprotocol: String? = nil, _ fields: [String: String] = [:]) {
        let task = webSocket
        guard let session = task.session else { return }
        session.delegateQueue.addOperation { [request] in
            task.response = HTTPURLResponse(
                url: request.url!, statusCode: 101, httpVersion: "HTTP/1.1", headerFields: fields)
            (session.delegate as? any URLSessionWebSocketDelegate)?
                .urlSession(session, webSocketTask: task, didOpenWithProtocol: subprotocol)
        }
    }

    /// Refuses the handshake: the task ends with an error, and has the response.
    public func refuse(_ status: Int, _ fields: [String: String] = [:]) async {
        task.response = HTTPURLResponse(
            url: request.url!, statusCode: status, httpVersion: "HTTP/1.1", headerFields: fields)
        await complete(URLError(.badServerResponse))
    }

    /// Sends a message.
    public func push(_ message: URLSessionWebSocketTask.Message) { webSocket.arrive(message) }

    /// Sends a close frame, and ends the task as the system does after it.
    public func close(_ code: Int, _ reason: String? = nil) async {
        let task = webSocket
        guard let session = task.session, let code = URLSessionWebSocketTask.CloseCode(rawValue: code) else { return }
        // Who receives fails first: nothing says that the delegate hears of the close frame before.
        task.endMessages()
        session.delegateQueue.addOperation {
            (session.delegate as? any URLSessionWebSocketDelegate)?
                .urlSession(session, webSocketTask: task, didCloseWith: code, reason: reason.map { Data($0.utf8) })
        }
        await complete()
    }

    /// Loses the connection.
    public func lose() async {
        webSocket.endMessages()
        await complete(URLError(.networkConnectionLost))
    }
}
