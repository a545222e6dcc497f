public import HTTPTypes
public import Hummingbird
import RunwayFormats

/// The reason why ``EnrolmentRoutes`` refuses a request. It is sent as a problem response (`application/problem+json`,
/// RFC 9457) whose `type` is `urn:runway:enrolment:` followed by the reason. Later versions may add reasons.
public struct EnrolmentRefusal: HTTPResponseError, Hashable, CustomStringConvertible {
    /// The name of the reason.
    let name: String
    /// The status code of the response.
    public let status: HTTPResponse.Status

    /// Nobody is signed in: status 401.
    public static let account = Self(name: "account", status: .unauthorized)
    /// The request is malformed: status 400.
    public static let malformed = Self(name: "malformed", status: .badRequest)
    /// The challenge was not issued to this account, was already used, or has expired: status 403.
    public static let challenge = Self(name: "challenge", status: .forbidden)
    /// The signature of the new key, or of the key that it replaces, is absent or invalid: status 403.
    public static let proof = Self(name: "proof", status: .forbidden)
    /// The evidence of the device's platform is absent or invalid: status 403.
    public static let attestation = Self(name: "attestation", status: .forbidden)
    /// The key belongs to another account or device, or was revoked or replaced: status 409.
    public static let keyInUse = Self(name: "keyInUse", status: .conflict)
    /// The account has reached its maximum number of keys: status 403.
    public static let tooManyKeys = Self(name: "tooManyKeys", status: .forbidden)
    /// The account has no such key: status 404.
    public static let unknownKey = Self(name: "unknownKey", status: .notFound)
    /// Too many enrolments of the account failed: status 429, with `Retry-After`.
    public static let tooManyFailures = Self(name: "tooManyFailures", status: .tooManyRequests)
    /// A store has failed or is full: status 503.
    public static let store = Self(name: "store", status: .serviceUnavailable)

    /// The refusal in one sentence.
    public var description: String { "the enrolment is refused: \(name)" }

    /// Returns the refusal as a problem response.
    public func response(from request: Request, context: some RequestContext) -> Response {
        var fields = HTTPFields()
        // RFC 9110 §15.5.2 requires a challenge. The app decides how an account signs in; a bearer token is usual.
        if status == .unauthorized { fields[.wwwAuthenticate] = "Bearer" }
        if status == .tooManyRequests { fields[.retryAfter] = "1" }
        let type = Problem.Family.enrolment.type(name)
        return Response(Problem(type: type, "The key is not enrolled.", status), fields) {
            $0.member("reason", name)
        }
    }
}
