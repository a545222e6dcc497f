public import HTTPTypes

/// A response on its way up the pipeline: the HTTP head, a body, and the verdict of the service.
///
/// ```swift
/// Response(
///     head: HTTPResponse(status: .ok, headerFields: [.contentType: "application/json"]),
///     body: .whole(RawData(Array(#"{"total": 2}"#.utf8))))
/// ```
public struct Response: Sendable {
    /// Status and header fields.
    public var head: HTTPResponse
    /// The body, which follows the head.
    public var body: ResponseBody
    /// The service's verdict on the response; `nil` until the judging stage has set it.
    ///
    /// A call whose response has no verdict fails as ``NetworkError/Kind/invalidConfiguration``, and no cache stores
    /// the response. A custom stage that responds without calling the next stage sets the verdict itself.
    public var verdict: Verdict?
    /// The source of the response.
    public var source: ResponseSource = .network
    /// Whether a transport undid a content coding, so that the body differs from the bytes that the origin sent.
    public var isDecoded = false
    /// The names of the fields that the transport left out, because it receives values as text and these are not UTF-8.
    package var omittedFields: [HTTPField.Name] = []
    /// The attempt that fetched it; `nil` if no transport returned the response.
    var attempt: WireAttempt?
    /// Values that stages attached.
    var values = StageValues()

    /// Creates a response that no service has judged yet, for a transport or a stub.
    public init(head: HTTPResponse, body: ResponseBody) {
        self.head = head
        self.body = body
    }

    /// A stored response, which its service judged fine.
    init(stored rawData: RawData, from source: ResponseSource) {
        head = rawData.response
        body = .whole(rawData)
        verdict = .fine
        self.source = source
    }
}

/// The attempt that fetched a response.
struct WireAttempt: Sendable {
    /// The index of the request in the record of the call.
    var index: Int
    /// The sequence number of the request, which is greater than those of all earlier requests.
    var sequenceNumber: UInt64
    /// The instant on the layer's clock at which the request was sent.
    var start: Duration
}

extension Response {
    /// The error that a call with this response ends in; `nil` if the service judged it fine.
    var refusal: NetworkError? {
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
        // The error that the envelope names says it already.
        case .fine, .failed: break
        case .malformed: error.detail = rawData.withStart(error.detail)
        default: if !rawData.bytes.isEmpty { error.detail = rawData.withStart(error.detail) }
        }
        // A stage may have changed the head after the body was read.
        error.rawData = rawData.response == head ? rawData : rawData.with(response: head)
        return error
    }
}

/// The body of a response.
public enum ResponseBody: Sendable {
    /// All of it.
    case whole(RawData)
    /// The body part by part, as it arrives. Errors while it is read are ``NetworkError`` values.
    case stream(BodyStream)
}
