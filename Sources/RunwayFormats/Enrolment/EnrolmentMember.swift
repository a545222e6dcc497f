package import RunwayJSON

/// The JSON members of a request that enrols a device's key. All are strings; keys, signatures and evidence are in
/// base64url.
package enum EnrolmentMember: String, CaseIterable, Sendable {
    case key, device, challenge, proof, replaces, replacedProof, evidenceFormat, evidence

    package static func json(_ members: [EnrolmentMember: String]) -> [UInt8] {
        JSONWriter.object { for member in allCases { $0.member(member.rawValue, members[member]) } }
    }
}

extension JSONValue {
    package subscript(_ member: EnrolmentMember) -> JSONValue { self[member.rawValue] }
}
