import Crypto
import HTTPTypes
import RunwaySignatures

/// Verifies one kind of wrong signature again and again, for callgrind, after one that is right.
enum Verification {
    static func run(_ kind: String, count: Int) async throws {
        let key = try SigningKey.hmac(SymmetricKey(data: Array("the same secret in each process.".utf8)))
        let keys = InMemoryKeyDirectory([KeyRecord(id: "key-1", key: key.verificationKey, owner: "anna")])
        let verifier = SignatureVerifier(
            policy: VerificationPolicy(tag: "app"), keys: keys, nonces: NonceMemory(startedAt: UnixTime(seconds: 0)))
        let now = UnixTime(seconds: 1_790_000_000)
        func signed(by keyID: String, nonce: String, changing index: Int?) throws -> HTTPRequest {
            var request = HTTPRequest(
                method: .get, scheme: "https", authority: "api.example.com", path: "/orders?page=1")
            let parameters = try SignatureParameters(
                components: CoveredComponents([.method, .authority, .path, .query]), created: now, nonce: nonce,
                keyID: keyID, tag: "app")
            let base = try SignatureContext(request).signatureBase(for: parameters)
            var bytes = try key.signature(of: base)
            if let index { bytes[index] ^= 1 }
            request.headerFields.append(try LabelledSignature(label: "sig1", parameters: parameters, signature: bytes))
            return request
        }
        // As at every server that runs for a while: the kind of the key is known, and with it that of unknown keys.
        let right = try signed(by: "key-1", nonce: "nonce-0", changing: nil)
        _ = try await verifier.verify(SignatureContext(right), hasBody: false, at: now)
        let request = try signed(
            by: kind == "unknown" ? "key-2" : "key-1", nonce: "nonce-1", changing: kind == "last" ? 31 : 0)
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
