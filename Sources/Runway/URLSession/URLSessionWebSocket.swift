#if canImport(Darwin)
    import Foundation
    import Synchronization

    /// A WebSocket over a task of the system. It closes when it is released.
    final class URLSessionWebSocket: WebSocketConnection {
        let agreement: WebSocketAgreement
        private let link: URLSessionWebSocketLink
        private let authority: String?

        init(_ link: URLSessionWebSocketLink, _ agreement: WebSocketAgreement, to authority: String?) {
            self.link = link
            self.agreement = agreement
            self.authority = authority
        }

        deinit { link.close(WebSocketClose(1001)) }

        var status: WebSocketStatus { link.status }

        func next() async throws(NetworkError) -> WebSocketPayload? {
            do {
                return try await link.next()
            } catch {
                throw NetworkError(session: error, from: authority)
            }
        }

        func send(_ payload: WebSocketPayload) async throws(NetworkError) {
            do {
                try await link.send(payload)
            } catch {
                throw NetworkError(session: error, from: authority)
            }
        }

        func ping() { link.ping() }

        func close(_ close: WebSocketClose) { link.close(close) }

        func abandon(_ error: NetworkError) { link.stop(error) }
    }

    extension WebSocketPayload {
        /// Converts a message of the system. Returns `nil` for an unknown kind of message.
        init?(_ message: URLSessionWebSocketTask.Message) {
            if case .string(let text) = message {
                self = .text(text)
            } else if case .data(let data) = message {
                self = .binary(Array(data))
            } else {
                return nil
            }
        }

        /// The message in the system's form.
        var message: URLSessionWebSocketTask.Message {
            switch self {
            case .text(let text): .string(text)
            case .binary(let bytes): .data(Data(bytes))
            }
        }
    }

    /// The result of sending a message. The sender may stop waiting for it.
    final class SendWaiter: Sendable {
        private struct State {
            var result: Result<Void, any Error>?
            var sender: CheckedContinuation<Void, any Error>?
        }

        /// Guards the result and its waiter.
        private let state = Mutex(State())

        func value() async throws {
            try await withCheckedThrowingContinuation { continuation in
                let result = state.withLock { state in
                    if state.result == nil { state.sender = continuation }
                    return state.result
                }
                if let result { continuation.resume(with: result) }
            }
        }

        /// Sets the result, unless it is already set.
        func resume(_ result: Result<Void, any Error>) {
            let sender = state.withLock { state -> CheckedContinuation<Void, any Error>? in
                guard state.result == nil else { return nil }
                state.result = result
                return state.sender.take()
            }
            sender?.resume(with: result)
        }
    }
#endif
