import HTTPTypes
import NIOCore
import NIOPosix
import Runway

extension NIOTransport {
    /// Opens a WebSocket. It uses a stream of the origin's HTTP/2 connection if one is open and its server supports
    /// WebSockets on streams (RFC 8441), otherwise a new connection.
    ///
    /// - Returns: The response with the open WebSocket, or the response with which the server refuses. A refusal has at
    ///   most the first 64 KiB of its body.
    /// - Throws: The transport's error.
    func openWebSocket(
        _ request: Request, _ offer: WebSocketOffer, in flight: Flight
    ) async throws(NetworkError) -> Response {
        do {
            guard gauge.begin() else { throw ExchangeFailure(WireError.shutDown) }
            defer { gauge.end() }
            let opening = WebSocketOpening(
                try WebSocketRequest(request, offer, isTransparent: configuration.isTransparent), to: request.head,
                over: try http1.dialer(),
                or: PoolLease(to: Origin(request.head), of: pools, makesPool: false, countedBy: gauge), configuration,
                on: MultiThreadedEventLoopGroup.singleton.next()
            ) { flight.noteHTTPVersion($0, of: request) }
            let (response, wire) = await Self.outcome(of: opening, in: flight)
            flight.noteWire(wire, of: request)
            var opened = try response.get()
            opened.refusesWebSocket = opened.webSocket == nil
            if let connection = opened.webSocket as? any UpgradedConnection, !upgraded.add(connection) {
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
