import HTTPTypes
import Runway
public import RunwaySignatures

/// The signature that the responses of a service must have.
///
/// Each request asks for the signature in `Accept-Signature`, with a new nonce, and for a digest in
/// `Want-Content-Digest`. The signature must have the nonce, which binds it to the request, and must cover:
///
/// - the status of the response,
/// - the method, authority, path and query of the request (`req`),
/// - the request's own signature, if it has one: `"signature";req` with its label as `key`, or `"runway-digest";req`,
/// - `content-digest`, if the response has a body.
///
/// The age of the signature is not checked, since the nonce is new and the device's clock may be wrong.
///
/// A response without the signature, or with an invalid one, fails as `NetworkError.Kind.notTrusted` at the step
/// `FlightStep.signing`, with a `SignatureRefusal` as the underlying error. This includes responses of a gateway in
/// front of the server. The end of a streamed body throws `notTrusted` if the digest does not match the body. Content
/// codings are not requested, since the digest covers the coded bytes.
///
/// A refusal of the request's own signature need not be signed. With status 400, 401 or 421, it fails as
/// `NetworkError.Kind.refused` at this step. With 413, 429 or 503, it fails as usual for the status, so that
/// `Retry-After` applies. Neither error contains the body of the response. A request that must not be executed twice is
/// retried only after a signed refusal that rules out that a copy of the request was accepted.
public struct ResponseSignatures: Sendable {
    /// The tag of the required signature.
    public var tag: String
    /// Finds the keys of the server.
    public var keys: any KeyDirectory

    /// Creates a requirement for signatures with a tag by one of the server's keys.
    public init(tag: String, keys: any KeyDirectory) { (self.tag, self.keys) = (tag, keys) }

    /// Adds fields to `request` that ask for the response's signature. Returns the requirements for the signature.
    ///
    /// - Parameter proof: The component that binds the response to the request's own signature; `nil` if the request
    ///   will have no signature.
    func askForSignature(
        of request: inout Request, covering proof: ComponentIdentifier?
    ) throws -> VerificationPolicy {
        var policy = VerificationPolicy.response(tag: tag, nonce: RandomNonce().text)
        (policy.maximumAge, policy.clockTolerance) = (Self.anyAge, Self.anyAge)
        if let proof { policy.requiredComponents.append(proof) }
        request.head.headerFields[.acceptEncoding] = "identity"
        request.head.headerFields[.wantContentDigest] = "sha-256=10"
        // The digest is not requested here, since it is not known yet whether the response will have a body.
        try request.head.headerFields.append(policy.signatureRequest(hasBody: false))
        return policy
    }

    private static let anyAge = Duration.seconds(3_155_760_000 as Int64)
}
