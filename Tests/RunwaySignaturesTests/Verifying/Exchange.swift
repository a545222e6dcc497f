import Crypto
import HTTPTypes

@testable import RunwaySignatures

/// A signed request and the verifier that accepts it, for tests that change one thing.
struct Exchange {
    static let now = UnixTime(seconds: 1_790_000_000)
    static let body = Array(#"{"amount": 12}"#.utf8)

    let key: SigningKey
    let keys: InMemoryKeyDirectory
    var policy = VerificationPolicy(tag: "app")
    var nonces: any NonceStore = NonceMemory(startedAt: now - .seconds(3_600), maximumNonces: 1_000)
    /// The request without a signature.
    var request = HTTPRequest(
        method: .post, scheme: "https", authority: "api.example.com", path: "/orders/a%2Fb?dry=1&dry=2",
        headerFields: [.contentType: "application/json", .contentDigest: BodyDigest(of: body).fieldValue])
    var covered: [ComponentIdentifier] = [.method, .authority, .path, .query, .contentDigest]
    var created: UnixTime? = now
    var expires: UnixTime?
    var nonce: String? = "n-1"
    var algorithm: SignatureAlgorithm?
    var keyID: String? = "k-1"
    var tag: String? = "app"
    var hasBody = true

    init(_ key: SigningKey? = nil) throws {
        self.key = try key ?? .hmac(SymmetricKey(data: Array("a secret of the tests".utf8)))
        keys = InMemoryKeyDirectory([KeyRecord(id: "k-1", key: self.key.verificationKey, owner: "anna")])
    }

    var parameters: SignatureParameters {
        get throws {
            try SignatureParameters(
                components: CoveredComponents(covered), created: created, expires: expires, nonce: nonce,
                algorithm: algorithm, keyID: keyID, tag: tag)
        }
    }

    /// The request with its signature.
    func signed(label: String = "sig1") throws -> HTTPRequest {
        var signed = request
        let parameters = try parameters
        let base = try SignatureContext(request).signatureBase(for: parameters)
        signed.headerFields.append(
            try LabelledSignature(label: label, parameters: parameters, signature: key.signature(of: base)))
        return signed
    }

    func verify(_ request: HTTPRequest? = nil, at time: UnixTime = now) async throws -> VerifiedSignature {
        let verifier = SignatureVerifier(policy: policy, keys: keys, nonces: nonces)
        return try await verifier.verify(SignatureContext(request ?? signed()), hasBody: hasBody, at: time)
    }

    /// The reason why the request is refused. `nil` if it is accepted.
    func refusal(_ request: HTTPRequest? = nil, at time: UnixTime = now) async throws -> SignatureRefusal.Reason? {
        do {
            _ = try await verify(request, at: time)
            return nil
        } catch let refusal as SignatureRefusal {
            return refusal.reason
        }
    }
}
