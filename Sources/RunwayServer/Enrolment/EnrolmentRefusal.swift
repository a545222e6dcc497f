public import HTTPTypes
public import Hummingbird
import RunwayFormats

/// The reason why ``EnrolmentRoutes`` refused a request, as a response of the type `application/problem+json` (RFC
/// 9457) whose `type` is `urn:runway:enrolment:` followed by the reason.
public struct EnrolmentRefusal: HTTPResponseError, Hashable, CustomStringConvertible {
    /// A reason. Later versions can add some.
    public struct Reason: Sendable, Hashable {
        let name: String
        let status: HTTPResponse.Status

        /// Nobody is logged in: status 401.
        public static let account = Reason(name: "account", status: .unauthorized)
        /// The request is malformed: status 400.
        public static let malformed = Reason(name: "malformed", status: .badRequest)
        /// The challenge was not issued to this account, was used, or is too old: status 403.
        public static let challenge = Reason(name: "challenge", status: .forbidden)
        /// The statement is not signed by the new key, or not by the key that it replaces: status 403.
        public static let proof = Reason(name: "proof", status: .forbidden)
        /// The evidence of the device's platform is absent or not valid: status 403.
        public static let attestation = Reason(name: "attestation", status: .forbidden)
        /// The key is another account's or device's, or was revoked or replaced: status 409.
        public static let keyInUse = Reason(name: "keyInUse", status: .conflict)
        /// The account has as many keys as it may have: status 403.
        public static let tooManyKeys = Reason(name: "tooManyKeys", status: .forbidden)
        /// The account has no such key: status 404.
        public static let unknownKey = Reason(name: "unknownKey", status: .notFound)
        /// Too many enrolments of the account failed: status 429, with `Retry-After`.
        public static let tooManyFailures = Reason(name: "tooManyFailures", status: .tooManyRequests)
        /// A store has failed, or has no room: status 503.
        public static let store = Reason(name: "store", status: .serviceUnavailable)
    }

    /// The reason.
    public let reason: Reason

    /// A refusal.
    public init(_ reason: Reason) { self.reason = reason }

    /// The status of the response.
    public var status: HTTPResponse.Status { reason.status }
    /// The reason in one word.
    public var description: String { "the enrolment is refused: \(reason.name)" }

    /// Returns the response.
    public func response(from request: Request, context: some RequestContext) -> Response {
        var fields = HTTPFields()
        // RFC 9110 §15.5.2 requires a challenge. How an account logs in is the app's affair: a token is the usual way.
        if status == .unauthorized { fields[.wwwAuthenticate] = "Bearer" }
        if status == .tooManyRequests { fields[.retryAfter] = "1" }
        let type = Problem.Family.enrolment.type(reason.name)
        return Response(Problem(type: type, "The key is not enrolled.", status), fields) {
            $0.member("reason", reason.name)
        }
    }
}
