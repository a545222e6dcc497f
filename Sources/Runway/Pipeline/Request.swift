public import HTTPTypes

/// A request on its way through the pipeline to the transport: method, URL and header fields as an `HTTPRequest` of
/// swift-http-types, and a body.
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
    /// The method, scheme, authority, path with query, and header fields of the request.
    public var head: HTTPRequest { didSet { isAsAssembled = false } }
    /// The body of the request. It is sent after the header fields.
    public var body: RequestBody { didSet { isAsAssembled = false } }
    /// Determines how the caller receives the response body.
    public var delivery: ResponseDelivery
    /// Whether the request is unchanged since it was created from its endpoint.
    private(set) var isAsAssembled = false
    /// The index of this attempt in the call's record; `nil` until the request is passed to the transport.
    var attempt: Int?
    /// Values that stages have attached to the request.
    var values = StageValues()

    /// Creates a request, for ``NetworkLayer/exchange(_:with:options:)`` or for a test of a stage.
    ///
    /// - Parameters:
    ///   - head: The method, scheme, authority, path with query, and header fields.
    ///   - body: The body of the request. The default is empty.
    ///   - delivery: Determines how the response body is delivered. The default is whole, with at most 16 MiB.
    public init(
        head: HTTPRequest, body: RequestBody = .none, delivery: ResponseDelivery = .whole(maximumByteCount: 16 << 20)
    ) {
        self.head = head
        self.body = body
        self.delivery = delivery
    }

    /// Marks the request as created from its endpoint. Any later change removes the mark.
    mutating func markAssembled() { isAsAssembled = true }

    /// The absolute URL as text. Missing parts of the head, such as the scheme, are omitted.
    public var url: String { head.urlText }
}

extension HTTPRequest {
    /// The absolute URL as text. Missing parts are omitted.
    var urlText: String { String(joining: [scheme ?? "", "://", authority ?? "", path ?? ""]) }
}

/// The way in which the body of a response is delivered to its reader.
public enum ResponseDelivery: Sendable, Equatable {
    /// The body is delivered when it is complete. If it has more bytes than the maximum, the call fails as
    /// ``NetworkError/Kind/invalidResponse``.
    case whole(maximumByteCount: Int)
    /// The body is delivered in parts, as they arrive.
    case streamed
}

/// The body of a request.
public enum RequestBody: Sendable {
    /// The request has no body.
    case none
    /// The whole body is in memory.
    case bytes([UInt8])
    /// A body that is produced while it is sent.
    ///
    /// - Parameters:
    ///   - byteCount: The exact length. If it is `nil`, the length is unknown, and the body is sent in chunks.
    ///   - isReplayable: Whether a second iteration of the stream returns the same bytes. Only such a body can be sent
    ///     again, for a further attempt or after a redirect that preserves the method.
    case stream(BodyStream, byteCount: Int?, isReplayable: Bool)

    /// The length of the body in bytes; `nil` if it is unknown.
    public var byteCount: Int? {
        switch self {
        case .none: 0
        case .bytes(let bytes): bytes.count
        case .stream(_, let byteCount, _): byteCount
        }
    }

    /// The body in a form that does not count its parts. Reading the parts of an upload normally affects its progress
    /// and deadline.
    package var uncounted: RequestBody {
        if case .stream(let stream, _, _) = self, let original = stream.original { original() } else { self }
    }

    /// Whether the body can be sent more than once.
    public var isReplayable: Bool {
        if case .stream(_, _, let isReplayable) = self { isReplayable } else { true }
    }
}

/// The header fields of a request before a cache added its own preconditions.
private enum CallerConditions: StageValueKey {
    static var defaultValue: HTTPFields? { nil }
}

extension Request {
    /// The header fields as the caller set them, before a cache added its own preconditions; `nil` if no cache added
    /// any.
    var callerConditions: HTTPFields? {
        get { values[CallerConditions.self] }
        set { values[CallerConditions.self] = newValue }
    }

    /// Removes the preconditions that a cache added, because they apply to one target only (RFC 9110 §15.4).
    mutating func removeCacheConditions() {
        guard let own = callerConditions else { return }
        for name in HTTPField.Name.cacheConditions { head.headerFields[values: name] = own[values: name] }
        callerConditions = nil
    }
}
