public import HTTPTypes

/// A response on its way back through the pipeline to the caller: status and header fields, a body, and the verdict of
/// the service.
///
/// ```swift
/// Response(
///     head: HTTPResponse(status: .ok, headerFields: [.contentType: "application/json"]),
///     body: .whole(RawData(Array(#"{"total": 2}"#.utf8))))
/// ```
public struct Response: Sendable {
    /// The status and header fields of the response.
    public var head: HTTPResponse { didSet { isAccepted = false } }
    /// The body of the response.
    public var body: ResponseBody { didSet { isAccepted = false } }
    /// The service's verdict on the response; `nil` until the judging stage has set it.
    ///
    /// A call whose response has no verdict fails as ``NetworkError/Kind/invalidConfiguration``, and no cache stores
    /// the response. If a custom stage responds without calling the next stage, it must set the verdict itself.
    public var verdict: Verdict?
    /// The source of the response: the network or the cache. The default is ``ResponseSource/network``.
    public var source: ResponseSource = .network
    /// Whether a transport removed a content coding, so that the body differs from the bytes that the origin sent.
    public var isDecoded = false
    /// The names of the fields that the transport omitted, because it receives values as text and these values are not
    /// UTF-8.
    package var omittedFields: [HTTPField.Name] = []
    /// Whether the service and the endpoint accepted the response before it was stored, and it is unchanged since.
    private(set) var isAccepted = false
    /// The attempt that fetched the response; `nil` if the response did not come from a transport.
    var attempt: WireAttempt?
    /// Values that stages have attached to the response.
    var values = StageValues()

    /// Creates a response without a verdict, for a transport or a stub.
    public init(head: HTTPResponse, body: ResponseBody) {
        self.head = head
        self.body = body
    }

    /// Creates a response from a stored response, which the service has accepted before.
    init(stored rawData: RawData, from source: ResponseSource) {
        head = rawData.response
        body = .whole(rawData)
        verdict = .fine
        isAccepted = true
        self.source = source
    }
}

/// The attempt that fetched a response.
struct WireAttempt: Sendable {
    /// The index of the attempt in the record of the call.
    var index: Int
    /// The sequence number of the request. It is greater than the sequence number of every earlier request.
    var sequenceNumber: UInt64
    /// The time on the layer's clock at which the request was sent.
    var start: Duration
}

extension Response {
    /// The error of a call with this response; `nil` if the service accepted the response.
    var refusal: NetworkError? {
        // Almost every response is accepted.
        if case .fine? = verdict?.value { return nil }
        guard let verdict else {
            return NetworkError(
                .invalidConfiguration, in: .judging,
                "The response has no verdict: the pipeline has no judging stage, or a custom stage responded without a "
                    + "verdict.", status: head.status)
        }
        guard var error = verdict.error(for: head) else { return nil }
        error.followsProcessedRequest = followsProcessedRequest
        guard case .whole(let rawData) = body else { return error }
        switch verdict.value {
        // The error that the service reports in its response already describes the failure.
        case .fine, .failed: break
        case .malformed: error.detail = rawData.withStart(error.detail)
        default: if !rawData.bytes.isEmpty { error.detail = rawData.withStart(error.detail) }
        }
        // A stage may have changed the header fields after the body was read.
        error.rawData = rawData.response == head ? rawData : rawData.with(response: head)
        return error
    }
}

/// The body of a response.
public enum ResponseBody: Sendable {
    /// The whole body, in memory.
    case whole(RawData)
    /// The body in parts, as they arrive. Errors while it is read are ``NetworkError`` values.
    ///
    /// The case is indirect because a stream is large: copies of other responses become smaller.
    indirect case stream(BodyStream)
}
