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
        guard let json = try? JSONDocument(body).root, json.kind == .object,
            let key = Self.bytes(json[.key]), let proof = Self.bytes(json[.proof]),
            let device = json[.device].string, let challenge = json[.challenge].string
        else { throw EnrolmentRefusal.malformed }
        let replaced = json[.replaces].string
        let replacedProof = Self.bytes(json[.replacedProof])
        guard (replaced == nil) == (replacedProof == nil), (json[.replaces].kind == .missing) == (replaced == nil)
        else {
            throw EnrolmentRefusal.malformed
        }
        do throws(SignatureError) {
            statement = try EnrolmentStatement(
                authority: authority, account: account, device: device, challenge: challenge, replacing: replaced,
                publicKey: key)
        } catch {
            throw EnrolmentRefusal.malformed
        }
        (self.proof, self.replacedProof) = (proof, replacedProof ?? [])
        evidence = Self.bytes(json[.evidence]).map {
            DeviceEvidence(format: json[.evidenceFormat].string ?? "", data: $0)
        }
    }

    private static func bytes(_ json: JSONValue) -> [UInt8]? { json.string.flatMap { Base64.decodedForURL($0) } }
}
