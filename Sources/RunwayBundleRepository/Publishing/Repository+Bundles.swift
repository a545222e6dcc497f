package import Foundation
package import RunwaySignatures
package import RunwayTUF

extension Repository {
    /// Publishes a folder as the next version of a bundle.
    ///
    /// - Parameters:
    ///   - folder: The files of the bundle.
    ///   - target: The bundle, channel and runtime.
    ///   - version: The version.
    ///   - share: The share of devices, from 0 to 10,000. The default is all.
    ///   - floor: The lowest version of the app's embedded copy over which it is installed. The default is 0.
    ///   - keys: The keys of targets, snapshot and timestamp.
    ///   - time: The time of the signatures.
    ///   - lifetimes: How long the metadata is valid.
    /// - Throws: ``RepositoryError`` if the version is not higher than the published one, or if the folder has a
    ///   symbolic link or another special file; ``MalformedMetadata`` if a path (``BundlePath``) or the share is
    ///   invalid.
    package func publish(
        _ folder: URL, as target: BundleTarget, version: Int64, share: Int64 = Rollout.bucketCount, floor: Int64 = 0,
        _ keys: KeyFolder, at time: UnixTime, _ lifetimes: Lifetimes = Lifetimes()
    ) throws {
        let release = BundleRelease(version: version, floor: floor, rollout: try rollout(share, target, version))
        var files: [BundleManifest.File] = []
        for (path, file) in try Self.files(in: folder) {
            guard let bytes = read(file) else { throw RepositoryError("The file can't be read: \(file.path).") }
            let sha256 = Hexadecimal.sha256(bytes)
            files.append(.init(path: path, length: Int64(bytes.count), sha256: sha256))
            try write(bytes, to: self.file(sha256))
        }
        try publish(
            try BundleManifest(version: version, files: files), release, as: target, keys, at: time, lifetimes)
    }

    /// Publishes the files of an older version as the next version: devices never go back to a lower one.
    ///
    /// All devices are included again. The floor is that of the older version.
    ///
    /// - Throws: ``RepositoryError`` if no targets that the present keys signed list such an older version.
    package func rollBack(
        _ target: BundleTarget, to old: Int64, as version: Int64, _ keys: KeyFolder, at time: UnixTime,
        _ lifetimes: Lifetimes = Lifetimes()
    ) throws {
        guard let (manifest, floor) = try manifest(of: target, version: old, keys) else {
            throw RepositoryError("The repository has no version \(old) of \(target.path).")
        }
        let rollout = try rollout(Rollout.bucketCount, target, version)
        try publish(
            try BundleManifest(version: version, files: manifest.files),
            BundleRelease(version: version, floor: floor, rollout: rollout), as: target, keys, at: time, lifetimes)
    }

    /// Changes the terms of the published version. Its salt stays, so that a larger share only adds devices.
    ///
    /// - Parameters:
    ///   - target: The bundle, channel and runtime.
    ///   - share: The share of devices, from 0 to 10,000; `nil` leaves it as it is. With 0, no further device installs
    ///     the version.
    ///   - isStopped: The kill switch; `nil` leaves it as it is.
    ///   - keys: The keys of targets, snapshot and timestamp.
    ///   - time: The time of the signatures.
    ///   - lifetimes: How long the metadata is valid.
    /// - Returns: The terms as they are published now.
    /// - Throws: ``RepositoryError`` if the target has no version; ``MalformedMetadata`` if the share is invalid.
    @discardableResult package func change(
        _ target: BundleTarget, share: Int64? = nil, isStopped: Bool? = nil, _ keys: KeyFolder, at time: UnixTime,
        _ lifetimes: Lifetimes = Lifetimes()
    ) throws -> BundleRelease {
        var changed: BundleRelease?
        try commit(keys, at: time, lifetimes) { files in
            guard case .object(var object)? = files[target.path], case .object(let custom)? = object["custom"] else {
                throw RepositoryError("\(target.path) is not published.")
            }
            var release = try BundleRelease(custom)
            if let share { release.rollout = try Rollout(share: share, salt: release.rollout.salt) }
            if let isStopped { release.isStopped = isStopped }
            object["custom"] = .object(release.custom(over: custom))
            files[target.path] = .object(object)
            changed = release
        }
        guard let changed else { preconditionFailure("the edit either throws or sets it") }
        return changed
    }

    /// Returns the terms of the published version and the SHA-256 digest of its manifest, verified from the root beside
    /// the keys.
    ///
    /// - Throws: ``RepositoryError`` if the target has no version.
    package func published(
        _ target: BundleTarget, _ keys: KeyFolder
    ) throws -> (release: BundleRelease, sha256: String) {
        let targets = try trustedState(keys).state.targets
        guard let file = targets?.content.files[ExactText(target.path)], let sha256 = file.digest.hashes["sha256"]
        else { throw RepositoryError("\(target.path) is not published.") }
        return (try BundleRelease(file.custom), sha256)
    }

    private func rollout(_ share: Int64, _ target: BundleTarget, _ version: Int64) throws -> Rollout {
        try Rollout(share: share, salt: "\(target.path)#\(version)")
    }

    /// The kill switch stays as it is: a new version does not turn it off.
    private func publish(
        _ manifest: BundleManifest, _ release: BundleRelease, as target: BundleTarget, _ keys: KeyFolder,
        at time: UnixTime, _ lifetimes: Lifetimes
    ) throws {
        var (release, bytes) = (release, manifest.bytes)
        try commit(keys, at: time, lifetimes) { files in
            var custom: CanonicalObject = [:]
            if case .object(let object)? = files[target.path], case .object(let present)? = object["custom"] {
                let published = try BundleRelease(present)
                guard published.version < release.version else {
                    throw RepositoryError("Version \(published.version) of \(target.path) is published already.")
                }
                (custom, release.isStopped) = (present, published.isStopped)
            }
            try write(bytes, to: self.target(target.path, Hexadecimal.sha256(bytes)))
            let file = TargetFile(
                path: target.path, digest: FileDigest(of: bytes), custom: release.custom(over: custom))
            files[target.path] = .object(file.object)
        }
    }

    /// Returns the manifest and the floor of a version, which may no longer be the published one, if signed targets
    /// list it.
    private func manifest(
        of target: BundleTarget, version: Int64, _ keys: KeyFolder
    ) throws -> (BundleManifest, floor: Int64)? {
        let trusted = try trustedState(keys)
        let names = try FileManager.default.contentsOfDirectory(atPath: metadata.path)
        for name in names.sorted() where name.hasSuffix(".targets.json") {
            let targets: Metadata<TargetsContent>? = try? document(name)
            guard let targets, trusted.hasSigned(targets.document, as: .targets),
                let file = targets.content.files[ExactText(target.path)],
                let release = try? BundleRelease(file.custom), release.version == version,
                let sha256 = file.digest.hashes["sha256"],
                let bytes = read(self.target(target.path, sha256)), file.digest.matches(bytes)
            else { continue }
            return (try BundleManifest(reading: bytes), release.floor)
        }
        return nil
    }

    /// Returns the regular files below a folder by their relative paths, in order.
    private static func files(in folder: URL) throws -> [(path: String, file: URL)] {
        var files: [(path: String, file: URL)] = []
        var isFolder: ObjCBool = false
        guard FileManager.default.fileExists(atPath: folder.path, isDirectory: &isFolder), isFolder.boolValue else {
            throw RepositoryError("\(folder.path) is no folder.")
        }
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
