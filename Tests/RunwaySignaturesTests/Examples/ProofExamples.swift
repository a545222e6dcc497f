import HTTPTypes
import RunwaySignatures

/// The examples in the doc comments of proofs. They are compiled and not run.
enum ProofExamples {
    static func prove(
        _ request: inout HTTPRequest, token: String, by key: SigningKey, _ point: [UInt8], at now: UnixTime
    ) async throws {
        let claims = try DPoPClaims(request, token: token, at: now)
        request.headerFields[.dpop] = try await claims.proof(by: key, publicKey: point)
    }

    static func isNew(
        _ request: HTTPRequest, token: String, boundTo thumbprint: String, _ rules: DPoPRules, _ nonces: NonceMemory,
        at now: UnixTime
    ) throws -> Bool {
        let proof = try DPoPProof(of: request, token: token, boundTo: thumbprint, by: rules, at: now)
        let isNew = nonces.claim(proof.replay, at: now) == .claimed
        return isNew
    }
}
