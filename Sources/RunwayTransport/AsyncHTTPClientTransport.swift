import AsyncHTTPClient
import HTTPTypes
import NIOCore
import NIOHTTP1
public import Runway

/// Puts requests on the wire with AsyncHTTPClient: HTTP/1.1 and HTTP/2, TLS, gzip and deflate, connections reused.
///
/// ```swift
/// let network = NetworkLayer(transport: try AsyncHTTPClientTransport())
/// ```
///
/// An origin's connections are kept for ``TransportConfiguration/keepAlive``. A transport that is let go cuts its connections;
/// ``shutdown(_:)`` is there for those who want to wait.
public final class AsyncHTTPClientTransport: Transport {
    /// What becomes of requests that are under way when a transport is shut down.
    public enum ShutdownMode: Sendable {
        /// They are cut at once, and fail as ``NetworkError/Kind/noNetwork``.
        case cutting
        /// They are waited for, at most this long; what is left then is cut.
        case waiting(atMost: Duration)
    }

    private let client: HTTPClient
    private let gauge = RequestGauge()

    /// Makes a transport. No connection is opened before it is needed.
    ///
    /// - Throws: ``NetworkError/Kind/invalidConfiguration`` for certificates that can't be read.
    public init(configuration: TransportConfiguration = TransportConfiguration()) throws(NetworkError) {
        client = HTTPClient(
            eventLoopGroupProvider: .singleton, configuration: try configuration.httpClientConfiguration())
    }

    deinit {
        // The client keeps itself alive until it is shut down; an error only says that it was shut down before.
        client.shutdown { _ in }
    }

    /// Sends a request and gives its answer.
    ///
    /// - Throws: A ``NetworkError`` of the step ``FlightStep/transporting``.
    public func send(_ request: Request, in flight: Flight) async throws(NetworkError) -> Response {
        guard gauge.begin() else {
            throw NetworkError(transport: HTTPClientError.alreadyShutdown, from: request.head.authority)
        }
        do {
            // The layer bounds the whole call, on its own clock; the client's deadline would be a second one.
            let answer = try await client.execute(HTTPClientRequest(request), deadline: .distantFuture)
            flight.noteHTTPVersion(
                answer.version.major == 2 ? "HTTP/2" : "HTTP/\(answer.version.major).\(answer.version.minor)")
            let head = HTTPResponse(answer)
            switch request.delivery {
            case .whole(let maximumByteCount):
                let bytes = try await answer.bytes(upTo: maximumByteCount, answering: request.head.method)
                gauge.end()
                return Response(head: head, body: .whole(RawData(bytes, response: head)))
            case .streamed:
                return Response(head: head, body: .stream(BodyStream(answer, to: request, until: GaugeToken(gauge))))
            }
        } catch {
            gauge.end()
            throw NetworkError(transport: error, from: request.head.authority)
        }
    }

    /// Ends the transport. Requests made after it fail; calling it again changes nothing.
    public func shutdown(_ mode: ShutdownMode = .waiting(atMost: .seconds(10))) async {
        await gauge.close(waitingFor: mode)
        // An error only says that it was shut down before.
        try? await client.shutdown()
    }
}
