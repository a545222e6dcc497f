public import Crypto
import HTTPTypes
import Runway
public import RunwaySignatures

/// The way in which the requests of a service are signed, and the verification of its responses.
///
/// The clock of the device is corrected by the server's, by 24 hours at most: a signature that is made for a later time
/// can be stored and used then. A device whose clock is further off is accepted only with a nonce of the server.
public struct SigningPolicy: Sendable {
    /// The largest correction of the device's clock by the server's.
    static let maximumCorrection = Duration.seconds(86_400)

    /// The way in which requests are signed.
    public var way: SigningWay
    /// The signature that responses must have. The default, `nil`, verifies no response.
    public var responses: ResponseSignatures?
    /// The types of the structured fields that signatures of requests and responses may cover strictly. The default has
    /// the fields that RFCs define; add a field of the service by its name in lower case, here and at the server.
    public var structuredFieldTypes = StructuredFieldType.registered
    /// The largest stream that is read into memory before it is sent, if its digest can't be known otherwise: a stream
    /// that can be read only once and has no `Content-Digest`, or any stream under a salted digest. A larger one is
    /// refused as `NetworkError.Kind.invalidConfiguration`. The default is 1 MiB; 0 reads no stream into memory. Raise
    /// it for larger streams of that kind.
    public var maximumBufferedByteCount = 1 << 20

    /// Creates a policy that verifies no response.
    public init(_ way: SigningWay) { self.way = way }
}

/// One of the three ways to show that a request comes from the app; `docs/formats.md` defines their bytes.
public struct SigningWay: Sendable {
    enum Format: Sendable {
        case signature(tag: String, Coverage)
        case saltedDigest
        case sealedKey(to: Curve25519.KeyAgreement.PublicKey, id: String)
    }

    /// The components that signatures cover apart from those that a server asks for. Both lists are computed once; an
    /// error in them fails each request that is signed.
    struct Coverage: Sendable {
        let withoutDigest: Result<CoveredComponents, SignatureError>
        let withDigest: Result<CoveredComponents, SignatureError>

        init(_ components: [ComponentIdentifier]) {
            let others = components.filter { $0 != .contentDigest }
            withoutDigest = Result { () throws(SignatureError) in try CoveredComponents(others) }
            withDigest = Result { () throws(SignatureError) in try CoveredComponents(others + [.contentDigest]) }
        }
    }

    let format: Format

    /// An HTTP Message Signature (RFC 9421) with `Content-Digest` (RFC 9530), by any key. Use it wherever the backend
    /// can verify it.
    ///
    /// The signature has `created`, `nonce`, `keyid` and `tag`, and covers `content-digest` if the request has a body.
    ///
    /// - Parameters:
    ///   - tag: The tag by which the server finds the signature.
    ///   - components: The covered components apart from the digest. The default is method, authority, path and query.
    public static func signature(
        tag: String, components: [ComponentIdentifier] = [.method, .authority, .path, .query]
    ) -> SigningWay {
        SigningWay(format: .signature(tag: tag, Coverage(components)))
    }

    /// The salted digest, for a backend that cannot verify signatures. The key must be a `SigningKey.salted`. The
    /// digest does not cover the host, and covers no header field except `Content-Type`. A streamed body is read into
    /// memory first, up to ``SigningPolicy/maximumBufferedByteCount``.
    public static let saltedDigest = SigningWay(format: .saltedDigest)

    /// The salted digest together with its secret, encrypted to the server: for registered third parties. The key must
    /// be a ``RequestKey/init(_:by:)``.
    ///
    /// - Parameters:
    ///   - serverKey: The public key of the server.
    ///   - id: The identifier of the server's key.
    public static func sealedKey(to serverKey: Curve25519.KeyAgreement.PublicKey, id: String) -> SigningWay {
        SigningWay(format: .sealedKey(to: serverKey, id: id))
    }

    /// Whether requests have an HTTP Message Signature, which needs only the digest of the body.
    var isSignature: Bool { if case .signature = format { true } else { false } }

    /// The name for records.
    var name: String {
        switch format {
        case .signature: "signature"
        case .saltedDigest: "salted digest"
        case .sealedKey: "sealed key"
        }
    }

    /// Returns the requested signature in a server's `Accept-Signature` that has the tag of this way; `nil` if there is
    /// none.
    func wantedSignature(in fields: HTTPFields) -> SignatureRequest? {
        guard case .signature(let tag, _) = format, let requests = try? fields.signatureRequests() else { return nil }
        return requests.first { $0.tag == tag }
    }

    /// Returns whether signatures of this way already meet the server's request, so that signing again would change
    /// nothing.
    func provides(_ wanted: SignatureRequest) -> Bool {
        guard case .signature(_, let coverage) = format else { return true }
        guard let provided = try? coverage.withDigest.get() else { return false }
        return wanted.nonce == nil && !wanted.wantsExpires && wanted.algorithm == nil
            && wanted.components.identifiers.allSatisfy(provided.contains)
    }
}
