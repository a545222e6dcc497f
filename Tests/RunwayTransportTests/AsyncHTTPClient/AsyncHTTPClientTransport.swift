import AsyncHTTPClient
import HTTPTypes
import NIOCore
import NIOHTTP1
import NIOPosix

@testable import Runway
@testable import RunwayTransport

/// The peer that ``NIOTransport`` is compared with: sends requests with AsyncHTTPClient.
///
/// An origin's connections stay open for ``TransportConfiguration/keepAlive``. The deinit of a transport cuts its connections;
/// ``shutdown(_:)`` waits for the requests in flight.
final class AsyncHTTPClientTransport: Transport {
    private let client: HTTPClient
    private let isTransparent: Bool
    private let decodingLimits: ContentDecoder.Limits
    /// The loop on which whole responses are gathered, and so the one on which their connections are.
    private let eventLoop: any EventLoop = MultiThreadedEventLoopGroup.singleton.next()
    private let gauge = RequestGauge()

    /// Makes a transport. No connection is opened before it is needed.
    ///
    /// - Throws: `NetworkError.Kind.invalidConfiguration` for certificates that can't be read.
    init(configuration: TransportConfiguration = TransportConfiguration()) throws(NetworkError) {
        isTransparent = configuration.isTransparent
        decodingLimits = configuration.wire.decodingLimits
        client = HTTPClient(
            eventLoopGroupProvider: .singleton, configuration: try configuration.httpClientConfiguration())
    }

    deinit {
        // The client retains itself until it is shut down; an error only means that it was shut down before.
        client.shutdown { _ in }
    }

    /// Whether neither body is a stream.
    func endsInTime(_ request: Request) -> Bool {
        switch (request.delivery, request.body) {
        case (.streamed, _), (_, .stream): false
        default: true
        }
    }

    /// Sends a request and returns its response.
    ///
    /// - Throws: A `NetworkError` of the step `FlightStep.transporting`.
    func send(_ request: Request, in flight: Flight) async throws(NetworkError) -> Response {
        guard gauge.begin() else {
            throw NetworkError(client: HTTPClientError.alreadyShutdown, from: request.head.authority)
        }
        do {
            if case .whole(let maximumByteCount) = request.delivery, endsInTime(request) {
                let incoming = WholeResponse(
                    to: request.head.method, upTo: maximumByteCount, isTransparent: isTransparent, decodingLimits
                ) { head in
                    request.noteHead(HTTPResponse.Status(code: Int(head.status.code)))
                    flight.noteHTTPVersion(head.version.name, of: request)
                }
                let (head, bytes) = try await incoming.receive(
                    request.clientRequest(isTransparent: isTransparent), over: client, on: eventLoop, in: flight)
                gauge.end()
                return Response(head, bytes)
            }
            // The layer bounds the whole call, on its own clock; the client's deadline would be a second one.
            let incoming = try await client.execute(
                request.streamedClientRequest(isTransparent: isTransparent), deadline: .distantFuture)
            request.noteHead(HTTPResponse.Status(code: Int(incoming.status.code)))
            flight.noteHTTPVersion(incoming.version.name, of: request)
            let head = ResponseHead(
                incoming.status, incoming.headers, responding: request.head.method, isTransparent: isTransparent)
            switch request.delivery {
            case .whole(let maximumByteCount):
                var body = try head.body(upTo: maximumByteCount, decodingLimits)
                for try await part in incoming.body { try body.append(part) }
                try body.finish()
                gauge.end()
                return Response(head, body.bytes)
            case .streamed:
                let body = BodyStream(
                    incoming, head, decodingLimits, from: request.head.authority, until: GaugeToken(gauge))
                var response = Response(head: head.head, body: .stream(body))
                response.isDecoded = !head.codings.isEmpty
                response.omittedFields = head.omittedFields
                return response
            }
        } catch {
            gauge.end()
            throw NetworkError(client: error, from: request.head.authority)
        }
    }

    /// Ends the transport. Requests made after it fail; calling it again changes nothing.
    func shutdown(waitingAtMost limit: Duration = .seconds(10)) async {
        await gauge.close(waitingAtMost: limit)
        // An error only says that it was shut down before.
        try? await client.shutdown()
    }
}

/// Counts one request as ended when its last holder releases it.
final class GaugeToken: Sendable {
    private let gauge: RequestGauge
    init(_ gauge: RequestGauge) { self.gauge = gauge }
    deinit { gauge.end() }
}

extension Response {
    /// A whole response.
    fileprivate init(_ head: ResponseHead, _ bytes: [UInt8]) {
        self.init(head: head.head, body: .whole(RawData(bytes, response: head.head)))
        isDecoded = !head.codings.isEmpty
        omittedFields = head.omittedFields
    }
}

extension HTTPVersion {
    /// The name of the version, such as `HTTP/2` and `HTTP/1.1`.
    fileprivate var name: String { major >= 2 ? "HTTP/\(major)" : "HTTP/\(major).\(minor)" }
}
