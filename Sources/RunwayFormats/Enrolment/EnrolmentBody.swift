package import RunwayJSON

/// The body of a request that enrols the key of a device. Keys, signatures and evidence are in Base64 for URLs.
package struct EnrolmentBody: Sendable {
    package var key: String
    package var device: String
    package var challenge: String
    /// The signature of the statement by the new key.
    package var proof: String
    /// The identifier of the key that the new one replaces; `nil` for a device's first key.
    package var replaces: String?
    /// The signature of the statement by the replaced key.
    package var replacedProof: String?
    package var evidenceFormat: String?
    package var evidence: String?

    package init(key: String, device: String, challenge: String, proof: String) {
        (self.key, self.device, self.challenge, self.proof) = (key, device, challenge, proof)
    }

    /// Reads a body; `nil` if a member that it must have is absent, or one that decides what is replaced is malformed.
    package init?(_ json: JSONValue) {
        guard let key = json["key"].string, let device = json["device"].string,
            let challenge = json["challenge"].string, let proof = json["proof"].string
        else { return nil }
        self.init(key: key, device: device, challenge: challenge, proof: proof)
        (replaces, replacedProof) = (json["replaces"].string, json["replacedProof"].string)
        guard (replaces == nil) == (replacedProof == nil), (json["replaces"].kind == .missing) == (replaces == nil)
        else { return nil }
        (evidenceFormat, evidence) = (json["evidenceFormat"].string, json["evidence"].string)
    }

    /// The body as JSON.
    package var json: [UInt8] {
        JSONWriter.object { writer in
            for (name, text) in [
                ("key", key), ("device", device), ("challenge", challenge), ("proof", proof), ("replaces", replaces),
                ("replacedProof", replacedProof), ("evidenceFormat", evidenceFormat), ("evidence", evidence),
            ] { writer.member(name, text) }
        }
    }
}
