import NIOCore
import NIOHPACK
import NIOHTTP2
import Runway

/// The streams of a connection that carry exchanges.
///
/// The connection passes on the server's frames. Each stream occupies a slot of the pool until it ends.
final class HTTP2Streams {
    private let id: ConnectionID
    private let pool: OriginPool
    private let sender: HTTP2Sender
    private let windows: HTTP2ReceiveWindows
    private var streams: [HTTP2StreamID: HTTP2Stream] = [:]

    init(of id: ConnectionID, in pool: OriginPool, _ sender: HTTP2Sender, _ windows: HTTP2ReceiveWindows) {
        (self.id, self.pool) = (id, pool)
        (self.sender, self.windows) = (sender, windows)
    }

    var isEmpty: Bool { streams.isEmpty }

    /// Whether every stream is long-lived, so that silence does not mean a lost server.
    var mayBeSilent: Bool { streams.values.allSatisfy(\.mayBeSilent) }

    var sendWindows: some Collection<HTTP2SendWindow> { streams.values.lazy.map(\.sendWindow) }

    subscript(_ id: HTTP2StreamID) -> HTTP2Stream? { streams[id] }

    private func stream(of exchange: Exchange) -> HTTP2Stream? {
        let stream = streams[HTTP2StreamID(exchange.streamNumber)]
        return stream?.exchange === exchange ? stream : nil
    }

    /// Removes all streams at the end of the connection, and returns them in order of stream number.
    func takeAll() -> [HTTP2Stream] {
        let all = streams.values.sorted { $0.id < $1.id }
        streams = [:]
        for stream in all { stream.close() }
        return all
    }

    /// Fails the exchanges for which the server was silent for too long, and records the failures of its address.
    ///
    /// - Returns: The instant at which the next exchange will have waited for too long; `distantFuture` if there is no
    ///   other exchange.
    func failSilent(_ limits: SilenceLimits, at now: NIODeadline, reportingTo report: AddressReport?) -> NIODeadline {
        var next = NIODeadline.distantFuture
        for stream in Array(streams.values) {
            if windows.isHeldByReaders { stream.lastProgress = now }
            let (due, error) = stream.silenceLimit(limits, now: now)
            if now >= due {
                report?.failed()
                fail(stream, error)
            } else {
                next = min(next, due)
            }
        }
        return next
    }
}

extension HTTP2Streams {
    func send(_ exchange: Exchange, _ head: HPACKHeaders, on id: HTTP2StreamID, now: NIODeadline) {
        let stream = HTTP2Stream(id, exchange, window: windows.streamWindow, now: now)
        exchange.streamNumber = Int(id)
        streams[id] = stream
        exchange.noteVersion("HTTP/2")
        sender.sendRequest(head, on: stream)
    }

    func sendPart(_ part: [UInt8], of exchange: Exchange, promise: EventLoopPromise<Void>) {
        guard let stream = stream(of: exchange), !stream.isRequestAbandoned else {
            return promise.fail(WireError.closed)
        }
        sender.sendPart(part, on: stream, promise: promise)
    }

    func sendEnd(of exchange: Exchange) {
        guard let stream = stream(of: exchange), !stream.isRequestAbandoned else { return }
        sender.sendEnd(on: stream)
    }

    func cancel(_ exchange: Exchange) {
        guard let stream = stream(of: exchange) else { return }
        reset(stream, .cancel)
        pool.ended(id)
    }

    /// Records that the reader of a response consumed bytes.
    func consumed(_ byteCount: Int, of exchange: Exchange) {
        if let stream = stream(of: exchange) {
            stream.unreadByteCount -= byteCount
            stream.lastProgress = .now()
            openWindow(of: stream)
        }
        windows.readersConsumed()
    }

    private func openWindow(of stream: HTTP2Stream) {
        stream.window = windows.open(stream.id, left: stream.window, unread: stream.unreadByteCount)
    }
}

extension HTTP2Streams {
    func receive(_ payload: HTTP2Frame.FramePayload.Headers, on id: HTTP2StreamID, at now: NIODeadline) {
        guard let stream = streams[id] else { return }
        stream.lastProgress = now
        do {
            switch try stream.receive(payload, upTo: pool.configuration.wire.maximumFieldCount) {
            case .none: break
            case .startsBody: sender.startBody(stream)
            case .failsExpectation:
                reset(stream, .cancel)
                stream.exchange.expectationFailed()
                pool.ended(self.id)
            case .ends: try complete(stream)
            }
        } catch {
            fail(stream, error, error is WireError ? .protocolError : .cancel)
        }
    }

    func receive(_ payload: HTTP2Frame.FramePayload.Data, on id: HTTP2StreamID, at now: NIODeadline) {
        guard let stream = streams[id], case .byteBuffer(let part) = payload.data else { return }
        stream.lastProgress = now
        do {
            try stream.receive(part)
            if payload.endStream { try complete(stream) }
        } catch {
            fail(stream, error, error is WireError ? .protocolError : .cancel)
        }
    }

    /// Handles the end of a stream's response.
    ///
    /// - Throws: ``WireError/malformed(_:)`` if the response is shorter than its Content-Length.
    private func complete(_ stream: HTTP2Stream) throws(WireError) {
        try stream.checkLength()
        if stream.isRequestSent { remove(stream) } else { reset(stream, .cancel) }
        stream.exchange.receiveEnd()
        pool.ended(id)
    }

    func receiveReset(_ code: NIOHTTP2.HTTP2ErrorCode, on id: HTTP2StreamID) {
        guard let stream = streams[id] else { return }
        let error = WireError.reset(code)
        switch code {
        case .refusedStream: refused(stream, error)
        case .http11Required:
            pool.requireHTTP1()
            refused(stream, error)
        // With other codes, the server may have processed the request (RFC 9113 §8.7).
        default: end(stream, error)
        }
    }

    /// Handles a GOAWAY: the server will not process streams with numbers above `last`.
    func receiveGoAway(_ last: HTTP2StreamID, _ code: NIOHTTP2.HTTP2ErrorCode) {
        // Requests are not resent immediately if the server wants fewer of them; the layer may retry after a backoff.
        for stream in streams.values.filter({ $0.id > last }).sorted(by: { $0.id < $1.id }) {
            if code == .enhanceYourCalm {
                remove(stream)
                stream.exchange.finish(failing: ExchangeFailure(WireError.goneAway(code)))
                pool.ended(id)
            } else {
                refused(stream, .goneAway(code))
            }
        }
    }

    /// Applies a WINDOW_UPDATE of the server to a stream. `initialSize` is the initial window size of all streams.
    func receive(windowUpdate increment: Int, on id: HTTP2StreamID, initialSize: Int) {
        guard let stream = streams[id] else { return }
        do throws(HTTP2Violation) {
            try stream.sendWindow.grant(increment, initialSize: initialSize)
        } catch {
            fail(stream, WireError.malformed(error.reason), error.code)
        }
    }

    /// Handles a new size of a stream's receive window.
    func windowChanged(of stream: HTTP2Stream, left: Int) {
        stream.window = left
        openWindow(of: stream)
    }

    /// Resets a stream because of an error.
    func fail(_ stream: HTTP2Stream, _ error: any Error, _ code: NIOHTTP2.HTTP2ErrorCode = .cancel) {
        reset(stream, code)
        stream.exchange.failed(error)
        pool.ended(id)
    }

    /// Ends a stream that was closed by the server, or because of an error of the server.
    func end(_ stream: HTTP2Stream, _ error: any Error) {
        remove(stream)
        stream.exchange.failed(error)
        pool.ended(id)
    }

    /// Handles a stream whose request the server did not process. The exchange may move to another connection; if its
    /// response has begun, the exchange fails.
    private func refused(_ stream: HTTP2Stream, _ error: WireError) {
        remove(stream)
        stream.exchange.lost(error, isUnprocessed: !stream.exchange.hasResponse)
        pool.ended(id)
    }

    /// Resets a stream that the server has not closed.
    private func reset(_ stream: HTTP2Stream, _ code: NIOHTTP2.HTTP2ErrorCode) {
        remove(stream)
        sender.write(stream.id, .rstStream(code))
        sender.flushSoon()
    }

    /// Removes a stream. The connection then no longer carries the stream's exchange.
    private func remove(_ stream: HTTP2Stream) {
        streams[stream.id] = nil
        windows.forget(stream.id)
        stream.close()
    }
}
