import HTTPTypes
import Hummingbird
import RunwayFormats

/// A problem response for a refused request of an action log (`application/problem+json`, RFC 9457). Its `type` is
/// `urn:runway:log:` followed by the reason.
struct ActionLogProblem: HTTPResponseError {
    enum Reason: String, CaseIterable {
        /// The body is not a valid batch or a valid installation secret.
        case malformed
        /// The sink can never store one of the batch's values.
        case rejected
        /// The sender of the request is unknown.
        case account
        /// The body, a record, or the number of records exceeds a limit.
        case tooLarge
        /// The body has a content coding other than gzip.
        case coding
        /// The limit on running requests or pending batches is reached.
        case busy
        /// The installation has used up its quota.
        case installation
        /// The source of the request, such as an account or a client address, has used up its daily share.
        case source
        /// The log has reached its quota, or its disk is full.
        case full
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
    /// The details of the problem; `nil` if the reason suffices.
    let detail: String?
    /// The time for which the client waits before it retries; `nil` if it need not wait.
    private let retryAfter: Duration?

    init(_ reason: Reason, _ detail: String? = nil, retryAfter: Duration? = nil) {
        (self.reason, self.detail, self.retryAfter) = (reason, detail, retryAfter)
    }

    init(_ refusal: StoreRefusal) {
        switch refusal.kind {
        case .busy: self.init(.busy, retryAfter: ActionLogRouteLimits.retryAfter)
        case .rejected: self.init(.rejected, "The store does not take a value of the batch.")
        case .installation: self.init(.installation, refusal.description, retryAfter: refusal.retryAfter)
        case .source: self.init(.source, refusal.description, retryAfter: refusal.retryAfter)
        case .full: self.init(.full, retryAfter: refusal.retryAfter)
        }
    }

    var status: HTTPResponse.Status { reason.status }

    func response(from request: Request, context: some RequestContext) -> Response {
        var fields = HTTPFields()
        if let retryAfter { fields[.retryAfter] = "\(max(1, retryAfter.components.seconds))" }
        // `Accept-Encoding` lists the supported content codings (RFC 9110 §15.5.16 and §12.5.3).
        if reason == .coding { fields[.acceptEncoding] = "gzip" }
        let type = Problem.Family.log.type(reason.rawValue)
        return Response(Problem(type: type, reason.title, status, detail: detail), fields)
    }
}
