import HTTPTypes
import Hummingbird
import RunwayFormats

/// The reason why ``IdempotencyMiddleware`` did not pass a request on, as a response of the type
/// `application/problem+json` (RFC 9457).
struct IdempotencyProblem: HTTPResponseError, CustomStringConvertible {
    /// The reason of a refusal.
    struct Reason: Sendable, Hashable, CustomStringConvertible {
        /// The reason in one word, which is the same in all releases.
        let description: String
        let status: HTTPResponse.Status
        let title: String

        /// The request must have a key, but has none.
        static let missing = Self("missing", .badRequest, "The request needs an Idempotency-Key.")
        /// The key is not a string of an allowed length, or there are several keys.
        static let malformed = Self("malformed", .badRequest, "The Idempotency-Key is malformed.")
        /// The sender is not known, so that the key has no owner: the access token is missing or has expired.
        static let principal = Self("principal", .unauthorized, "An Idempotency-Key needs a known sender.")
        /// The name of the sender has the character U+0000.
        static let unusablePrincipal = Self(
            "unusablePrincipal", .badRequest, "The sender has a name that can't own an Idempotency-Key.")
        /// A request with the key is being executed.
        static let inFlight = Self("inFlight", .conflict, "A request with this key is being executed.")
        /// The request was executed, and its response is not stored: it was too large, another request took over its
        /// key, or the stored response is damaged.
        static let notStored = Self(
            "notStored", .conflict, "The request was executed; its response is not stored.")
        /// The body is too large.
        static let tooLarge = Self("tooLarge", .contentTooLarge, "The body is too large for an Idempotency-Key.")
        /// The key was used with another request.
        static let mismatch = Self(
            "mismatch", .unprocessableContent, "The Idempotency-Key was used with another request.")
        /// The store has no room.
        static let full = Self("full", .tooManyRequests, "Too many keys are stored.")
        /// The store failed.
        static let store = Self("store", .serviceUnavailable, "Keys can't be verified now.")

        private init(_ description: String, _ status: HTTPResponse.Status, _ title: String) {
            (self.description, self.status, self.title) = (description, status, title)
        }
    }

    /// The reason of the refusal.
    let reason: Reason
    let lifetime: Duration
    let retryAfter: Int
    /// The challenge that tells a sender how to authenticate, required with status 401 (RFC 9110 §15.5.2).
    var challenge: String?

    /// The status of the response.
    var status: HTTPResponse.Status { reason.status }

    /// The reason in a sentence.
    var description: String { reason.title }

    /// Returns the response.
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
