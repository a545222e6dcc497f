package import Foundation
package import RunwayTUF

/// A folder of private keys, one file each, of mode 0600: `ROLE-IDENTIFIER.json`.
///
/// The keys of the root need not be in the folder that publishes: only `init`, `rotate` and `revoke` use them. Beside
/// the keys is the last root that they signed for, `trusted-root.json`, and the versions of the last publication,
/// `published.json`. Nobody can replace them who can only write the repository.
package struct KeyFolder: Sendable {
    package let url: URL

    package init(_ url: URL) { self.url = url }

    /// Returns whether the folder is that of a repository or below it, where everyone could read the keys.
    package func isWithin(_ repository: Repository) -> Bool {
        Self.resolved(url).starts(with: Self.resolved(repository.url))
    }

    /// Returns the components of a path without symbolic links. The last ones need not exist.
    private static func resolved(_ url: URL) -> [String] {
        let url = url.absoluteURL.standardizedFileURL
        if url.pathComponents.count <= 1 || FileManager.default.fileExists(atPath: url.path) {
            return url.resolvingSymlinksInPath().pathComponents
        }
        return resolved(url.deletingLastPathComponent()) + [url.lastPathComponent]
    }

    /// The file of the root from which a repository is verified before anything in it is signed.
    var trustedRoot: URL { url.appending(path: "trusted-root.json") }

    /// The file of the versions that were published last.
    var publishedVersions: URL { url.appending(path: "published.json") }

    /// Runs an operation that signs. Two of them at a time would publish two different documents of one version.
    ///
    /// - Throws: ``RepositoryError`` if another process signs with the folder, or if the folder can't be used.
    func locked<Result>(_ operation: () throws -> Result) throws -> Result {
        let file = open(url.appending(path: "lock").path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        guard file >= 0 else {
            throw RepositoryError("The folder of keys can't be used: \(url.path): \(String(cString: strerror(errno))).")
        }
        defer { close(file) }
        guard flock(file, LOCK_EX | LOCK_NB) == 0 else {
            throw RepositoryError("Another command signs with the keys in \(url.path). Try again when it has ended.")
        }
        return try operation()
    }

    /// Makes the folder, if it is absent.
    func makeFolder() throws {
        try FileManager.default.createDirectory(
            at: url, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    }

    /// Makes a key of a role and stores it in a new file.
    package func make(_ role: TopLevelRole) throws -> RoleKey {
        let key = RoleKey()
        try makeFolder()
        let file = url.appending(path: "\(role.rawValue)-\(key.listed.id.prefix(12)).json")
        guard
            FileManager.default.createFile(
                atPath: file.path, contents: Data(key.fileBytes), attributes: [.posixPermissions: 0o600])
        else { throw RepositoryError("The key can't be written: \(file.path).") }
        return key
    }

    /// Returns the private keys of a role that a root lists, sorted by their identifiers.
    ///
    /// - Throws: ``RepositoryError`` if a key's file may be read by others, or if there are fewer keys than the role's
    ///   threshold.
    package func keys(_ role: TopLevelRole, of root: RootContent) throws -> [RoleKey] {
        let found = try all().filter { root[role].keyIDs.contains($0.listed.id) }
        guard found.count >= root[role].threshold else {
            throw RepositoryError(
                "\(url.path) has \(found.count) of \(root[role].threshold) keys that \(role.rawValue) needs.")
        }
        return found
    }

    private func all() throws -> [RoleKey] {
        let names = try FileManager.default.contentsOfDirectory(atPath: url.path).filter {
            $0.hasSuffix(".json") && ![trustedRoot, publishedVersions].map(\.lastPathComponent).contains($0)
        }
        return try names.sorted().compactMap { name in
            let file = url.appending(path: name)
            let mode = try FileManager.default.attributesOfItem(atPath: file.path)[.posixPermissions] as? Int ?? 0
            guard mode & 0o077 == 0 else { throw RepositoryError("Other users can access the key \(file.path).") }
            return RoleKey(fileBytes: Array(try Data(contentsOf: file)))
        }.sorted { $0.listed.id < $1.listed.id }
    }
}

/// A command on a repository that can't be carried out. The text is one sentence for the operator.
package struct RepositoryError: Error, CustomStringConvertible {
    package let description: String

    package init(_ description: String) { self.description = description }
}
