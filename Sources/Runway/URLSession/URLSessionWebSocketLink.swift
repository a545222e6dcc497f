#if canImport(Darwin)
    import Foundation
    import HTTPTypes
    import Synchronization

    /// One task of a session that is a WebSocket, from the handshake to its end. It connects the reports of the
    /// session's delegate with the tasks that wait for them.
    final class URLSessionWebSocketLink: Sendable {
        private struct State {
            /// The response to the handshake; `nil` before it arrives. `agreement` contains the subprotocol and the
            /// extensions that the response accepts.
            var head: HTTPResponse?
            var agreement: WebSocketAgreement?
            /// The result of the WebSocket; `nil` before its end.
            var end: Result<Void, any Error>?
            /// Received messages that were not read because their reader was cancelled.
            var received: [WebSocketPayload] = []
            var isReceiving = false
            /// Whether no further message may be received, not even one that arrived before the end.
            var isStopped = false
            /// The reason why receiving failed. When the task ends, its result explains the failure.
            var failure: (any Error)?
            var waiter: CheckedContinuation<Void, Never>?
            var status = WebSocketStatus()
            var lastReceived: Duration
            var unsentByteCount = 0

            /// The result of the WebSocket; `nil` before its end, and while an earlier message may still arrive.
            var readableEnd: Result<Void, any Error>? { isReceiving && !isStopped ? nil : end }
        }

        private typealias Receipt = (payload: WebSocketPayload?, end: Result<Void, any Error>?, mayReceive: Bool)

        private let task: URLSessionWebSocketTask
        private let request: Request
        private let offer: WebSocketOffer
        private let flight: Flight
        /// Guards the received messages and events, and the waiting reader.
        private let state: Mutex<State>

        init(_ task: URLSessionWebSocketTask, for request: Request, _ offer: WebSocketOffer, in flight: Flight) {
            self.task = task
            self.request = request
            self.offer = offer
            self.flight = flight
            state = Mutex(State(lastReceived: flight.clock.now))
        }

        /// The status so far. The system shows only messages and pongs, so only bytes of payloads are counted.
        var status: WebSocketStatus {
            let now = flight.clock.now
            return state.withLock { state in
                var status = state.status
                status.silence = now - state.lastReceived
                // While nobody reads, no message is received.
                status.isHeldBack = !state.isReceiving && state.end == nil
                return status
            }
        }

        /// Waits for the response to the handshake.
        ///
        /// - Throws: The session's error; `CancellationError`.
        func handshake() async throws -> (head: HTTPResponse, agreement: WebSocketAgreement?) {
            await wait {
                $0.head != nil
            } onCancel: {
                $0.stop(CancellationError())
            }
            try Task.checkCancellation()
            return try state.withLock { state in
                // If the WebSocket was opened and has ended since, its reader still receives its messages and its end.
                if let head = state.head { return (head, state.agreement) }
                try state.end?.get()
                throw URLError(.badServerResponse)
            }
        }

        /// Waits for the next message. Returns `nil` at the end.
        ///
        /// - Throws: The error that ended the WebSocket; `CancellationError`, which leaves the WebSocket open.
        func next() async throws -> WebSocketPayload? {
            while true {
                try Task.checkCancellation()
                let (payload, end, mayReceive) = state.withLock { state -> Receipt in
                    if !state.received.isEmpty { return (state.received.removeFirst(), state.end, false) }
                    // Messages are requested even after the end, because the system may have messages that arrived
                    // earlier.
                    let mayReceive = !state.isReceiving && state.failure == nil && !state.isStopped
                    if mayReceive { state.isReceiving = true }
                    return (nil, state.readableEnd, mayReceive)
                }
                if let payload { return payload }
                if let end {
                    try end.get()
                    return nil
                }
                if mayReceive { task.receive { [weak self] in self?.received($0) } }
                await wait {
                    !$0.received.isEmpty
                } onCancel: {
                    $0.wake()
                }
            }
        }

        /// Sends a message. Returns when the system has taken it.
        func send(_ payload: WebSocketPayload) async throws {
            let byteCount = payload.byteCount
            let limit = offer.maximumUnsentByteCount
            try state.withLock { state in
                try state.end?.get()
                guard state.end == nil, state.status.sent == nil else { throw URLError(.networkConnectionLost) }
                // A single message may exceed the limit. The sum is not computed, because it could overflow 32 bits.
                guard state.unsentByteCount == 0 || byteCount <= limit - state.unsentByteCount else {
                    throw NetworkError(
                        .overloaded, in: .transporting, "More than \(limit) bytes wait to be sent already.",
                        sending: .notSent)
                }
                state.unsentByteCount += byteCount
                state.status.sentMessageCount += 1
                state.status.sentByteCount += Int64(byteCount)
            }
            let sending = SendWaiter()
            task.send(payload.message) { [weak self] error in
                self?.state.withLock { $0.unsentByteCount -= byteCount }
                sending.resume(error.map { .failure($0) } ?? .success(()))
            }
            // A message that waits to be sent can't be withdrawn, but its sender can stop waiting.
            try await withTaskCancellationHandler {
                try await sending.value()
            } onCancel: {
                sending.resume(.failure(CancellationError()))
            }
        }

        /// Asks the server for a pong, which shows that the server is reachable.
        func ping() {
            task.sendPing { [weak self] error in if error == nil { self?.noteReceived(byteCount: 2) } }
        }

        /// Sends a close frame. Closes the connection if the server does not confirm it in time.
        func close(_ close: WebSocketClose) {
            let isFirst = state.withLock { state in
                guard state.end == nil, state.status.sent == nil else { return false }
                state.status.sent = close
                return true
            }
            guard isFirst else { return }
            let code = close.code.flatMap { URLSessionWebSocketTask.CloseCode(rawValue: Int($0)) } ?? .normalClosure
            task.cancel(with: code, reason: close.reason.isEmpty ? nil : Data(close.reasonBytes))
            stop(URLError(.timedOut), after: offer.closeTimeout)
        }

        /// Ends the WebSocket with an error after some time, unless it has ended by then.
        private func stop(_ error: any Error, after time: Duration) {
            let (clock, deadline) = (flight.clock, flight.clock.now + time)
            Task { [weak self] in
                try? await clock.sleep(until: deadline)
                self?.stop(error)
            }
        }

        /// Ends the WebSocket at once with an error, unless it has ended. No message is received afterwards.
        func stop(_ error: any Error) {
            let isFirst = change { state in
                state.isStopped = true
                guard state.end == nil else { return false }
                state.end = .failure(error)
                return true
            }
            if isFirst { task.cancel() }
        }
    }

    // MARK: The session's side

    extension URLSessionWebSocketLink {
        /// Records that the handshake is complete.
        func opened(_ subprotocol: String?, _ response: HTTPURLResponse?) {
            let chosen = subprotocol.flatMap { $0.isEmpty ? nil : $0 }
            guard chosen.map(offer.subprotocols.contains) ?? true else { return stop(URLError(.badServerResponse)) }
            let head = response.map { HTTPResponse.reading($0).head } ?? HTTPResponse(status: .switchingProtocols)
            let now = flight.clock.now
            change { state in
                state.head = head
                state.agreement = WebSocketAgreement(subprotocol: chosen)
                state.lastReceived = now
            }
        }

        /// Records that the server refused the handshake with this response.
        func refused(_ response: HTTPURLResponse) {
            let head = HTTPResponse.reading(response).head
            change { state in if state.head == nil { state.head = head } }
        }

        /// Records that the server's close frame arrived.
        func closed(_ code: URLSessionWebSocketTask.CloseCode, _ reason: Data?) {
            // 0 and 1005 stand for a close frame without a code.
            let number = UInt16(exactly: code.rawValue).flatMap { $0 == 0 || $0 == 1005 ? nil : $0 }
            let close = WebSocketClose(number, String(decoding: reason ?? Data(), as: UTF8.self))
            change { $0.status.received = close }
        }

        /// Records that the task has ended.
        func finish(_ error: (any Error)?) {
            if let response = task.response as? HTTPURLResponse, response.statusCode != 101 { refused(response) }
            let (received, failure) = state.withLock { ($0.status.received, $0.failure) }
            // After the server's close frame the connection counts as closed cleanly, whatever error the system
            // reports.
            if received != nil {
                end(.success(()))
            } else {
                end(.failure(failure ?? error ?? URLError(.networkConnectionLost)))
            }
            // The system may not resume a waiting receiver after this point, so the wait is limited.
            stop(URLError(.networkConnectionLost), after: offer.closeTimeout)
        }

        /// Records the system's measurements at the end.
        func note(_ metrics: URLSessionTaskMetrics) {
            guard let last = metrics.transactionMetrics.last else { return }
            if let version = last.httpVersion { flight.noteHTTPVersion(version, of: request) }
            flight.noteWire(WireRecord(last), of: request)
        }

        private func received(_ result: Result<URLSessionWebSocketTask.Message, any Error>) {
            do {
                guard let payload = WebSocketPayload(try result.get()) else { throw URLError(.cannotParseResponse) }
                noteReceived(byteCount: payload.byteCount)
                change { state in
                    state.isReceiving = false
                    state.status.receivedMessageCount += 1
                    state.received.append(payload)
                }
            } catch {
                let isTooLarge = (error as? POSIXError)?.code == .EMSGSIZE
                let failure: any Error =
                    isTooLarge
                    ? NetworkError(
                        .invalidResponse, in: .transporting,
                        "The server sent a message of more than \(offer.maximumMessageByteCount) bytes.", sending: .sent
                    )
                    : error
                change { state in
                    state.isReceiving = false
                    state.failure = failure
                }
                if isTooLarge { task.cancel(with: .messageTooBig, reason: nil) }
                // The end of the task shows whether the server closed the connection cleanly. The wait for it is
                // limited, because the system may leave the task open.
                stop(failure, after: offer.closeTimeout)
            }
        }

        private func noteReceived(byteCount: Int) {
            let now = flight.clock.now
            state.withLock { state in
                state.lastReceived = now
                state.status.receivedByteCount += Int64(byteCount)
            }
        }

        /// Ends the WebSocket, unless it has ended.
        private func end(_ result: Result<Void, any Error>) {
            change { state in if state.end == nil { state.end = result } }
        }

        /// Changes the state, and resumes the reader.
        @discardableResult
        private func change<Value: Sendable>(_ change: (inout State) -> Value) -> Value {
            let (value, waiter) = state.withLock { (change(&$0), $0.waiter.take()) }
            waiter?.resume()
            return value
        }

        private func wake() { change { _ in } }

        /// Waits until a condition may hold, the WebSocket has ended, or the task is cancelled.
        private func wait(
            for isMet: @escaping @Sendable (State) -> Bool,
            onCancel cancel: @escaping @Sendable (URLSessionWebSocketLink) -> Void
        ) async {
            await withTaskCancellationHandler {
                await withCheckedContinuation { continuation in
                    let isReady = state.withLock { state in
                        if isMet(state) || state.readableEnd != nil || Task.isCancelled { return true }
                        state.waiter = continuation
                        return false
                    }
                    if isReady { continuation.resume() }
                }
            } onCancel: {
                cancel(self)
            }
        }
    }
#endif
