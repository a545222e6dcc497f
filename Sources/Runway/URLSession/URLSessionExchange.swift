import Foundation
import HTTPTypes
import Synchronization

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// One request and its response over one task of a session.
///
/// The session's delegate appends the received parts, and one reader consumes them. ``stop(_:)`` resumes the reader at
/// once, before the task has ended.
final class URLSessionExchange: Sendable {
    private enum Milestone { case head, part, end }

    private struct State {
        var head: HTTPResponse?
        var omittedFields: [HTTPField.Name] = []
        var isDecoded = false
        var parts: [[UInt8]] = []
        var unreadByteCount = 0
        var isSuspended = false
        /// The result of the exchange; `nil` before its end.
        var end: Result<Void, any Error>?
        var waiter: (milestone: Milestone, continuation: CheckedContinuation<Void, Never>)?

        func has(_ milestone: Milestone) -> Bool {
            if end != nil { return true }
            switch milestone {
            case .head: return head != nil
            case .part: return !parts.isEmpty
            case .end: return false
            }
        }
    }

    private let task: URLSessionDataTask
    private let request: Request
    private let flight: Flight
    private let upload: Upload?
    private let maximumBufferedByteCount: Int
    /// Guards the received parts and events, and the waiting reader.
    private let state = Mutex(State())

    init(
        _ task: URLSessionDataTask, for request: Request, in flight: Flight, _ upload: Upload?,
        maximumBufferedByteCount: Int
    ) {
        self.task = task
        self.request = request
        self.flight = flight
        self.upload = upload
        self.maximumBufferedByteCount = maximumBufferedByteCount
    }

    // MARK: The reader's side

    func start() { task.resume() }

    /// Returns the response, whole or as a stream, depending on the request's delivery.
    func response() async throws -> Response {
        switch request.delivery {
        case .whole:
            await wait(for: .end)
            let (head, omittedFields, isDecoded, parts) = try state.withLock { state in
                try state.end?.get()
                return (state.head, state.omittedFields, state.isDecoded, state.parts)
            }
            guard let head else { throw URLError(.badServerResponse) }
            var response = Response(
                head: head, body: .whole(RawData(parts.count == 1 ? parts[0] : Array(parts.joined()), response: head)))
            response.isDecoded = isDecoded
            response.omittedFields = omittedFields
            return response
        case .streamed:
            await wait(for: .head)
            let (head, omittedFields, isDecoded, end) = state.withLock {
                ($0.head, $0.omittedFields, $0.isDecoded, $0.end)
            }
            guard let head else {
                try end?.get()
                throw URLError(.badServerResponse)
            }
            let (authority, lease) = (request.head.authority, ExchangeLease(self))
            var response = Response(
                head: head,
                body: .stream(
                    BodyStream {
                        {
                            do {
                                return try await lease.exchange.nextPart()
                            } catch {
                                throw NetworkError(session: error, from: authority)
                            }
                        }
                    }))
            response.isDecoded = isDecoded
            response.omittedFields = omittedFields
            return response
        }
    }

    private func nextPart() async throws -> [UInt8]? {
        await wait(for: .part)
        return try state.withLock { state in
            guard !state.parts.isEmpty else {
                try state.end?.get()
                return nil
            }
            let part = state.parts.removeFirst()
            state.unreadByteCount -= part.count
            if state.isSuspended, state.unreadByteCount <= maximumBufferedByteCount / 2 {
                state.isSuspended = false
                // The task is resumed and suspended while the lock is held. Otherwise these calls could arrive in the
                // wrong order.
                task.resume()
            }
            return part
        }
    }

    /// Ends the exchange at once with an error, unless it has ended.
    func stop(_ error: any Error) {
        guard end(error) else { return }
        upload?.stop()
        task.cancel()
    }

    private func wait(for milestone: Milestone) async {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isReady = state.withLock { state in
                    if state.has(milestone) { return true }
                    state.waiter = (milestone, continuation)
                    return false
                }
                if isReady { continuation.resume() }
            }
        } onCancel: {
            stop(CancellationError())
        }
    }

    // MARK: The session's side

    func receive(_ response: HTTPURLResponse) {
        let (head, omittedFields, isDecoded) = HTTPResponse.reading(response)
        if case .whole(let maximumByteCount) = request.delivery, !isDecoded, request.head.method != .head,
            response.expectedContentLength > Int64(maximumByteCount)
        {
            return stop(BodyTooLarge(limit: maximumByteCount))
        }
        change { state in
            state.head = head
            state.omittedFields = omittedFields
            state.isDecoded = isDecoded
        }
    }

    func receive(_ data: Data) {
        let part = Array(data)
        guard !part.isEmpty else { return }
        let byteCount = change { state in
            guard state.end == nil else { return 0 }
            state.parts.append(part)
            state.unreadByteCount += part.count
            #if canImport(Darwin)
                if request.delivery == .streamed, state.unreadByteCount > maximumBufferedByteCount, !state.isSuspended {
                    state.isSuspended = true
                    task.suspend()
                }
            #endif
            return state.unreadByteCount
        }
        switch request.delivery {
        case .whole(let maximumByteCount):
            if byteCount > maximumByteCount { stop(BodyTooLarge(limit: maximumByteCount)) }
        case .streamed:
            #if canImport(FoundationNetworking)
                if byteCount > maximumBufferedByteCount { stop(ReaderTooSlow(limit: maximumBufferedByteCount)) }
            #endif
        }
    }

    func finish(_ error: (any Error)?) {
        end(error)
        upload?.finish()
    }

    /// Ends the exchange. Returns `false` if it had already ended.
    @discardableResult
    private func end(_ error: (any Error)?) -> Bool {
        let hasSent = task.countOfBytesSent > 0
        let result: Result<Void, any Error> =
            error.map { .failure(hasSent ? FailedAfterSending(error: $0) : $0) } ?? .success(())
        return change { state in
            guard state.end == nil else { return false }
            state.end = result
            return true
        }
    }

    /// Changes the state, and resumes the reader if the event that it waits for has happened.
    @discardableResult
    private func change<Value: Sendable>(_ change: (inout State) -> Value) -> Value {
        let (value, waiter) = state.withLock { state -> (Value, CheckedContinuation<Void, Never>?) in
            let value = change(&state)
            guard let waiter = state.waiter, state.has(waiter.milestone) else { return (value, nil) }
            state.waiter = nil
            return (value, waiter.continuation)
        }
        waiter?.resume()
        return value
    }

    #if canImport(Darwin)
        /// Returns a stream of the request's body for one transmission.
        func bodyStream() -> InputStream? { upload?.start { [weak self] error in self?.stop(error) } }

        /// Passes an interim response (1xx) to the request's handler.
        func receive(interim response: HTTPURLResponse) {
            request.onInterim?(HTTPResponse.reading(response).head, request.head)
        }

        func note(_ metrics: URLSessionTaskMetrics) {
            guard let last = metrics.transactionMetrics.last else { return }
            if let version = last.httpVersion { flight.noteHTTPVersion(version, of: request) }
            flight.noteWire(WireRecord(last), of: request)
        }
    #endif
}

/// Thrown if the reader of a streamed response is too slow, on a system whose tasks can't be paused.
struct ReaderTooSlow: Error {
    let limit: Int
}

/// Stops an exchange when the last reader of its stream is released.
private final class ExchangeLease: Sendable {
    let exchange: URLSessionExchange
    init(_ exchange: URLSessionExchange) { self.exchange = exchange }
    deinit { exchange.stop(CancellationError()) }
}
