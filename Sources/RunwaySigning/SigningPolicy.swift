public import Crypto
import HTTPTypes
import Runway
public import RunwaySignatures

/// The settings for signing the requests of a service and for verifying its responses.
///
/// The time of the device's clock is corrected to the server's time, by at most 24 hours: a signature with a future
/// time could be stored and used at that time. A device whose clock is further off is accepted only with a nonce of the
/// server.
public struct SigningPolicy: Sendable {
    /// The maximum correction of the device's clock.
    static let maximumCorrection = Duration.seconds(86_400)

    /// The kind of signature that is added to requests.
    public var way: SigningWay
    /// The signature that responses must have. The default, `nil`, verifies no responses.
    public var responses: ResponseSignatures?
    /// The types of the structured fields that signatures may cover strictly, in requests and responses. The default
    /// has the fields that RFCs define. Add fields of the service by their lowercase names, here and at the server.
    public var structuredFieldTypes = StructuredFieldType.registered
    /// The maximum size of a stream that is read into memory before it is sent because its digest is needed first. The
    /// default is 1 MiB; 0 reads no stream into memory. Raise it for larger streams.
    ///
    /// This concerns streams that can be read only once and have no `Content-Digest`, and all streams with a salted
    /// digest. A stream above the maximum fails as `NetworkError.Kind.invalidConfiguration`.
    public var maximumBufferedByteCount = 1 << 20

    /// Creates a policy that signs requests and verifies no responses.
    public init(_ way: SigningWay) { self.way = way }
}

/// One of three ways to prove that a request comes from the app. `docs/formats.md` defines their bytes.
public struct SigningWay: Sendable {
    enum Format: Sendable {
        case signature(tag: String, Coverage)
        case saltedDigest
        case sealedKey(to: Curve25519.KeyAgreement.PublicKey, id: String)
    }

    /// The components that signatures cover, besides those that a server requests. Each list is computed once. An error
    /// in a list fails every request that uses it.
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

    /// Signs with an HTTP Message Signature (RFC 9421) and `Content-Digest` (RFC 9530), by any key. Use it if the
    /// backend can verify it.
    ///
    /// The signature has `created`, `nonce`, `keyid` and `tag`, and covers `content-digest` if the request has a body.
    ///
    /// - Parameters:
    ///   - tag: The tag by which the server finds the signature.
    ///   - components: The covered components besides the digest. The default is the method, authority, path and query.
    public static func signature(
        tag: String, components: [ComponentIdentifier] = [.method, .authority, .path, .query]
    ) -> SigningWay {
        SigningWay(format: .signature(tag: tag, Coverage(components)))
    }

    /// Signs with a salted digest, for a backend that cannot verify signatures. The key must be a `SigningKey.salted`.
    ///
    /// The digest does not cover the host, nor any header field except `Content-Type`. A streamed body is first read
    /// into memory, up to ``SigningPolicy/maximumBufferedByteCount``.
    public static let saltedDigest = SigningWay(format: .saltedDigest)

    /// Signs with a salted digest, and sends the digest's secret encrypted for the server. Use it for registered third
    /// parties. The key must be created by ``RequestKey/init(id:secret:by:)``.
    ///
    /// - Parameters:
    ///   - serverKey: The public key of the server.
    ///   - id: The identifier of the server's key.
    public static func sealedKey(to serverKey: Curve25519.KeyAgreement.PublicKey, id: String) -> SigningWay {
        SigningWay(format: .sealedKey(to: serverKey, id: id))
    }

    /// Whether this is an HTTP Message Signature, which needs only the digest of the body and not the body itself.
    var isSignature: Bool { if case .signature = format { true } else { false } }

    /// The name of this way of signing in records.
    var name: String {
        switch format {
        case .signature: "signature"
        case .saltedDigest: "salted digest"
        case .sealedKey: "sealed key"
        }
    }

    /// Returns the signature that `Accept-Signature` requests with the tag of this way of signing; `nil` if it requests
    /// none.
    func wantedSignature(in fields: HTTPFields) -> SignatureRequest? {
        guard case .signature(let tag, _) = format, let requests = try? fields.signatureRequests() else { return nil }
        return requests.first { $0.tag == tag }
    }

    /// Returns whether signatures of this way already satisfy the server's request, so that signing again would change
    /// nothing.
    func provides(_ wanted: SignatureRequest) -> Bool {
        guard case .signature(_, let coverage) = format else { return true }
        guard let provided = try? coverage.withDigest.get() else { return false }
        return wanted.nonce == nil && !wanted.wantsExpires && wanted.algorithm == nil
            && wanted.components.identifiers.allSatisfy(provided.contains)
    }
}
