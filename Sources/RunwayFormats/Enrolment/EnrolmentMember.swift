package import RunwayJSON

/// The members of a request that enrols the key of a device. All are strings; keys, signatures and evidence are in
/// Base64 for URLs.
package enum EnrolmentMember: String, CaseIterable, Sendable {
    case key, device, challenge, proof, replaces, replacedProof, evidenceFormat, evidence

    /// Returns the request as JSON.
    package static func json(_ members: [EnrolmentMember: String]) -> [UInt8] {
        JSONWriter.object { for member in allCases { $0.member(member.rawValue, members[member]) } }
    }
}

extension JSONValue {
    package subscript(_ member: EnrolmentMember) -> JSONValue { self[member.rawValue] }
}
