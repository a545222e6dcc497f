public import Crypto
import HTTPTypes
import Runway
public import RunwaySignatures

/// How the requests of a service are signed, and whether its responses are verified.
public struct SigningPolicy: Sendable {
    /// How requests are signed.
    public var way: SigningWay
    /// Which signature responses must have. The default, `nil`, verifies none.
    public var responses: ResponseSignatures?
    /// The types of the structured fields that signatures of requests and responses may cover strictly. The default has
    /// those that RFCs define; add a field of the service by its name in lower case, here and at the server.
    public var structuredFieldTypes = StructuredFieldType.registered
    /// How far the clock of the device may be corrected by the server's. The default is 24 hours.
    ///
    /// A signature that is made for a later time can be stored and used then. A device whose clock is further off is
    /// accepted with a nonce of the server alone.
    public var maximumCorrection = Duration.seconds(86_400)

    /// The largest stream that is read into memory before it is sent, if its digest can't be known otherwise: one that
    /// can be read only once and has no `Content-Digest`, or any stream under a salted digest. A larger one is refused
    /// as `NetworkError.Kind.invalidConfiguration`. The default is 1 MiB; 0 reads none.
    public var maximumBufferedByteCount = 1 << 20

    /// A policy that verifies no response.
    public init(_ way: SigningWay) { self.way = way }
}

/// One of the three ways to show that a request comes from the app; `docs/formats.md` states them to the byte.
public struct SigningWay: Sendable {
    enum Format: Sendable {
        case signature(tag: String, Coverage)
        case saltedDigest
        case sealedKey(to: Curve25519.KeyAgreement.PublicKey, id: String)
    }

    /// What signatures cover apart from what a server asks for. Both lists are made once; an error is that of each
    /// request that is signed.
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
    /// It has `created`, `nonce`, `keyid` and `tag`, and covers `content-digest` if there is a body.
    ///
    /// - Parameters:
    ///   - tag: The tag by which the server finds the signature.
    ///   - components: What is covered apart from the digest. The default is method, authority, path and query.
    public static func signature(
        tag: String, components: [ComponentIdentifier] = [.method, .authority, .path, .query]
    ) -> SigningWay {
        SigningWay(format: .signature(tag: tag, Coverage(components)))
    }

    /// The salted digest, for a backend that cannot verify signatures. The key is one of `SigningKey.salted`. It covers
    /// not the host, and of the header fields `Content-Type` alone. A streamed body is read into memory first, up to
    /// ``SigningPolicy/maximumBufferedByteCount``.
    public static let saltedDigest = SigningWay(format: .saltedDigest)

    /// The salted digest, and beside it the secret, encrypted to the server: for registered third parties. The key is a
    /// ``RequestKey/init(_:by:)``.
    ///
    /// - Parameters:
    ///   - serverKey: The public key of the server.
    ///   - id: The identifier of that key.
    public static func sealedKey(to serverKey: Curve25519.KeyAgreement.PublicKey, id: String) -> SigningWay {
        SigningWay(format: .sealedKey(to: serverKey, id: id))
    }

    /// Whether this is a signature, which needs the digest of the body alone.
    var isSignature: Bool { if case .signature = format { true } else { false } }

    /// The name for records.
    var name: String {
        switch format {
        case .signature: "signature"
        case .saltedDigest: "salted digest"
        case .sealedKey: "sealed key"
        }
    }

    /// The signature with the tag of this way that a server asks for, `nil` if it asks for none.
    func wantedSignature(in fields: HTTPFields) -> SignatureRequest? {
        guard case .signature(let tag, _) = format, let requests = try? fields.signatureRequests() else { return nil }
        return requests.first { $0.tag == tag }
    }

    /// Whether the signatures of this way are already what the server asks for, so that another would be no different.
    func provides(_ wanted: SignatureRequest) -> Bool {
        guard case .signature(_, let coverage) = format else { return true }
        guard let provided = try? coverage.withDigest.get() else { return false }
        return wanted.nonce == nil && !wanted.wantsExpires && wanted.algorithm == nil
            && wanted.components.identifiers.allSatisfy(provided.contains)
    }
}
