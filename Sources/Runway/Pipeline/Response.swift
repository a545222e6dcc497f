public import HTTPTypes

/// An answer on its way up the pipeline: the HTTP head, a body, and what the service said of it.
public struct Response: Sendable {
    /// Status and header fields.
    public var head: HTTPResponse
    /// What came after the head.
    public var body: ResponseBody
    /// The service's verdict on the response; `nil` until the judging stage has set it.
    ///
    /// A call whose response has no verdict fails as ``NetworkError/Kind/invalidConfiguration``, and no cache stores the response. A
    /// custom stage that responds without calling the next stage sets the verdict itself.
    public var verdict: Verdict?
    /// Where the answer came from.
    public var source: ResponseSource = .network
    /// Whether a content coding was undone below, so that the body is not the bytes that the origin counts. Transports say so.
    public var isDecoded = false
    /// The names of the fields that the transport left out, because it has values as text and these are not UTF-8.
    package var omittedFields: [HTTPField.Name] = []
    /// The redirects that were followed to this answer, the first one first.
    var hops: [RedirectHop] = []
    /// The sequence number of the request that fetched it; `nil` if no transport returned the response.
    var sequenceNumber: UInt64?
    /// The instant on the layer's clock at which that request left; `nil` likewise.
    var requested: Duration?
    /// Which of its flight's records tells of the request that fetched it; `nil` likewise.
    var record: Int?
    /// The version of the cookies that the request was sent with, or that the response made if it set the first ones; `nil` if no
    /// jar was used.
    var cookieVersion: UInt64?
    /// Whether a fresh answer is to be fetched although this one lands.
    var isProvisional = false

    /// Makes an answer.
    public init(head: HTTPResponse, body: ResponseBody) {
        self.head = head
        self.body = body
    }
}

extension Response {
    /// The error that a call with this answer ends in; `nil` where the service judged it fine.
    var refusal: NetworkError? {
        guard let verdict else {
            return NetworkError(
                .invalidConfiguration, in: .stage(.judging),
                "The response has no verdict: the pipeline has no judging stage, or a custom stage responded without a "
                    + "verdict.", status: head.status)
        }
        guard var error = verdict.error(for: head), case .whole(let rawData) = body else {
            return verdict.error(for: head)
        }
        if case .malformed = verdict { error.detail = rawData.withStart(error.detail) }
        error.rawData = rawData
        return error
    }
}

/// The body of an answer.
public enum ResponseBody: Sendable {
    /// All of it.
    case whole(RawData)
    /// Part by part, as it comes in. What throws while it is read is a ``NetworkError``.
    case stream(BodyStream)
}
