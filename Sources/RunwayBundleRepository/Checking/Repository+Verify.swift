import Foundation
package import RunwaySignatures
import RunwayTUF

/// One check of a repository, and its result in one sentence.
package struct RepositoryFinding: Sendable, CustomStringConvertible {
    package let isFine: Bool
    package let text: String

    /// `ok` or `FAILED`, and the sentence.
    package var description: String { (isFine ? "ok      " : "FAILED  ") + text }
}

extension Repository {
    /// Checks the repository as a client would that has only one root: each later root in turn, timestamp, snapshot,
    /// targets, manifests, and every file of every bundle. Ends at the first refusal of metadata.
    ///
    /// - Parameters:
    ///   - time: The time at which nothing may have expired.
    ///   - keys: The folder with the root to start from. Without it, the repository's first root is taken as it is.
    package func verify(at time: UnixTime, from keys: KeyFolder? = nil) -> [RepositoryFinding] {
        var findings: [RepositoryFinding] = []
        func note(_ text: String) { findings.append(RepositoryFinding(isFine: true, text: text)) }
        do {
            let targets = try verifyMetadata(at: time, from: keys, note)
            for target in targets.content.files.values.sorted(by: { $0.path < $1.path }) {
                findings += verify(target)
            }
        } catch {
            findings.append(RepositoryFinding(isFine: false, text: "\(error)"))
        }
        return findings
    }

    private func verifyMetadata(
        at time: UnixTime, from keys: KeyFolder?, _ note: (String) -> Void
    ) throws -> Metadata<TargetsContent> {
        func bytes(_ name: String) throws -> [UInt8] {
            guard let bytes = read(metadata.appending(path: name)) else {
                throw RepositoryError("metadata/\(name) is absent.")
            }
            return bytes
        }
        var trusted =
            try keys.map { try trustedRoot($0, at: time) } ?? TrustedMetadata(root: bytes("1.root.json"), at: time)
        note("root \(trusted.root.version) is signed by \(signers(trusted.root, .root, trusted)) (§5.2)")
        while try advance(&trusted) {
            note("root \(trusted.root.version) is signed by root \(trusted.root.version - 1) and itself (§5.3.4–5)")
        }
        _ = try trusted.updateTimestamp(bytes("timestamp.json"))
        note("the root is valid until \(trusted.root.expires.metadataText) (§5.3.10)")
        if let timestamp = trusted.timestamp {
            note("timestamp \(timestamp.version) is signed by \(signers(timestamp, .timestamp, trusted)) (§5.4.2)")
            note("timestamp \(timestamp.version) is valid until \(timestamp.expires.metadataText) (§5.4.4)")
        }
        try trusted.updateSnapshot(bytes("\(trusted.snapshotFile.version).snapshot.json"))
        if let snapshot = trusted.snapshot {
            note(
                "snapshot \(snapshot.version) has the length, hash and version that the timestamp lists (§5.5.2, §5.5.4)"
            )
            note("snapshot \(snapshot.version) is signed by \(signers(snapshot, .snapshot, trusted)) (§5.5.3)")
            note("snapshot \(snapshot.version) is valid until \(snapshot.expires.metadataText) (§5.5.6)")
        }
        let role = trusted.topLevelTargets
        let targets = try trusted.targets(bytes("\(trusted.file(of: role).version).targets.json"), of: role)
        note("targets \(targets.version) have the length, hash and version that the snapshot lists (§5.6.2, §5.6.4)")
        note("targets \(targets.version) are signed by \(signers(targets, .targets, trusted)) (§5.6.3)")
        note("targets \(targets.version) are valid until \(targets.expires.metadataText) (§5.6.5)")
        return targets
    }

    private func signers<Content>(
        _ metadata: Metadata<Content>, _ role: TopLevelRole, _ trusted: TrustedMetadata
    ) -> String {
        let (keys, root) = (trusted.root.content[role], trusted.root.content)
        let count = root.keys.signers(of: metadata.document, for: RoleKeys(keyIDs: keys.keyIDs, threshold: .max))
        return "\(count) of \(keys.keyIDs.count) keys, \(keys.threshold) needed"
    }

    private func verify(_ target: TargetFile) -> [RepositoryFinding] {
        func fail(_ text: String) -> RepositoryFinding {
            RepositoryFinding(isFine: false, text: "\(target.path): \(text)")
        }
        guard let sha256 = target.digest.hashes["sha256"],
            let bytes = read(self.target(target.path, sha256)), target.digest.matches(bytes)
        else { return [fail("its file is absent or has another length or hash (§5.7.3)")] }
        let manifest: BundleManifest
        do throws(MalformedMetadata) {
            manifest = try BundleManifest(reading: bytes)
        } catch { return [fail(error.reason)] }
        let wrong = manifest.files.filter { file in
            read(self.file(file.sha256)).map { Int64($0.count) != file.length || Hexadecimal.sha256($0) != file.sha256 }
                ?? true
        }
        if wrong.isEmpty {
            let text = "\(target.path): version \(manifest.version), \(manifest.files.count) files have their hashes"
            return [RepositoryFinding(isFine: true, text: text)]
        }
        return wrong.map { fail("\($0.path) is absent or has another length or hash") }
    }
}
