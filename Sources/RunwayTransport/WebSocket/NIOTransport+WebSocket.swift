import HTTPTypes
import NIOCore
import NIOPosix
import Runway

extension NIOTransport {
    /// Makes the handshake of a WebSocket: on a stream of the origin's HTTP/2 connection if one is open whose server
    /// accepts that (RFC 8441), otherwise over a connection of its own.
    ///
    /// - Returns: The response with the open WebSocket, or that in which the server refuses, with at most the first 64
    ///   KiB of its body.
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
