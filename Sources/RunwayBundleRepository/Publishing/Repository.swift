package import Foundation
import RunwaySignatures
package import RunwayTUF

/// A repository as a folder of static files, which any host can serve:
///
/// - `metadata/`: `timestamp.json`, and `N.root.json`, `N.snapshot.json`, `N.targets.json` of each version N.
/// - `targets/`: manifests of bundles, with their hash in their name.
/// - `files/`: the files of all bundles, each named by its SHA-256 digest.
///
/// Each file is written beside its place and renamed, and only `timestamp.json` is ever replaced, last: a client sees
/// either the old or the new publication, whole.
package struct Repository: Sendable {
    package let url: URL

    package init(_ url: URL) { self.url = url }

    /// The newest metadata of each role.
    package struct State: Sendable {
        package let root: Metadata<RootContent>
        package let timestamp: Metadata<TimestampContent>?
        package let snapshot: Metadata<SnapshotContent>?
        package let targets: Metadata<TargetsContent>?

        init(
            root: Metadata<RootContent>, timestamp: Metadata<TimestampContent>? = nil,
            snapshot: Metadata<SnapshotContent>? = nil, targets: Metadata<TargetsContent>? = nil
        ) {
            (self.root, self.timestamp, self.snapshot, self.targets) = (root, timestamp, snapshot, targets)
        }
    }

    /// Reads the newest metadata. Nothing in it is verified: before anything is signed, ``trustedState(_:)`` does.
    ///
    /// - Throws: ``RepositoryError`` if there is no root; ``MalformedMetadata`` if a document is malformed.
    package func state() throws -> State {
        guard let root: Metadata<RootContent> = try document("\(try newestRootVersion()).root.json") else {
            throw RepositoryError("\(url.path) is no repository: it has no metadata/1.root.json.")
        }
        return try state(under: root)
    }

    /// Reads the newest metadata of the roles below the root.
    func state(under root: Metadata<RootContent>) throws -> State {
        let timestamp: Metadata<TimestampContent>? = try document("timestamp.json")
        let snapshot: Metadata<SnapshotContent>? = try timestamp.flatMap {
            try document("\($0.content.snapshot.version).snapshot.json")
        }
        let listed = snapshot?.content.files[ExactText("targets.json")]
        return State(
            root: root, timestamp: timestamp, snapshot: snapshot,
            targets: try listed.flatMap { try document("\($0.version).targets.json") })
    }

    /// The highest version N of which there is `N.root.json`; 1 without any.
    private func newestRootVersion() throws -> Int64 {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: metadata.path)) ?? []
        return names.compactMap { $0.wholeMatch(of: /(\d{1,18})\.root\.json/).flatMap { Int64($0.1) } }.max() ?? 1
    }

    func document<Content>(_ name: String) throws -> Metadata<Content>? {
        guard let bytes = read(metadata.appending(path: name)) else { return nil }
        return try Metadata(SignedDocument(bytes, maximumByteCount: Self.maximumByteCount))
    }

    /// The maximum length of a metadata file that is read.
    static let maximumByteCount = 16 << 20

    // MARK: - Files

    var metadata: URL { url.appending(path: "metadata") }

    /// The place of a target's file.
    func target(_ path: String, _ sha256: String) -> URL {
        let parts = path.split(separator: "/")
        return url.appending(
            path: (["targets"] + parts.dropLast().map(String.init) + ["\(sha256).\(parts.last ?? "")"])
                .joined(separator: "/"))
    }

    /// The place of a bundle's file.
    func file(_ sha256: String) -> URL { url.appending(path: "files/\(sha256)") }

    func read(_ file: URL) -> [UInt8]? { (try? Data(contentsOf: file)).map(Array.init) }

    /// Writes a file beside its place, and renames it. Both survive a loss of power: the file and its name are synced.
    /// A file that has the bytes already is not written.
    func write(_ bytes: [UInt8], to file: URL) throws {
        if read(file) == bytes { return }
        let (manager, folder) = (FileManager.default, file.deletingLastPathComponent())
        let isNewFolder = !manager.fileExists(atPath: folder.path)
        try manager.createDirectory(at: folder, withIntermediateDirectories: true)
        let draft = folder.appending(path: ".\(file.lastPathComponent).new")
        do {
            guard manager.createFile(atPath: draft.path, contents: nil, attributes: [.posixPermissions: 0o644]) else {
                throw RepositoryError("The file can't be written: \(draft.path).")
            }
            let handle = try FileHandle(forWritingTo: draft)
            defer { try? handle.close() }
            try handle.write(contentsOf: Data(bytes))
            try handle.synchronize()
            guard rename(draft.path, file.path) == 0 else {
                throw RepositoryError("The file can't be replaced: \(file.path).")
            }
            try sync(folder, withFoldersAbove: isNewFolder)
        } catch {
            try? manager.removeItem(at: draft)
            throw error
        }
    }

    /// Syncs the names in a folder, or also its own name in the folders above it, up to that of the repository.
    private func sync(_ folder: URL, withFoldersAbove: Bool) throws {
        let descriptor = open(folder.path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw RepositoryError("The folder can't be read: \(folder.path).") }
        defer { close(descriptor) }
        // Some file systems don't sync folders, and report one of these errors.
        guard fsync(descriptor) == 0 || [EINVAL, ENOTSUP].contains(errno) else {
            throw RepositoryError("The folder can't be synced: \(folder.path).")
        }
        if withFoldersAbove, folder.path.count > url.path.count {
            try sync(folder.deletingLastPathComponent(), withFoldersAbove: true)
        }
    }
}
