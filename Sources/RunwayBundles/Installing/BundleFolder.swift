import Crypto
import Foundation
import Runway
import RunwayFiles
import RunwayTUF
import Synchronization

#if canImport(Darwin)
    import Darwin
#elseif canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

/// The files of a store on the disk:
///
/// - `state.json`: which bundles are installed. Only this file decides; it is replaced as a whole.
/// - `metadata/`: the metadata that the last updates accepted.
/// - `manifests/`: the manifest of each installed bundle, and of the one that is being installed, named by its digest.
/// - `files/`: the files of all installed bundles, each named by its SHA-256 digest.
/// - `incoming/`: files that are being downloaded or copied.
///
/// A file reaches `files/` by a rename, after its bytes were verified. All files of a bundle are flushed before the
/// state names it. A file that a power failure cut short earlier is detected at the next verification. Bundles share
/// files of equal bytes, so that an installation writes only those that no installed bundle has, and changes nothing
/// that a running bundle reads.
final class BundleFolder: Sendable {
    let url: URL
    /// Guards the digests of the files that were verified in this process.
    private let verified = Mutex<Set<String>>([])
    private let lock: FolderLock

    /// Opens the folder, and creates it if it does not exist.
    ///
    /// - Throws: ``BundleError/Kind/inUse`` or ``BundleError/Kind/storage``.
    init(_ url: URL) throws(BundleError) {
        self.url = url
        do {
            for folder in ["", "metadata", "manifests", "files", "incoming"] {
                try FileManager.default.createDirectory(
                    at: url.appending(path: folder), withIntermediateDirectories: true,
                    attributes: [.posixPermissions: 0o700])
            }
            #if canImport(Darwin)
                try PrivateFolder.protect(url)
            #endif
        } catch {
            throw BundleError(.storage, "The folder \(url.path) can't be created: \(error)")
        }
        lock = try FolderLock(url.appending(path: "lock").path)
    }

    var metadata: URL { url.appending(path: "metadata") }

    // MARK: - State

    private var stateFile: URL { url.appending(path: "state.json") }

    /// Returns the stored state; `nil` if there is none. A file of another form, for example of a later version of the
    /// app, is renamed `state.json.unreadable`, and replaces an earlier one of that name.
    ///
    /// - Throws: ``BundleError/Kind/storage`` if the file exists, and can't be read now.
    func state() throws(BundleError) -> (state: BundleState?, isUnreadable: Bool) {
        let data: Data
        do { data = try Data(contentsOf: stateFile) } catch {
            if (error as NSError).code == CocoaError.fileReadNoSuchFile.rawValue { return (nil, false) }
            throw BundleError(.storage, "The file \(stateFile.path) can't be read: \(error)")
        }
        if data.count <= 1 << 20, let state = try? JSONDecoder().decode(BundleState.self, from: data) {
            return (state, false)
        }
        guard rename(stateFile.path, stateFile.path + ".unreadable") == 0 else {
            throw BundleError("can't be renamed", at: stateFile.path)
        }
        return (nil, true)
    }

    /// Stores the state, so that it survives a power failure.
    func store(_ state: BundleState) throws(BundleError) {
        do {
            try PrivateFile.replace(stateFile.path, with: Array(try JSONEncoder().encode(state)))
        } catch {
            throw BundleError(.storage, "\(error)")
        }
    }

    // MARK: - Manifests

    private func manifestFile(_ digest: String) -> URL { url.appending(path: "manifests/\(digest)") }

    /// Returns the manifest of an installed bundle.
    ///
    /// - Throws: The same as ``manifestBytes(of:)``.
    func manifest(of bundle: BundleID) throws(BundleError) -> BundleManifest {
        let bytes = try manifestBytes(of: bundle)
        guard let manifest = try? BundleManifest(reading: bytes), manifest.version == bundle.version else {
            throw BundleError(.damaged, "The manifest of \(bundle) is malformed.")
        }
        return manifest
    }

    /// Returns the bytes of a stored manifest.
    ///
    /// - Throws: ``BundleError/Kind/damaged`` if it is absent or does not have the bundle's digest,
    ///   ``BundleError/Kind/storage`` if it can't be read now, for example because too many files are open.
    func manifestBytes(of bundle: BundleID) throws(BundleError) -> [UInt8] {
        let digest = bundle.digest ?? ""
        let bytes = Array(try Self.read(manifestFile(digest)))
        guard bytes.count <= BundleManifest.maximumByteCount, Hexadecimal.sha256(bytes) == digest else {
            throw BundleError(.damaged, "The manifest of \(bundle) has other bytes.")
        }
        return bytes
    }

    /// Stores a manifest, before the files of the bundle.
    func store(_ manifest: [UInt8], of bundle: BundleID) throws(BundleError) {
        do { try PrivateFile.replace(manifestFile(bundle.digest ?? "").path, with: manifest) } catch {
            throw BundleError(.storage, "\(error)")
        }
    }

    // MARK: - Files

    private func file(_ digest: String) -> URL { url.appending(path: "files/\(digest)") }

    /// The place at which a download is written before it has a name in `files/`.
    func incoming(_ digest: String) -> URL { url.appending(path: "incoming/\(digest)") }

    /// The place of a file while it is verified. Only the store writes there: a transfer of the system can replace the
    /// file in ``incoming(_:)`` at any time.
    private func draft(_ digest: String) -> URL { url.appending(path: "incoming/\(digest).draft") }

    /// Returns the bytes of a file. They are verified when they are read for the first time in this process.
    ///
    /// - Throws: ``BundleError/Kind/damaged`` if the file is absent, or has other bytes.
    func bytes(of file: BundleManifest.File) throws(BundleError) -> Data {
        let data = try Self.read(self.file(file.sha256))
        let isVerified = verified.withLock { $0.contains(file.sha256) }
        guard data.count == file.length, isVerified || Hexadecimal.text(SHA256.hash(data: data)) == file.sha256 else {
            throw BundleError(.damaged, "The file \(file.path) does not have the bytes that its bundle lists.")
        }
        if !isVerified { verified.withLock { _ = $0.insert(file.sha256) } }
        return data
    }

    /// Returns whether a file is here with the right bytes.
    func has(_ file: BundleManifest.File) -> Bool { (try? bytes(of: file)) != nil }

    /// Stores the bytes of a file, which have been verified.
    func store(_ bytes: [UInt8], as digest: String) throws(BundleError) {
        let draft = draft(digest)
        do {
            try Data(bytes).write(to: draft)
        } catch {
            try? FileManager.default.removeItem(at: draft)
            throw BundleError(.storage, "The file \(draft.path) can't be written: \(error)")
        }
        try moveIn(digest)
    }

    /// Verifies the file in `incoming/`, and moves it to `files/`.
    ///
    /// - Returns: `false` if it has other bytes than the manifest lists; it is removed then.
    func accept(_ file: BundleManifest.File) throws(BundleError) -> Bool {
        let (source, draft) = (incoming(file.sha256), draft(file.sha256))
        guard rename(source.path, draft.path) == 0 else { throw BundleError("can't be renamed", at: source.path) }
        guard let data = try? Data(contentsOf: draft, options: .mappedIfSafe) else {
            throw BundleError(.storage, "The file \(draft.path) can't be read.")
        }
        guard data.count == file.length, Hexadecimal.text(SHA256.hash(data: data)) == file.sha256 else {
            try? FileManager.default.removeItem(at: draft)
            return false
        }
        try moveIn(file.sha256)
        return true
    }

    /// Moves a draft, whose bytes have been verified, to `files/`.
    private func moveIn(_ digest: String) throws(BundleError) {
        let draft = draft(digest).path
        guard rename(draft, file(digest).path) == 0 else { throw BundleError("can't be renamed", at: draft) }
        verified.withLock { _ = $0.insert(digest) }
    }

    /// Removes all manifests and files but those of some bundles, and what is left of other downloads. Removes nothing
    /// while one of the manifests can't be read.
    ///
    /// - Parameters:
    ///   - bundles: The bundles that stay.
    ///   - installing: A bundle that is being installed, and its manifest.
    func removeAll(but bundles: Set<BundleID>, installing: (bundle: BundleID, manifest: BundleManifest)? = nil) {
        var files = Set(installing?.manifest.files.map(\.sha256) ?? [])
        for bundle in bundles {
            guard let manifest = try? self.manifest(of: bundle) else { return }
            files.formUnion(manifest.files.map(\.sha256))
        }
        remove(in: "manifests", but: Set(bundles.union(installing.map { [$0.bundle] } ?? []).compactMap(\.digest)))
        remove(in: "files", but: files)
        remove(in: "incoming", but: installing == nil ? [] : files)
    }

    /// Removes the files of a folder whose names do not begin with one of the digests.
    private func remove(in folder: String, but digests: Set<String>) {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: url.appending(path: folder).path)) ?? []
        for name in names where !digests.contains(String(name.prefix(64))) {
            try? FileManager.default.removeItem(at: url.appending(path: "\(folder)/\(name)"))
            verified.withLock { _ = $0.remove(name) }
        }
    }

    /// Reads a file of the store.
    ///
    /// - Throws: ``BundleError/Kind/damaged`` if it is absent, ``BundleError/Kind/storage`` if it can't be read now.
    private static func read(_ file: URL) throws(BundleError) -> Data {
        do { return try Data(contentsOf: file, options: .mappedIfSafe) } catch {
            let isAbsent = (error as NSError).code == CocoaError.fileReadNoSuchFile.rawValue
            throw BundleError(isAbsent ? .damaged : .storage, "The file \(file.path) can't be read: \(error)")
        }
    }

    // MARK: - Flushing

    /// Flushes the files of a bundle and their names to the storage device, so that a state that is stored later finds
    /// all of them after a power failure.
    func flush(_ manifest: BundleManifest) throws(BundleError) {
        #if canImport(Darwin)
            // Replacing the state's file later flushes the drive's own memory, once for all.
            for file in manifest.files { try Self.flush(self.file(file.sha256).path, by: fsync) }
            try Self.flush(url.appending(path: "files").path, by: fsync)
        #else
            // `fsync` would wait for the drive once for each file.
            try Self.flush(url.appending(path: "files").path, by: runway_flush_file_system)
        #endif
    }

    private static func flush(_ path: String, by flush: (CInt) -> CInt) throws(BundleError) {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw BundleError("can't be opened", at: path) }
        defer { close(descriptor) }
        // Some file systems can't flush a folder.
        guard flush(descriptor) == 0 || errno == EINVAL || errno == ENOTSUP else {
            throw BundleError("can't be flushed", at: path)
        }
    }
}
