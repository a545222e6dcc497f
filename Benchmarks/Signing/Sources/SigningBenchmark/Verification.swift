import Crypto
import HTTPTypes
import RunwaySignatures

/// Verifies one kind of wrong signature again and again, for callgrind.
enum Verification {
    static func run(_ kind: String, count: Int) async throws {
        let key = try SigningKey.hmac(SymmetricKey(data: Array("the same secret in each process.".utf8)))
        let keys = InMemoryKeyDirectory([KeyRecord(id: "key-1", key: key.verificationKey, owner: "anna")])
        let verifier = SignatureVerifier(
            policy: VerificationPolicy(tag: "app"), keys: keys, nonces: NonceMemory(startedAt: UnixTime(seconds: 0)))
        let now = UnixTime(seconds: 1_790_000_000)
        var request = HTTPRequest(method: .get, scheme: "https", authority: "api.example.com", path: "/orders?page=1")
        let parameters = try SignatureParameters(
            components: CoveredComponents([.method, .authority, .path, .query]), created: now, nonce: "nonce-1",
            keyID: kind == "unknown" ? "key-2" : "key-1", tag: "app")
        let base = try SignatureContext(request).signatureBase(for: parameters)
        var bytes = try key.signature(of: base)
        bytes[kind == "last" ? bytes.count - 1 : 0] ^= 1
        request.headerFields.append(try LabelledSignature(label: "sig1", parameters: parameters, signature: bytes))
        var refused = 0
        for _ in 0..<count {
            do throws(SignatureRefusal) {
                _ = try await verifier.verify(SignatureContext(request), hasBody: false, at: now)
            } catch {
                refused += 1
            }
        }
        print("\(kind): \(refused) of \(count) refused")
    }
}
