import HTTPTypes
import NIOCore
import Runway

/// One handshake, from the dial to the response.
///
/// Unchecked: every variable is read and written on `eventLoop` alone, which ``begin(_:)`` and ``cancel(_:)`` hop to.
final class WebSocketOpening: @unchecked Sendable {
    /// The response, with the open WebSocket if there is one, and the record of the wire.
    typealias Outcome = (response: Result<Response, any Error>, wire: WireRecord)

    private let request: Request
    private let head: WireRequestHead
    private let offer: WebSocketOffer
    private let handshake: WebSocketHandshake
    private let configuration: TransportConfiguration
    private let dialer: Dialer
    private let eventLoop: any EventLoop

    private var continuation: CheckedContinuation<Outcome, Never>?
    private var dial: Dial?
    private var channel: (any Channel)?
    private var report: AddressReport?
    private var timer: Scheduled<Void>?
    private var wire = WireRecord()
    private let started = NIODeadline.now()
    private var sent: NIODeadline?
    private var cancellation: (any Error)?
    private var isOver = false

    /// - Throws: ``WireError/unusableURL(_:)`` or ``WebSocketProblem/invalidOffer(_:)``.
    init(
        _ request: Request, _ offer: WebSocketOffer, over dialer: Dialer, _ configuration: TransportConfiguration,
        on eventLoop: any EventLoop
    ) throws {
        self.request = request
        self.offer = offer
        self.dialer = dialer
        self.configuration = configuration
        self.eventLoop = eventLoop
        handshake = try WebSocketHandshake(offer, nonce: WebSocketHandshake.makeNonce())
        var plain = request
        plain.head.headerFields = handshake.fields(request.head.headerFields)
        // A refusal is read as it comes.
        if plain.head.headerFields[.acceptEncoding] == nil { plain.head.headerFields[.acceptEncoding] = "identity" }
        guard plain.head.method == .get, plain.body.byteCount == 0 else {
            throw WebSocketProblem.invalidOffer("its request is not a GET without a body")
        }
        head = try WireRequestHead(plain, isTransparent: configuration.isTransparent)
    }

    /// Starts the handshake. The continuation is resumed once, on the loop.
    func begin(_ continuation: CheckedContinuation<Outcome, Never>) {
        eventLoop.execute {
            self.continuation = continuation
            if let reason = self.cancellation { return self.fail(reason, sending: .notSent) }
            self.connect()
        }
    }

    /// Cancels the handshake, from any thread.
    func cancel(_ reason: any Error) {
        eventLoop.execute {
            if self.cancellation == nil { self.cancellation = reason }
            guard self.continuation != nil else { return }
            self.fail(reason, sending: self.sent == nil ? .notSent : .unknown)
            self.dial?.cancel()
            self.channel?.close(promise: nil)
        }
    }

    private func connect() {
        let dial = dialer.start(
            Origin(request.head), on: eventLoop, deadline: .now() + TimeAmount(configuration.connectTimeout))
        self.dial = dial
        dial.connection.assumeIsolated().whenComplete { result in
            self.dial = nil
            switch result {
            case .success(let dialed):
                // TLS passes on what came in the same read as the end of the handshake after it has reported that end.
                self.eventLoop.execute { self.shakeHands(over: dialed) }
            case .failure(let error): self.fail(error, sending: .notSent)
            }
        }
    }

    private func shakeHands(over dialed: DialedConnection) {
        guard !isOver else { return dialed.channel.close(promise: nil) }
        channel = dialed.channel
        report = dialed.report
        wire = ConnectionFacts(dialed).wire
        wire.isReused = false
        wire.queueing = Duration(.now() - started)
        let handler = WebSocketHandshakeHandler(handshake, head, configuration.wire) { [weak self] result in
            self?.ended(result, on: dialed.channel)
        }
        do {
            try dialed.channel.pipeline.syncOperations.addHandler(handler)
        } catch {
            dialed.channel.close(promise: nil)
            return fail(error, sending: .notSent)
        }
        let silence = min(configuration.idleTimeout, configuration.wire.firstByteTimeout ?? configuration.idleTimeout)
        timer = eventLoop.assumeIsolated().scheduleTask(in: TimeAmount(silence)) {
            self.report?.failed()
            self.fail(WireError.noFirstByte, sending: .unknown)
            self.channel?.close(promise: nil)
        }
        dialed.takeOver()
        guard !isOver else { return }
        sent = .now()
        handler.start(on: dialed.channel)
    }

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
        case .success(.refused(let head, let body)):
            channel.close(promise: nil)
            finish(.success(Response(head: head, body: .whole(RawData(body, response: head)))))
        case .success(.opened(let head, let outcome)): open(head, outcome, over: channel)
        }
    }

    private func open(_ head: HTTPResponse, _ outcome: WebSocketHandshake.Outcome, over channel: any Channel) {
        do {
            let connection = try NIOWebSocketConnection(over: channel, offer, outcome, to: request.head.authority)
            let handshake = try channel.pipeline.syncOperations.handler(type: WebSocketHandshakeHandler.self)
            channel.pipeline.syncOperations.removeHandler(handshake, promise: nil)
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
        timer?.cancel()
        continuation?.resume(returning: (result, wire))
        continuation = nil
    }
}
