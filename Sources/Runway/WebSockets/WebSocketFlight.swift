package import HTTPTypes
import Synchronization

/// A WebSocket that a call opened. The call's record ends with the connection.
///
/// Releasing the last reference ends the call as cancelled, and closes the connection.
package final class WebSocketFlight: Sendable {
    /// The response that completed the handshake.
    package let response: HTTPResponse
    /// The call. The owner of the connection adds its decisions to the call's record.
    package let flight: Flight
    package let connection: any WebSocketConnection
    /// Guards the timer that ends the call at its deadline or at a sign-out; `nil` after the end.
    private let token = Mutex<DeadlineTimer.Token?>(nil)

    init(_ response: HTTPResponse, _ connection: any WebSocketConnection, in flight: Flight) {
        self.response = response
        self.connection = connection
        self.flight = flight
        // The default limit is 100 years, because clocks overflow after some centuries.
        let deadline = flight.wholeDeadline ?? flight.startTime + .seconds(Int64(36_525) * 86_400)
        let token = flight.context.deadlines.schedule(at: deadline, of: flight) { [weak connection, weak flight] in
            guard let flight else { return }
            connection?.abandon(flight.timeout("", in: .deadline, sending: .sent))
        }
        self.token.withLock { $0 = token }
    }

    deinit { finish(.cancelled) }

    /// Waits for the next message. Returns `nil` at the end of the connection, which also ends the call.
    ///
    /// - Throws: The error that ended the connection; ``NetworkError/Kind/cancelled`` if the task is cancelled, which
    ///   closes the connection.
    package func next() async throws(NetworkError) -> WebSocketPayload? {
        do throws(NetworkError) {
            let payload = try await connection.next()
            if payload == nil { finish(.succeeded) }
            return payload
        } catch  where error.kind == .cancelled && Task.isCancelled {
            // The closing handshake continues, but its end is not awaited.
            connection.close(WebSocketClose(1001))
            finish(.cancelled)
            throw error
        } catch {
            throw end(failing: error)
        }
    }

    /// Ends the call because of an error, and closes the connection at once.
    ///
    /// - Returns: The error completed with the request that it concerns.
    @discardableResult
    package func end(failing error: NetworkError) -> NetworkError {
        connection.abandon(error)
        noteEnd()
        return flight.finish(failing: error)
    }

    /// Ends the call at its caller's request. The closing handshake continues.
    package func close(_ close: WebSocketClose) {
        connection.close(close)
        finish(.succeeded)
    }

    private func finish(_ outcome: FlightOutcome) {
        noteEnd()
        flight.finish(outcome)
    }

    /// Adds the end of the connection to the call's record, only once.
    private func noteEnd() {
        guard let token = token.withLock({ $0.take() }) else { return }
        flight.context.deadlines.remove(token)
        flight.note(WebSocketDecision.ended(connection.status))
    }
}

/// An event of a WebSocket, for the call's record.
package enum WebSocketDecision: StageDecision, Equatable {
    case opened(WebSocketAgreement)
    /// The connection ended. The status counts its messages and bytes.
    case ended(WebSocketStatus)

    package static var step: FlightStep { .transporting }

    package var entry: DecisionRecord {
        switch self {
        case .opened(let agreement):
            return .init(
                "webSocketOpened", ["subprotocol": agreement.subprotocol, "extensions": agreement.extensions],
                "open as a WebSocket" + (agreement.subprotocol.map { " of \($0)" } ?? "")
                    + (agreement.extensions.map { " with \($0)" } ?? ""))
        case .ended(let status):
            let close = status.received ?? status.sent
            let closer = status.received != nil ? "server" : status.sent != nil ? "client" : nil
            return .init(
                "webSocketEnded",
                [
                    "messagesIn": status.receivedMessageCount, "messagesOut": status.sentMessageCount,
                    "bytesIn": status.receivedByteCount, "bytesOut": status.sentByteCount,
                    "closeCode": close?.code.map(Int.init),
                    "closeReason": close.flatMap { $0.reason.isEmpty ? nil : $0.reason.oneLine }, "closedBy": closer,
                ],
                "\(status.receivedMessageCount) messages in, \(status.sentMessageCount) out"
                    + (closer.map { ", closed by the \($0)" } ?? ", not closed")
                    + (close?.code.map { " with \($0)" } ?? ""))
        }
    }
}
