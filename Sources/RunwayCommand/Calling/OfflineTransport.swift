import HTTPTypes
import Runway

/// Ends every request before it is sent, so that the record shows the request that would have been sent.
struct OfflineTransport: Transport {
    func endsInTime(_ request: Request) -> Bool { true }

    func send(_ request: Request, in flight: Flight) async throws(NetworkError) -> Response {
        Response(head: HTTPResponse(status: .noContent), body: .whole(RawData([])))
    }
}
