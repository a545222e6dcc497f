import HTTPTypes
import NIOCore
import Runway

/// One handshake: on a new connection, from the dial to the response, or on a stream of an open connection.
///
/// Unchecked: every variable is read and written only on `eventLoop`. ``begin(_:)`` and ``cancel(_:)`` switch to it.
final class WebSocketOpening: @unchecked Sendable {
    typealias Outcome = (response: Result<Response, any Error>, wire: WireRecord)

    private let request: WebSocketRequest
    private let authority: String?
    private let origin: Origin
    private let configuration: TransportConfiguration
    private let dialer: Dialer
    /// The pool whose shared connection may carry the WebSocket; `nil` if the origin has no pool.
    private let lease: PoolLease?
    private let eventLoop: any EventLoop
    /// Called with the HTTP version as soon as it is known.
    private let onVersion: @Sendable (String) -> Void

    private var continuation: CheckedContinuation<Outcome, Never>?
    private var dial: Dial?
    private var channel: (any Channel)?
    private var handler: (any RemovableChannelHandler)?
    private var report: AddressReport?
    private var timer: Scheduled<Void>?
    private var wire = WireRecord()
    private let started = NIODeadline.now()
    private var sent: NIODeadline?
    private var cancellation: (any Error)?
    private var isOver = false

    /// Prepares a handshake.
    ///
    /// - Parameters:
    ///   - request: The request with the offer of a WebSocket.
    ///   - target: The head of the layer's request.
    ///   - dialer: Establishes a separate HTTP/1.1 connection.
    ///   - lease: The pool whose shared connection may carry the WebSocket; `nil` if the origin has no pool.
    ///   - configuration: The configuration of the transport.
    ///   - eventLoop: The event loop of a separate connection.
    ///   - onVersion: Called with the HTTP version.
    init(
        _ request: WebSocketRequest, to target: HTTPRequest, over dialer: Dialer, or lease: PoolLease?,
        _ configuration: TransportConfiguration, on eventLoop: any EventLoop,
        onVersion: @escaping @Sendable (String) -> Void
    ) {
        self.request = request
        authority = target.authority
        origin = Origin(target)
        self.dialer = dialer
        self.lease = lease
        self.configuration = configuration
        self.eventLoop = lease?.pool.eventLoop ?? eventLoop
        self.onVersion = onVersion
    }

    /// Starts the handshake. The continuation is resumed once, on the event loop.
    func begin(_ continuation: CheckedContinuation<Outcome, Never>) {
        eventLoop.execute {
            self.continuation = continuation
            if let reason = self.cancellation { return self.fail(reason, sending: .notSent) }
            if !self.beginOnStream() { self.connect() }
        }
    }

    /// Cancels the handshake. Callable from any thread.
    func cancel(_ reason: any Error) {
        eventLoop.execute {
            if self.cancellation == nil { self.cancellation = reason }
            guard self.continuation != nil else { return }
            self.fail(reason, sending: self.sent == nil ? .notSent : .unknown)
            self.dial?.cancel()
            self.channel?.close(promise: nil)
        }
    }
}

/// The two ways to a response: over an HTTP/2 stream and over a separate connection. The functions run on the event
/// loop.
extension WebSocketOpening {
    /// Requests the WebSocket on a stream of the pool's connection. Returns `false` if no connection can carry it.
    private func beginOnStream() -> Bool {
        guard let lease, let head = request.streamHead,
            let (channel, facts) = lease.pool.openTunnel(head, to: WebSocketRequest.protocolName), channel.isActive
        else { return false }
        // The lease must last until the stream ends.
        channel.closeFuture.whenComplete { _ in withExtendedLifetime(lease) {} }
        onVersion("HTTP/2")
        let handler = WebSocketStreamHandler(request.handshake) { [weak self] result in
            self?.streamEnded(result, on: channel)
        }
        wait(on: channel, facts, isReused: true)
        do {
            try channel.pipeline.syncOperations.addHandler(handler)
            self.handler = handler
            sent = .now()
        } catch {
            channel.close(promise: nil)
            fail(error, sending: .unknown)
        }
        return true
    }

    /// Ends the use of the stream. The handshake continues over a separate connection in two cases: the server is
    /// closing the connection and certainly did not process the stream, or it requires HTTP/1.1 (RFC 9113 §7).
    private func streamEnded(
        _ result: Result<WebSocketHandshakeHandler.Outcome, any Error>, on channel: any Channel
    ) {
        guard case .failure(let error as WireError) = result, !isOver,
            error.sending == .notSent || error.requiresHTTP1
        else { return ended(result, on: channel) }
        timer?.cancel()
        (self.channel, handler, sent) = (nil, nil, nil)
        connect()
    }

    private func connect() {
        onVersion("HTTP/1.1")
        let dial = dialer.start(
            origin, on: eventLoop, deadline: .now() + TimeAmount(configuration.connectTimeout), carrying: .anyProtocol)
        self.dial = dial
        dial.connection.assumeIsolated().whenComplete { result in
            self.dial = nil
            switch result {
            case .success(let dialed):
                // The handshake starts in a later turn of the event loop, since TLS passes on remaining bytes of the
                // read only after it has reported the end of its own handshake.
                self.eventLoop.execute { self.shakeHands(over: dialed) }
            case .failure(let error): self.fail(error, sending: .notSent)
            }
        }
    }

    private func shakeHands(over dialed: DialedConnection) {
        guard !isOver else { return dialed.channel.close(promise: nil) }
        let handler = WebSocketHandshakeHandler(request.handshake, request.head, configuration.wire) {
            [weak self] result in
            self?.ended(result, on: dialed.channel)
        }
        do {
            try dialed.channel.pipeline.syncOperations.addHandler(handler)
            self.handler = handler
        } catch {
            dialed.channel.close(promise: nil)
            return fail(error, sending: .notSent)
        }
        wait(on: dialed.channel, ConnectionFacts(dialed), isReused: false)
        dialed.takeOver()
        dialed.channel.afterReading {
            guard !self.isOver else { return }
            self.sent = .now()
            handler.start(on: dialed.channel)
        }
    }

    /// Waits for the response, with the same timeouts as for any request.
    private func wait(on channel: any Channel, _ facts: ConnectionFacts, isReused: Bool) {
        self.channel = channel
        report = facts.report
        wire = facts.wire(isReused: isReused)
        wire.queueing = Duration(.now() - started)
        let silence = min(configuration.idleTimeout, configuration.wire.firstByteTimeout ?? configuration.idleTimeout)
        timer = eventLoop.assumeIsolated().scheduleTask(in: TimeAmount(silence)) {
            self.report?.failed()
            self.fail(WireError.noFirstByte, sending: .unknown)
            self.channel?.close(promise: nil)
        }
    }
}

/// Ends the handshake with a WebSocket or an error, on the event loop.
extension WebSocketOpening {
    private func ended(_ result: Result<WebSocketHandshakeHandler.Outcome, any Error>, on channel: any Channel) {
        guard !isOver else { return }
        if let sent {
            wire.waiting = Duration(.now() - sent)
            if case .success = result { report?.responded(after: Duration(.now() - sent)) }
        }
        switch result {
        case .failure(let error):
            channel.close(promise: nil)
            fail(error, sending: error as? WireError == .unsolicited ? .notSent : .unknown)
        case .success(.refused(let refusal)):
            channel.close(promise: nil)
            finish(
                .success(
                    Response(head: refusal.head, body: .whole(RawData(refusal.body, response: refusal.head)))))
        case .success(.opened(let head, let outcome)): open(head, outcome, over: channel)
        }
    }

    private func open(_ head: HTTPResponse, _ outcome: WebSocketHandshake.Outcome, over channel: any Channel) {
        do {
            let connection = try NIOWebSocketConnection(over: channel, request.offer, outcome, to: authority)
            if let handler { channel.pipeline.syncOperations.removeHandler(handler, promise: nil) }
            var response = Response(head: head, body: .whole(RawData([], response: head)))
            response.webSocket = connection
            finish(.success(response))
        } catch {
            channel.close(promise: nil)
            fail(error, sending: .sent)
        }
    }

    private func fail(_ error: any Error, sending: SendState) {
        finish(.failure(ExchangeFailure(cause: error, sending: sending)))
    }

    private func finish(_ result: Result<Response, any Error>) {
        guard !isOver else { return }
        isOver = true
        handler = nil
        timer?.cancel()
        continuation?.resume(returning: (result, wire))
        continuation = nil
    }
}
