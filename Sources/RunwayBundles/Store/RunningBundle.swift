public import Foundation
import RunwayTUF

/// One bundle as a process runs it: its files do not change while this object exists, even if another version is
/// installed meanwhile.
public final class RunningBundle: Sendable {
    /// The identifier, for ``BundleStore/ready(_:)``.
    public let id: BundleID
    private let embedded: EmbeddedBundle
    /// The folder and the manifest; `nil` for the embedded copy.
    private let installed: (folder: BundleFolder, manifest: BundleManifest)?
    private let onDamage: @Sendable (BundleID) -> Void

    init(
        _ id: BundleID, _ embedded: EmbeddedBundle, _ installed: (folder: BundleFolder, manifest: BundleManifest)?,
        onDamage: @escaping @Sendable (BundleID) -> Void
    ) {
        (self.id, self.embedded, self.installed, self.onDamage) = (id, embedded, installed, onDamage)
    }

    /// The paths of all files, in order.
    public var paths: [String] { installed?.manifest.files.map(\.path) ?? embedded.paths }

    /// Returns the bytes of a file, which may be memory that is mapped to the file.
    ///
    /// The bytes of an installed bundle are verified when they are read for the first time in a process.
    ///
    /// - Parameter path: The path without a slash before it. Paths are compared byte by byte.
    /// - Returns: `nil` if the bundle has no such file.
    /// - Throws: ``BundleError/Kind/damaged`` if the file does not have the bytes that the manifest lists. The bundle
    ///   is then not launched again, and can be downloaded again; ``BundleError/Kind/storage`` if it can't be read.
    public func read(_ path: String) throws(BundleError) -> Data? {
        guard let installed else { return try embedded.read(path) }
        guard let file = installed.manifest.file(path) else { return nil }
        do throws(BundleError) { return try installed.folder.bytes(of: file) } catch {
            if error.kind == .damaged { onDamage(id) }
            throw error
        }
    }
}

extension BundleManifest {
    /// Returns the file of a path; `nil` if there is none.
    fileprivate func file(_ path: String) -> File? {
        var (low, high) = (0, files.count)
        while low < high {
            let middle = (low + high) / 2
            if files[middle].path.utf8.lexicographicallyPrecedes(path.utf8) { low = middle + 1 } else { high = middle }
        }
        return low < files.count && files[low].path.utf8.elementsEqual(path.utf8) ? files[low] : nil
    }
}
