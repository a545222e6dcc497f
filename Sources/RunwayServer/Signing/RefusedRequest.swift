import Foundation
public import HTTPTypes
public import Hummingbird
import Logging
import RunwayFormats
public import RunwaySignatures

/// The reason why ``SignatureMiddleware`` refused a request, as a response of the type `application/problem+json` (RFC
/// 9457).
///
/// Its members are:
///
/// - `type`: `urn:runway:signature:` followed by the reason.
/// - `title`, `status` and `reason`.
/// - `time`: the server's time in seconds since 1970, by which a client corrects its clock.
/// - `acceptedUntil`, in a signed refusal (``SignatureRules/responses``): the last moment at which a copy of the
///   request can be accepted, if one can have been accepted before, or can be later.
/// - `detail`, the precise reason, and `signatureBase`, only with ``SignatureRules/explainsRefusals``: the lines of the
///   server's signature base that the request allows, or the canonical lines of a salted digest.
///
/// `Accept-Signature` describes an acceptable signature (RFC 9421 §5). A request with a key that is unknown, revoked or
/// for another algorithm is refused like one with an invalid signature.
///
/// | status | reason |
/// |---|---|
/// | 400 | `malformed`, `components`, `body` |
/// | 413 | `bodyTooLarge` |
/// | 421 | `authority` |
/// | 429 | `tooManyFailures`, with `Retry-After` |
/// | 503 | `store`; `nonceUnknown` of a salted digest, with `Retry-After` |
/// | 401 | all others |
///
/// `tooOld` and `inFuture` need the status 401: `SigningStage` of `RunwaySigning` corrects its clock after no other
/// status.
public struct RefusedRequest: HTTPResponseError, CustomStringConvertible {
    /// The reason, and the server's time.
    public let refusal: SignatureRefusal
    /// An acceptable signature. `nil` if none would be accepted.
    public let accepted: SignatureRequest?
    let isExplained: Bool
    /// The seconds after which the same caller is accepted, if it can only wait. `nil` if it can sign anew, or must not
    /// try again.
    var retryAfter: Int?

    /// The status of the response.
    public var status: HTTPResponse.Status {
        refusal.reason == .nonceUnknown && retryAfter != nil
            ? .serviceUnavailable : Self.status(refusal.disclosedReason)
    }

    /// The reason that may be disclosed to others.
    public var description: String { "the request is refused: \(refusal.disclosedReason)" }

    /// Returns the response.
    public func response(from request: Request, context: some RequestContext) -> Response {
        var fields = HTTPFields()
        if let accepted {
            do {
                try fields.append(accepted)
            } catch {
                context.logger.error("Accept-Signature cannot be made", metadata: ["error": "\(error)"])
            }
        }
        // RFC 9110 §15.5.2 requires a challenge. RFC 9421 registers no scheme: the requirements are in
        // Accept-Signature.
        if status == .unauthorized { fields[.wwwAuthenticate] = "Signature" }
        if let seconds = retryAfter { fields[.retryAfter] = "\(seconds)" }
        let reason = isExplained ? refusal.reason : refusal.disclosedReason
        let problem = Problem(
            type: Problem.Family.signature.type("\(reason)"), Self.title(status), status,
            detail: isExplained ? refusal.detail : nil)
        return Response(problem, fields) { writer in
            writer.member("reason", reason.name)
            writer.member("time", refusal.time.seconds)
            writer.member("acceptedUntil", refusal.acceptedUntil?.seconds)
            if isExplained {
                writer.member("signatureBase", refusal.base.map { String(decoding: $0, as: UTF8.self) })
            }
        }
    }

    private static func status(_ reason: SignatureRefusal.Reason) -> HTTPResponse.Status {
        switch reason {
        case .malformed, .components, .body: .badRequest
        case .bodyTooLarge: .contentTooLarge
        case .authority: .misdirectedRequest
        case .tooManyFailures: .tooManyRequests
        case .store: .serviceUnavailable
        default: .unauthorized
        }
    }

    private static func title(_ status: HTTPResponse.Status) -> String {
        switch status {
        case .contentTooLarge: "The body is too large to be verified."
        case .tooManyRequests: "Too many requests failed verification."
        case .serviceUnavailable: "Signatures cannot be verified now."
        default: "The signature of the request is not accepted."
        }
    }
}

extension SignatureRefusal.Reason {
    /// The body is larger than the limit for verification (``SignatureRules/maximumBodyByteCount``).
    public static let bodyTooLarge = Self(name: "bodyTooLarge")
    /// The request is for an authority that the server does not have (``PublicOrigin``).
    public static let authority = Self(name: "authority")
    /// Too many requests of the same source were refused (``FailureLimits``).
    public static let tooManyFailures = Self(name: "tooManyFailures")

    /// Returns whether the failure may be an attack, and not caused by a wrong clock or the server itself. A request
    /// without any signature costs nothing, and comes from clients that do not know the requirements yet.
    func countsAgainstSource(of request: HTTPRequest) -> Bool {
        // A body that does not state its length was received up to the limit.
        if self == .bodyTooLarge { return request.headerFields[.contentLength] == nil }
        // A replay follows a valid signature: a stranger with a copy of a request could lock out its sender, if they
        // share an address.
        return ![.unsigned, .store, .tooOld, .inFuture, .nonceUnknown, .replayed, .tooManyFailures].contains(self)
    }
}
