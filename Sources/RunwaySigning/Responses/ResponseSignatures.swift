import HTTPTypes
import Runway
public import RunwaySignatures

/// Which signature the responses of a service must have.
///
/// Each request asks for it in `Accept-Signature`, with a nonce of its own, and for a digest in `Want-Content-Digest`.
/// The signature must cover the status, method, authority, path and query of the request (`req`), the request's own
/// signature (`"signature";req` with its label as `key`, or `"runway-digest";req`) if it has one, and `content-digest`
/// if there is a body, and have the nonce: it belongs to this request and no other. Its age is not judged, since the
/// nonce is new and the clock of the device may be wrong.
///
/// A response without it, or with one that is not valid, fails as `NetworkError.Kind.notTrusted` at the step
/// `FlightStep.signing`, with a `SignatureRefusal` as the underlying error; so does one of a gateway before the server.
/// A refusal of the request's own signature need not be signed: with status 400, 401 or 421 it fails as
/// `NetworkError.Kind.refused` at this step, and with 413, 429 or 503 as that status does, so that `Retry-After`
/// applies. Neither has the body of the response. A request that may not be executed twice is sent again only after a
/// refusal that is signed, and that excludes that a copy of the request was accepted. The end of a streamed body throws
/// `notTrusted` if the digest is not that of the body. Content codings are not asked for, since a digest is that of the
/// coded bytes.
public struct ResponseSignatures: Sendable {
    /// The tag by which the signature is found.
    public var tag: String
    /// The keys of the server.
    public var keys: any KeyDirectory

    /// Requires signatures with a tag, by one of the server's keys.
    public init(tag: String, keys: any KeyDirectory) { (self.tag, self.keys) = (tag, keys) }

    /// Asks for the signature of the response. Returns what it must have.
    ///
    /// - Parameter proof: The component that binds it to the request's own signature; `nil` if the request will have
    ///   none.
    func askForSignature(
        of request: inout Request, covering proof: ComponentIdentifier?
    ) throws -> VerificationPolicy {
        var policy = VerificationPolicy.response(tag: tag, nonce: RandomNonce().text)
        (policy.maximumAge, policy.clockTolerance) = (Self.anyAge, Self.anyAge)
        if let proof { policy.requiredComponents.append(proof) }
        request.head.headerFields[.acceptEncoding] = "identity"
        request.head.headerFields[.wantContentDigest] = "sha-256=10"
        // Whether there will be a body, and so a digest that can be covered, is not known yet.
        try request.head.headerFields.append(policy.signatureRequest(hasBody: false))
        return policy
    }

    /// A hundred years.
    private static let anyAge = Duration.seconds(3_155_760_000 as Int64)
}
