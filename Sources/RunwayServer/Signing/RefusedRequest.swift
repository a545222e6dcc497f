import Foundation
public import HTTPTypes
public import Hummingbird
import Logging
import RunwayFormats
public import RunwaySignatures

/// The reason why ``SignatureMiddleware`` refused a request. It is sent as a response of the type
/// `application/problem+json` (RFC 9457).
///
/// Its members are:
///
/// - `type`: `urn:runway:signature:` followed by the reason.
/// - `title`, `status` and `reason`.
/// - `time`: the server's time in seconds since 1970, with which a client corrects its clock.
/// - `acceptedUntil`, in a signed refusal (``SignatureRules/responses``): the last moment at which a copy of the
///   request can be accepted. It is absent if no copy can have been accepted or can be accepted later.
/// - `detail`: the precise reason. Only with ``SignatureRules/explainsRefusals``.
/// - `signatureBase`: the lines of the server's signature base that can be computed from the request, or the canonical
///   lines of a salted digest. Only with ``SignatureRules/explainsRefusals``.
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
/// `tooOld` and `inFuture` must have the status 401: `SigningStage` of `RunwaySigning` corrects its clock after no
/// other status.
public struct RefusedRequest: HTTPResponseError, CustomStringConvertible {
    /// The reason for the refusal, and the server's time.
    public let refusal: SignatureRefusal
    /// Describes a signature that would be accepted; `nil` if no signature would be accepted.
    package let accepted: SignatureRequest?
    let isExplained: Bool
    /// The number of seconds after which the same caller is accepted; `nil` if the caller can sign again now, or must
    /// not retry.
    var retryAfter: Int?

    /// The status code of the response.
    public var status: HTTPResponse.Status {
        refusal.reason == .nonceUnknown && retryAfter != nil
            ? .serviceUnavailable : Self.status(refusal.disclosedReason)
    }

    /// The reason in one sentence, safe to disclose to clients.
    public var description: String { "the request is refused: \(refusal.disclosedReason)" }

    /// Returns the refusal as a problem response.
    public func response(from request: Request, context: some RequestContext) -> Response {
        var fields = HTTPFields()
        if let accepted {
            do {
                try fields.append(accepted)
            } catch {
                context.logger.error("Accept-Signature cannot be made", metadata: ["error": "\(error)"])
            }
        }
        // RFC 9110 §15.5.2 requires a challenge. RFC 9421 registers no scheme; the requirements are in
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
    /// The body exceeds the size limit for verification (``SignatureRules/maximumBodyByteCount``).
    public static let bodyTooLarge = Self(name: "bodyTooLarge")
    /// The request has an authority that is not one of this server's (``PublicOrigin``).
    public static let authority = Self(name: "authority")
    /// Too many requests of the same source were refused (``FailureLimits``).
    public static let tooManyFailures = Self(name: "tooManyFailures")

    /// Returns whether the failure may be part of an attack and therefore counts.
    ///
    /// Failures that a wrong clock or the server causes do not count. A request without a signature does not count
    /// either: it costs nothing, and comes from clients that do not know the requirements yet.
    func countsAgainstSource(of request: HTTPRequest) -> Bool {
        // A body of undeclared length counts as a failure of its source, since it was received up to the limit.
        if self == .bodyTooLarge { return request.headerFields[.contentLength] == nil }
        // A replay has a valid signature. If it counted, a stranger with a copy of a request could lock out its sender
        // when both share an address.
        return ![.unsigned, .store, .tooOld, .inFuture, .nonceUnknown, .replayed, .tooManyFailures].contains(self)
    }
}
