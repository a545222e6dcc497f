public import HTTPTypes

/// A request on its way down the pipeline: the HTTP head that every Swift package shares, and a body.
///
/// ```swift
/// struct LanguageStage: RequestStage {
///     var step: FlightStep { .customStage("language") }
///
///     func respond(
///         to request: Request, in flight: Flight, next: RequestPipeline.Rest
///     ) async throws(NetworkError) -> Response {
///
///         var request = request
///         request.head.headerFields[.acceptLanguage] = "zh-Hans"
///         flight.note("language", "asked for Chinese", in: step)
///         return try await next.send(request, in: flight)
///     }
/// }
/// ```
public struct Request: Sendable {
    /// Method, scheme, authority, path with query, and header fields.
    public var head: HTTPRequest { didSet { isAsAssembled = false } }
    /// The body, which is sent after the head.
    public var body: RequestBody { didSet { isAsAssembled = false } }
    /// The way in which the caller receives the body of the response.
    public var delivery: ResponseDelivery
    /// Whether the request is exactly the one that its endpoint describes: no stage has changed it since it was made.
    private(set) var isAsAssembled = false
    /// The index of this attempt in the record of its call; `nil` until the request goes to the transport.
    var attempt: Int?
    /// Values that stages attached.
    var values = StageValues()

    /// Describes a request, for ``NetworkLayer/exchange(_:with:options:)`` or for a test of a stage.
    ///
    /// - Parameters:
    ///   - head: Method, scheme, authority, path with query, and header fields.
    ///   - body: The body, which is sent after the head. The default is empty.
    ///   - delivery: The way in which the body of the response is delivered. The default is whole, of at most 16 MiB.
    public init(
        head: HTTPRequest, body: RequestBody = .none, delivery: ResponseDelivery = .whole(maximumByteCount: 16 << 20)
    ) {
        self.head = head
        self.body = body
        self.delivery = delivery
    }

    /// Marks the request as made from its endpoint. Any change removes the mark.
    mutating func markAssembled() { isAsAssembled = true }

    /// The absolute URL, as text. The parts of the head that are missing are left out.
    public var url: String { head.urlText }
}

extension HTTPRequest {
    /// The absolute URL, as text. The parts that are missing are left out.
    var urlText: String { String(joining: [scheme ?? "", "://", authority ?? "", path ?? ""]) }
}

/// The way in which the body of a response reaches its reader.
public enum ResponseDelivery: Sendable, Equatable {
    /// All at once, when it is complete; a response with more bytes fails as ``NetworkError/Kind/invalidResponse``.
    case whole(maximumByteCount: Int)
    /// Part by part, as it arrives.
    case streamed
}

/// The body of a request.
public enum RequestBody: Sendable {
    /// No body.
    case none
    /// All of it, in memory.
    case bytes([UInt8])
    /// A body that is produced while it is sent.
    ///
    /// - Parameters:
    ///   - byteCount: The exact length if it is known; otherwise the body is sent in chunks.
    ///   - isReplayable: Whether the stream returns the same bytes again when it is iterated again. Only such a body
    ///     can be sent a second time, after a redirect that keeps the method or for another attempt.
    case stream(BodyStream, byteCount: Int?, isReplayable: Bool)

    /// The number of bytes, where it is known.
    public var byteCount: Int? {
        switch self {
        case .none: 0
        case .bytes(let bytes): bytes.count
        case .stream(_, let byteCount, _): byteCount
        }
    }

    /// The body of an upload before its parts are counted, to be read without effect on progress and deadline; any
    /// other body as it is.
    package var uncounted: RequestBody {
        if case .stream(let stream, _, _) = self, let original = stream.original { original() } else { self }
    }

    /// Whether the body can be sent more than once.
    public var isReplayable: Bool {
        if case .stream(_, _, let isReplayable) = self { isReplayable } else { true }
    }
}
