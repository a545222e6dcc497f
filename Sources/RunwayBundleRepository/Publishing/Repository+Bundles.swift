package import Foundation
package import RunwaySignatures
package import RunwayTUF

/// The conditions under which devices install a version of a bundle.
package struct Rollout: Sendable, Hashable {
    /// The percentage of devices, from 0 to 100. The default is 100.
    package var percentage: Int64 = 100
    /// The lowest version of the app's embedded copy that the version replaces. The default is 0.
    package var floor: Int64 = 0

    package init() {}
}

extension Repository {
    /// Publishes a folder as the next version of a bundle.
    ///
    /// - Throws: ``RepositoryError`` if the version is not higher than the published one, or if the folder has a
    ///   symbolic link or another special file; ``MalformedMetadata`` if a path is invalid (``BundlePath``).
    package func publish(
        _ folder: URL, as target: BundleTarget, version: Int64, rollout: Rollout = Rollout(), _ keys: KeyFolder,
        at time: UnixTime, _ lifetimes: Lifetimes = Lifetimes()
    ) throws {
        var files: [BundleManifest.File] = []
        for (path, file) in try Self.files(in: folder) {
            guard let bytes = read(file) else { throw RepositoryError("The file can't be read: \(file.path).") }
            let sha256 = Hexadecimal.sha256(bytes)
            files.append(.init(path: path, length: Int64(bytes.count), sha256: sha256))
            try write(bytes, to: self.file(sha256))
        }
        try publish(
            try BundleManifest(version: version, files: files), as: target, rollout, keys, at: time, lifetimes)
    }

    /// Publishes the files of an older version as the next version: devices never go back to a lower one.
    ///
    /// - Throws: ``RepositoryError`` if no targets that the present keys signed list such an older version.
    package func rollBack(
        _ target: BundleTarget, to old: Int64, as version: Int64, _ keys: KeyFolder, at time: UnixTime,
        _ lifetimes: Lifetimes = Lifetimes()
    ) throws {
        guard let manifest = try manifest(of: target, version: old, keys) else {
            throw RepositoryError("The repository has no version \(old) of \(target.path).")
        }
        try publish(
            try BundleManifest(version: version, files: manifest.files), as: target, Rollout(), keys, at: time,
            lifetimes)
    }

    private func publish(
        _ manifest: BundleManifest, as target: BundleTarget, _ rollout: Rollout, _ keys: KeyFolder,
        at time: UnixTime, _ lifetimes: Lifetimes
    ) throws {
        guard (0...100).contains(rollout.percentage) else { throw RepositoryError("A percentage is from 0 to 100.") }
        let bytes = manifest.bytes
        try commit(keys, at: time, lifetimes) { files in
            if case .object(let object)? = files[target.path], case .object(let custom)? = object["custom"],
                case .integer(let published)? = custom["version"], published >= manifest.version
            {
                throw RepositoryError("Version \(published) of \(target.path) is published already.")
            }
            try write(bytes, to: self.target(target.path, Hexadecimal.sha256(bytes)))
            let custom: CanonicalObject = [
                "floor": .integer(rollout.floor), "version": .integer(manifest.version),
                "rollout": .object([
                    "percentage": .integer(rollout.percentage), "salt": .string("\(target.path)#\(manifest.version)"),
                ]),
            ]
            files[target.path] = .object(
                TargetFile(path: target.path, digest: FileDigest(of: bytes), custom: custom).object)
        }
    }

    /// Returns the manifest of a version, which may no longer be the published one, if signed targets list it.
    private func manifest(
        of target: BundleTarget, version: Int64, _ keys: KeyFolder
    ) throws -> BundleManifest? {
        let trusted = try trustedState(keys)
        let names = try FileManager.default.contentsOfDirectory(atPath: metadata.path)
        for name in names.sorted() where name.hasSuffix(".targets.json") {
            let targets: Metadata<TargetsContent>? = try? document(name)
            guard let targets, trusted.hasSigned(targets.document, as: .targets),
                let digest = targets.content.files[ExactText(target.path)]?.digest,
                let sha256 = digest.hashes["sha256"],
                let bytes = read(self.target(target.path, sha256)), digest.matches(bytes)
            else { continue }
            let manifest = try BundleManifest(reading: bytes)
            if manifest.version == version { return manifest }
        }
        return nil
    }

    /// Returns the regular files below a folder by their relative paths, in order.
    private static func files(in folder: URL) throws -> [(path: String, file: URL)] {
        var files: [(path: String, file: URL)] = []
        for path in try FileManager.default.subpathsOfDirectory(atPath: folder.path).sorted() {
            let file = folder.appending(path: path)
            let type = try FileManager.default.attributesOfItem(atPath: file.path)[.type] as? FileAttributeType
            switch type {
            case .typeRegular: files.append((path, file))
            case .typeDirectory: continue
            default: throw RepositoryError("\(path) is no regular file.")
            }
        }
        return files
    }
}
