import Crypto
public import Foundation
import RunwayTUF

/// The copy of a bundle in the resources of the app. It runs until a newer version is installed, and whenever no
/// installed version may run.
///
/// The system verifies the app's resources with the app's signature, so that this copy needs no manifest.
public struct EmbeddedBundle: Sendable {
    /// The folder of the files, such as one of the app's resources.
    public let folder: URL
    /// The version. Installed bundles whose version is not higher do not run.
    public let version: Int64

    /// - Parameters:
    ///   - folder: The folder of the files. Symbolic links that lead out of it are not followed.
    ///   - version: The version of the bundle from which the folder was made.
    public init(_ folder: URL, version: Int64) { (self.folder, self.version) = (folder, version) }

    /// Returns the bytes of a file; `nil` if there is none.
    package func read(_ path: String) throws(BundleError) -> Data? {
        guard BundlePath.problem(in: [path]) == nil, let file = regularFile(path) else { return nil }
        do { return try Data(contentsOf: file, options: .mappedIfSafe) } catch {
            throw BundleError(.storage, "The file \(path) can't be read: \(error)")
        }
    }

    /// The paths of all files, in order.
    package var paths: [String] {
        let paths = (try? FileManager.default.subpathsOfDirectory(atPath: folder.path)) ?? []
        return paths.filter { regularFile($0) != nil }.sorted()
    }

    private func regularFile(_ path: String) -> URL? {
        let root = folder.resolvingSymlinksInPath().path(percentEncoded: false)
        let prefix = root.hasSuffix("/") ? root : root + "/"
        let file = URL(filePath: prefix + path).resolvingSymlinksInPath()
        let isFile = try? file.resourceValues(forKeys: [.isRegularFileKey]).isRegularFile
        return file.path(percentEncoded: false).hasPrefix(prefix) && isFile == true ? file : nil
    }

    /// Returns the files of the folder that have the bytes of wanted ones, by digest. Reads only files of a length that
    /// is wanted.
    func sources(of wanted: some Sequence<BundleManifest.File>) -> [String: URL] {
        let digests = Set(wanted.map(\.sha256))
        let lengths = Set(wanted.map(\.length))
        var sources: [String: URL] = [:]
        for path in paths {
            guard let file = regularFile(path),
                let length = try? file.resourceValues(forKeys: [.fileSizeKey]).fileSize,
                lengths.contains(Int64(length)), let data = try? Data(contentsOf: file, options: .mappedIfSafe)
            else { continue }
            let digest = Hexadecimal.text(SHA256.hash(data: data))
            if digests.contains(digest) { sources[digest] = file }
        }
        return sources
    }
}
