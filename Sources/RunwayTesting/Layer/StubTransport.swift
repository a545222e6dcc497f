public import HTTPTypes
public import Runway
import Synchronization

/// Responds to requests within the process, without a socket. For tests of business code, which do not test the
/// network.
///
/// ```swift
/// let transport = StubTransport { request in .json(#"{"code":0,"result":{"items":[]}}"#) }
/// let network = NetworkLayer(transport: transport)
/// ```
///
/// To test faults of the network itself, use a `ScriptedOrigin` of `RunwayTestServer`: a stub can't be slow, half
/// closed or malformed on the wire.
public final class StubTransport: Transport {
    /// Returns the response to a request, or throws. It may suspend, and is cancelled together with the call.
    public typealias Respond = @Sendable (Request) async throws(NetworkError) -> Response

    private let respond: Respond
    /// Guards the received requests.
    private let received = Mutex<[Request]>([])

    /// Creates a transport that responds to every request with the response or error of `respond`.
    public init(respond: @escaping Respond) {
        self.respond = respond
    }

    /// The requests received so far, in order.
    public var requests: [Request] { received.withLock { $0 } }

    /// Records the request, and responds to it.
    public func send(_ request: Request, in flight: Flight) async throws(NetworkError) -> Response {
        received.withLock { $0.append(request) }
        return try await respond(request)
    }
}

extension Response {
    /// Creates a response with a JSON text.
    ///
    /// - Parameters:
    ///   - text: The body.
    ///   - status: The status. The default is 200.
    public static func json(_ text: String, status: HTTPResponse.Status = .ok) -> Response {
        bytes(Array(text.utf8), contentType: "application/json", status: status)
    }

    /// Creates a response with bytes.
    ///
    /// - Parameters:
    ///   - bytes: The body.
    ///   - contentType: The value of `Content-Type`; `nil` omits the field.
    ///   - status: The status. The default is 200.
    public static func bytes(_ bytes: [UInt8], contentType: String? = nil, status: HTTPResponse.Status = .ok)
        -> Response
    {
        var head = HTTPResponse(status: status)
        if let contentType { head.headerFields[.contentType] = contentType }
        return Response(head: head, body: .whole(RawData(bytes, response: head)))
    }
}
