import RunwaySignatures

/// A role of targets with the keys that its delegator lists for it. Two roles may delegate to one name with different
/// keys, so that the name alone does not identify them.
package struct TargetsRole: Sendable {
    package let name: String
    let keys: KeyTable
    let signers: RoleKeys
    /// Whether the root delegates to it.
    var isTopLevel = false
}

extension TrustedMetadata {
    /// The top-level targets, with the keys that the root lists.
    package var topLevelTargets: TargetsRole {
        TargetsRole(
            name: TopLevelRole.targets.rawValue, keys: root.content.keys, signers: root.content[.targets],
            isTopLevel: true)
    }

    /// Returns the version and limit with which to download a role's metadata (§5.6.1).
    package func file(of role: TargetsRole) throws(MetadataError) -> MetadataFile {
        guard let snapshot, isSnapshotCurrent else { preconditionFailure("the snapshot comes before the targets") }
        guard let file = snapshot.content.files[ExactText("\(role.name).json")] else {
            throw MetadataError(role.name, .absence, "5.6.1", "the snapshot does not list it")
        }
        return file
    }

    /// Returns the metadata of the top-level targets or of a delegated role if it is acceptable (§5.6.2–5.6.5).
    package func targets(
        _ bytes: [UInt8], of role: TargetsRole
    ) throws(MetadataError) -> Metadata<TargetsContent> {
        let file = try file(of: role)
        guard file.digest.matches(bytes) else {
            throw MetadataError(role.name, .mixAndMatch, "5.6.2", "the snapshot lists another length or hash")
        }
        let new: Metadata<TargetsContent>
        if role.isTopLevel, let known = known.targets, known.document.bytes == bytes {
            new = known
        } else {
            new = try Self.read(bytes, role.name, "5.6.3", limits.targetsByteCount)
            try Self.verify(new.document, role.name, role.keys, role.signers, "5.6.3")
        }
        guard new.version == file.version else {
            throw MetadataError(
                role.name, .mixAndMatch, "5.6.4", "version \(new.version), the snapshot lists \(file.version)")
        }
        try checkExpiry(of: new, role.name, "5.6.5")
        return new
    }
}
