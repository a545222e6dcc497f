import Foundation
package import RunwaySignatures
package import RunwayTUF

/// The time for which each role's metadata is valid after it was signed.
package struct Lifetimes: Sendable {
    /// The default is 365 days.
    package var root = Duration.seconds(365 * 86_400)
    /// The default is 90 days.
    package var targets = Duration.seconds(90 * 86_400)
    /// The default is 30 days.
    package var snapshot = Duration.seconds(30 * 86_400)
    /// The time for which a device may be shown an old publication. The default is 14 days; `renew` must run more
    /// often.
    package var timestamp = Duration.seconds(14 * 86_400)

    package init() {}
}

extension Repository {
    /// Signs the next snapshot and timestamp, and before them the next targets if an edit changes them, if their keys
    /// have changed, or if half of their lifetime is over. Equal input makes equal bytes.
    ///
    /// - Parameters:
    ///   - keys: The keys of targets, snapshot and timestamp.
    ///   - time: The time of the signatures.
    ///   - lifetimes: How long the metadata is valid.
    ///   - edit: Changes the member `targets`.
    /// - Throws: ``RepositoryError`` also if metadata of the repository is not signed by keys of its role, or older
    ///   than the published one: who can write the repository must not get a signature of it.
    package func commit(
        _ keys: KeyFolder, at time: UnixTime, _ lifetimes: Lifetimes = Lifetimes(),
        edit: (inout CanonicalObject) throws -> Void = { _ in }
    ) throws {
        try keys.locked { try commit(try trustedState(keys), keys, at: time, lifetimes, edit: edit) }
    }

    /// Signs everything, then writes it, and last stores the root and the versions beside the keys. The caller has
    /// locked the keys.
    func commit(
        _ present: TrustedState, _ keys: KeyFolder, at time: UnixTime, _ lifetimes: Lifetimes,
        edit: (inout CanonicalObject) throws -> Void = { _ in }
    ) throws {
        let (state, root) = (present.state, present.state.root.content)
        let targets = try nextTargets(keys, state, time, lifetimes, edit)
        var listing: CanonicalObject = [:]
        if case .object(let object)? = state.snapshot?.document.signed["meta"] { listing = object }
        listing["targets.json"] = .object(
            MetadataFile(version: targets.version, digest: FileDigest(of: targets.document.bytes)).object)
        var snapshot = state.snapshot?.document.signed ?? [:]
        snapshot["meta"] = .object(listing)
        let nextSnapshot = try sign(
            snapshot, "snapshot", nextVersion(after: state.snapshot, .snapshot, root), time + lifetimes.snapshot,
            keys.keys(.snapshot, of: root))
        let file = MetadataFile(version: nextSnapshot.version, digest: FileDigest(of: nextSnapshot.bytes))
        var timestamp = state.timestamp?.document.signed ?? [:]
        timestamp["meta"] = .object(["snapshot.json": .object(file.object)])
        let nextTimestamp = try sign(
            timestamp, "timestamp", nextVersion(after: state.timestamp, .timestamp, root), time + lifetimes.timestamp,
            keys.keys(.timestamp, of: root))
        try write(targets.document.bytes, to: metadata.appending(path: "\(targets.version).targets.json"))
        try write(nextSnapshot.bytes, to: metadata.appending(path: "\(nextSnapshot.version).snapshot.json"))
        try write(state.root.document.bytes, to: metadata.appending(path: "\(state.root.version).root.json"))
        try write(nextTimestamp.bytes, to: metadata.appending(path: "timestamp.json"))
        try write(state.root.document.bytes, to: keys.trustedRoot)
        let versions = PublishedVersions(
            root: state.root.version, timestamp: nextTimestamp.version, snapshot: nextSnapshot.version,
            targets: targets.version)
        try write(versions.bytes, to: keys.publishedVersions)
    }

    /// Returns the next version of the timestamp or snapshot.
    ///
    /// If its keys have rotated, versions begin again, with the first that has no file: clients have dropped those that
    /// they know, so that this recovers from versions that a stolen key has raised.
    private func nextVersion<Content>(
        after present: Metadata<Content>?, _ role: TopLevelRole, _ root: RootContent
    ) throws -> Int64 {
        if let present, root.hasSigned(present.document, as: role) { return try present.versionAfter(role) }
        var version: Int64 = 1
        func file() -> String { metadata.appending(path: "\(version).\(role.rawValue).json").path }
        while FileManager.default.fileExists(atPath: file()) { version += 1 }
        return version
    }

    private func nextTargets(
        _ keys: KeyFolder, _ state: State, _ time: UnixTime, _ lifetimes: Lifetimes,
        _ edit: (inout CanonicalObject) throws -> Void
    ) throws -> Metadata<TargetsContent> {
        var signed = state.targets?.document.signed ?? [:]
        var files: CanonicalObject = [:]
        if case .object(let object)? = signed["targets"] { files = object }
        let before = CanonicalValue.object(files).canonicalBytes
        try edit(&files)
        if let targets = state.targets, CanonicalValue.object(files).canonicalBytes == before,
            state.root.content.hasSigned(targets.document, as: .targets),
            targets.expires > time + lifetimes.targets / 2
        {
            return targets
        }
        signed["targets"] = .object(files)
        let next = try sign(
            signed, "targets", state.targets?.versionAfter(.targets) ?? 1, time + lifetimes.targets,
            keys.keys(.targets, of: state.root.content))
        return try Metadata(SignedDocument(next.bytes, maximumByteCount: Self.maximumByteCount))
    }

    /// Returns a signed part with the members that all roles have, with signatures. Unknown members stay.
    ///
    /// - Throws: ``RepositoryError`` also if the members were written for a later minor version of the specification:
    ///   they may mean something that this version would drop.
    func sign(
        _ members: CanonicalObject, _ type: String, _ version: Int64, _ expires: UnixTime, _ keys: [RoleKey]
    ) throws -> (version: Int64, bytes: [UInt8]) {
        if case .string(let present)? = members["spec_version"], !present.hasPrefix("1.0.") {
            throw RepositoryError("\(type) was written for specification \(present), this command knows 1.0 only.")
        }
        var signed = members
        signed["_type"] = .string(type)
        signed["spec_version"] = "1.0.31"
        signed["version"] = .integer(version)
        signed["expires"] = .string(expires.metadataText)
        let bytes = CanonicalValue.object(signed).canonicalBytes
        let document = SignedDocument(signed: signed, signatures: try keys.map { try $0.signature(of: bytes) })
        return (version, document.bytes)
    }
}
