import Foundation
import RunwaySignatures
import RunwayTUF

/// The newest metadata of a repository, verified from the root beside the keys, so that it can be signed again.
struct TrustedState: Sendable {
    /// The roots from the trusted one to the newest, each signed by the one before it and by itself.
    let roots: [Metadata<RootContent>]
    /// The newest metadata, under the last of the roots.
    let state: Repository.State

    /// Returns the state with the next root, if the newest one accepts it.
    func appending(root bytes: [UInt8], at time: UnixTime) throws -> TrustedState {
        var trusted = try TrustedMetadata(root: state.root.document.bytes, at: time)
        _ = try trusted.updateRoot(bytes)
        let next = Repository.State(
            root: trusted.root, timestamp: state.timestamp, snapshot: state.snapshot, targets: state.targets)
        return TrustedState(roots: roots + [trusted.root], state: next)
    }

    /// Returns whether keys that one of the roots lists for a role have signed a document. Those of the newest root
    /// need not have yet, if its rotation was interrupted.
    func hasSigned(_ document: SignedDocument, as role: TopLevelRole) -> Bool {
        roots.contains { $0.content.hasSigned(document, as: role) }
    }
}

extension Repository {
    /// Reads the newest metadata, and verifies it from the root beside the keys. Expiry does not matter.
    ///
    /// - Throws: ``RepositoryError`` or `MetadataError` if a document is absent, not signed by its role, not the one
    ///   that another document lists, or older than the published one.
    func trustedState(_ keys: KeyFolder) throws -> TrustedState {
        let roots = try roots(from: keys)
        guard let root = roots.last else { preconditionFailure("the trusted root is one of them") }
        let trusted = TrustedState(roots: roots, state: try state(under: root))
        try check(trusted.state.timestamp, .timestamp, trusted, listed: nil)
        try check(trusted.state.snapshot, .snapshot, trusted, listed: trusted.state.timestamp?.content.snapshot)
        let listed = trusted.state.snapshot?.content.files[ExactText("targets.json")]
        try check(trusted.state.targets, .targets, trusted, listed: listed)
        if let bytes = read(keys.publishedVersions),
            let role = try PublishedVersions(reading: bytes).firstOlderRole(in: trusted.state)
        {
            throw RepositoryError(
                "The repository's \(role.rawValue) is older than the one that was published last. If a backup was "
                    + "restored on purpose, remove \(keys.publishedVersions.path).")
        }
        return trusted
    }

    /// Returns the root beside the keys, and those of the repository that follow it.
    private func roots(from keys: KeyFolder) throws -> [Metadata<RootContent>] {
        var trusted = try trustedRoot(keys, at: UnixTime(seconds: 0))
        var roots = [trusted.root]
        while try advance(&trusted) { roots.append(trusted.root) }
        return roots
    }

    /// Starts with the root beside the keys.
    ///
    /// - Throws: ``RepositoryError`` if the file is absent, or if the repository has another root of its version.
    func trustedRoot(_ keys: KeyFolder, at time: UnixTime) throws -> TrustedMetadata {
        guard let bytes = read(keys.trustedRoot) else {
            throw RepositoryError("\(keys.trustedRoot.path) is absent: copy the root that the app has to it.")
        }
        let trusted = try TrustedMetadata(root: bytes, at: time)
        let name = "metadata/\(trusted.root.version).root.json"
        guard read(url.appending(path: name)) == bytes else {
            throw RepositoryError("\(name) is not the root beside the keys, which they trust.")
        }
        return trusted
    }

    /// Accepts the root that follows the trusted one. Returns `false` if the repository has no later one.
    func advance(_ trusted: inout TrustedMetadata) throws -> Bool {
        let name = "\(try trusted.root.versionAfter(.root)).root.json"
        guard let next = read(metadata.appending(path: name)) else { return false }
        guard case .accepted = try trusted.updateRoot(next) else {
            throw RepositoryError("metadata/\(name) has the version before its own.")
        }
        return true
    }

    private func check<Content>(
        _ metadata: Metadata<Content>?, _ role: TopLevelRole, _ trusted: TrustedState, listed: MetadataFile?
    ) throws {
        guard let metadata else { throw RepositoryError("The repository has no \(role.rawValue) that can be read.") }
        guard trusted.hasSigned(metadata.document, as: role) else {
            throw RepositoryError("The keys of \(role.rawValue) have not signed \(role.rawValue) \(metadata.version).")
        }
        if let listed, metadata.version != listed.version || !listed.digest.matches(metadata.document.bytes) {
            throw RepositoryError("Another version or hash is listed for \(role.rawValue) \(metadata.version).")
        }
    }
}

extension RootContent {
    /// Returns whether enough keys that the root lists for a role have signed a document.
    func hasSigned(_ document: SignedDocument, as role: TopLevelRole) -> Bool {
        keys.signers(of: document, for: self[role]) >= self[role].threshold
    }
}

extension Metadata {
    /// Returns the next version.
    ///
    /// - Throws: ``RepositoryError`` if the version is the largest of 64 bits.
    func versionAfter(_ role: TopLevelRole) throws -> Int64 {
        let (next, isTooLarge) = version.addingReportingOverflow(1)
        guard !isTooLarge else { throw RepositoryError("The version of \(role.rawValue) can't be raised.") }
        return next
    }
}
