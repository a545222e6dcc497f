import HTTPTypes
import Hummingbird
import RunwayFormats

/// The reason why a request of an action log is refused, as a response of the type `application/problem+json` (RFC
/// 9457) whose `type` is `urn:runway:log:` followed by the reason.
struct ActionLogProblem: HTTPResponseError {
    /// A reason in one word, and its status.
    enum Reason: String, CaseIterable {
        /// The body is neither a batch nor the secret of an installation.
        case malformed
        /// The sink can never store a value of the batch.
        case rejected
        /// The sender of the request is not known.
        case account
        /// The body, a record, or the number of records exceeds a limit.
        case tooLarge
        /// The body has another content coding than gzip.
        case coding
        /// The limit on running requests or on waiting batches is reached.
        case busy
        /// The quota of the installation is used up.
        case installation
        /// The source has used up its share of a day.
        case source
        /// The log or its disk is full.
        case full
        /// The sink failed.
        case store

        var status: HTTPResponse.Status {
            switch self {
            case .malformed, .rejected: .badRequest
            case .account: .unauthorized
            case .tooLarge: .contentTooLarge
            case .coding: .unsupportedMediaType
            case .busy, .installation, .source: .tooManyRequests
            case .full, .store: .serviceUnavailable
            }
        }

        fileprivate var title: String {
            switch self {
            case .malformed: "The body is malformed."
            case .rejected: "The batch can't be stored."
            case .account: "The request proves no account."
            case .tooLarge: "The batch is too large."
            case .coding: "The body has a content coding that is not accepted."
            case .busy: "Too many requests are being processed."
            case .installation, .source: "A quota is used up."
            case .full: "The log has no space."
            case .store: "The log can't be written now."
            }
        }
    }

    let reason: Reason
    /// The details of the problem; `nil` if the reason says enough.
    let detail: String?
    /// The time for which the client waits before it sends the request again; `nil` if it need not wait.
    private let retryAfter: Duration?

    init(_ reason: Reason, _ detail: String? = nil, retryAfter: Duration? = nil) {
        (self.reason, self.detail, self.retryAfter) = (reason, detail, retryAfter)
    }

    init(_ exceeded: ActionLogQuotaExceeded) {
        let reason: Reason =
            switch exceeded.quota {
            case .installation: .installation
            case .source: .source
            default: .full
            }
        self.init(reason, exceeded.description, retryAfter: exceeded.retryAfter)
    }

    var status: HTTPResponse.Status { reason.status }

    func response(from request: Request, context: some RequestContext) -> Response {
        var fields = HTTPFields()
        if let retryAfter { fields[.retryAfter] = "\(max(1, retryAfter.components.seconds))" }
        // The content codings that would have been accepted (RFC 9110 §15.5.16 and §12.5.3).
        if reason == .coding { fields[.acceptEncoding] = "gzip" }
        let type = Problem.Family.log.type(reason.rawValue)
        return Response(Problem(type: type, reason.title, status, detail: detail), fields)
    }
}
