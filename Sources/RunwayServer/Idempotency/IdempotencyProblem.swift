import HTTPTypes
import Hummingbird
import RunwayFormats

/// A problem response (`application/problem+json`, RFC 9457) for a request that ``IdempotencyMiddleware`` did not pass
/// on.
struct IdempotencyProblem: HTTPResponseError, CustomStringConvertible {
    struct Reason: Sendable, Hashable, CustomStringConvertible {
        /// The reason in one word. The word never changes between releases.
        let description: String
        let status: HTTPResponse.Status
        let title: String

        /// The request must have a key but has no key.
        static let missing = Self("missing", .badRequest, "The request needs an Idempotency-Key.")
        /// The key is malformed or too long, or there are several keys.
        static let malformed = Self("malformed", .badRequest, "The Idempotency-Key is malformed.")
        /// The key has no owner, since the sender is unknown: the access token is missing or has expired.
        static let principal = Self("principal", .unauthorized, "An Idempotency-Key needs a known sender.")
        /// The name of the sender contains U+0000.
        static let unusablePrincipal = Self(
            "unusablePrincipal", .badRequest, "The sender has a name that can't own an Idempotency-Key.")
        /// Another request with the key is being executed.
        static let inFlight = Self("inFlight", .conflict, "A request with this key is being executed.")
        /// The request was executed, but no response can be replayed: it was too large, another request took over its
        /// key, or the stored response is damaged.
        static let notStored = Self(
            "notStored", .conflict, "The request was executed; its response is not stored.")
        /// The body of the request is too large.
        static let tooLarge = Self("tooLarge", .contentTooLarge, "The body is too large for an Idempotency-Key.")
        /// The key was used with a different request.
        static let mismatch = Self(
            "mismatch", .unprocessableContent, "The Idempotency-Key was used with another request.")
        /// The store is full.
        static let full = Self("full", .tooManyRequests, "Too many keys are stored.")
        static let store = Self("store", .serviceUnavailable, "Keys can't be verified now.")

        private init(_ description: String, _ status: HTTPResponse.Status, _ title: String) {
            (self.description, self.status, self.title) = (description, status, title)
        }
    }

    let reason: Reason
    let lifetime: Duration
    let retryAfter: Int
    /// The challenge that status 401 requires (RFC 9110 §15.5.2).
    var challenge: String?

    var status: HTTPResponse.Status { reason.status }

    var description: String { reason.title }

    func response(from request: Request, context: some RequestContext) -> Response { response }

    var response: Response {
        var fields = HTTPFields()
        if status == .unauthorized { fields[.wwwAuthenticate] = challenge }
        if [.inFlight, .full, .store].contains(reason) { fields[.retryAfter] = "\(max(1, retryAfter))" }
        return Response(Problem(type: Problem.Family.idempotency.type("\(reason)"), reason.title, status), fields) {
            $0.member("lifetime", lifetime.components.seconds)
        }
    }
}
