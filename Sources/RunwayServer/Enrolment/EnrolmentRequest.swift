import RunwayFormats
import RunwayJSON
import RunwaySignatures

/// The body of a request that enrols a key.
struct EnrolmentRequest: Sendable {
    let statement: EnrolmentStatement
    /// The signature of the statement by the new key.
    let proof: [UInt8]
    /// The signature of the statement by the replaced key; empty if no key is replaced.
    let replacedProof: [UInt8]
    let evidence: DeviceEvidence?

    init(_ body: [UInt8], account: String, authority: String) throws(EnrolmentRefusal) {
        guard let json = try? JSONDocument(body).root, let body = EnrolmentBody(json),
            let key = Base64.decodedForURL(body.key), let proof = Base64.decodedForURL(body.proof)
        else { throw EnrolmentRefusal(.malformed) }
        let replacedProof = body.replacedProof.flatMap { Base64.decodedForURL($0) }
        guard (body.replaces == nil) == (replacedProof == nil) else { throw EnrolmentRefusal(.malformed) }
        do throws(SignatureError) {
            statement = try EnrolmentStatement(
                authority: authority, account: account, device: body.device, challenge: body.challenge,
                replacing: body.replaces, publicKey: key)
        } catch {
            throw EnrolmentRefusal(.malformed)
        }
        (self.proof, self.replacedProof) = (proof, replacedProof ?? [])
        evidence = body.evidence.flatMap { Base64.decodedForURL($0) }.map {
            DeviceEvidence(format: body.evidenceFormat ?? "", data: $0)
        }
    }
}
