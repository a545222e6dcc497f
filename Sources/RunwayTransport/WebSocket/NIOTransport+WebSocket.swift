import HTTPTypes
import NIOCore
import NIOPosix
import Runway

extension NIOTransport {
    /// Makes the handshake of a WebSocket, over a connection of its own.
    ///
    /// - Returns: The response with the open WebSocket, or that in which the server refuses, with at most the first 64 KiB of its body.
    /// - Throws: The transport's error.
    func openWebSocket(
        _ request: Request, _ offer: WebSocketOffer, in flight: Flight
    ) async throws(NetworkError) -> Response {
        do {
            guard gauge.begin() else { throw ExchangeFailure(WireError.shutDown) }
            defer { gauge.end() }
            let opening = try WebSocketOpening(
                request, offer, over: webSockets.webSocketDialer(), configuration,
                on: MultiThreadedEventLoopGroup.singleton.next())
            flight.noteHTTPVersion("HTTP/1.1", of: request)
            let (response, wire) = await Self.outcome(of: opening, in: flight)
            flight.noteWire(wire, of: request)
            let opened = try response.get()
            if let connection = opened.webSocket as? NIOWebSocketConnection, !webSockets.add(connection) {
                throw ExchangeFailure(cause: WireError.shutDown, sending: .sent)
            }
            return opened
        } catch {
            throw NetworkError(transport: error, from: request.head.authority)
        }
    }

    private static func outcome(of opening: WebSocketOpening, in flight: Flight) async -> WebSocketOpening.Outcome {
        await flight.withDeadlineHandler {
            await withTaskCancellationHandler {
                await withCheckedContinuation { opening.begin($0) }
            } onCancel: {
                opening.cancel(CancellationError())
            }
        } onDeadline: {
            opening.cancel(WireError.deadlineExceeded)
        }
    }
}
