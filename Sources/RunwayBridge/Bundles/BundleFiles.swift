public import Foundation

/// The files of a bundle of the app, which web views show as pages of an origin of their own.
///
/// ```swift
/// let bridge = Bridge(
///     capabilities: [Capability(.bundle("help"), commands: [listOrders])],
///     bundles: [BundleFiles("help", in: folder)])
/// ```
///
/// A web view then loads `runway-bundle://help/index.html`. Files are found by their paths, and a path that ends with a
/// slash is that of its `index.html`. Hidden files are not served.
///
/// Each response has a strict content security policy: scripts, styles and calls of the bundle itself, and no inline
/// script. Nothing is stored by the web view, since the next version of the bundle has the same addresses.
public struct BundleFiles: Sendable {
    let origin: Origin
    let read: @Sendable (_ path: String) throws -> Data?

    /// Serves the files that a function returns.
    ///
    /// - Parameters:
    ///   - name: The name of the bundle, as in ``Origin/bundle(_:)``.
    ///   - read: Returns the bytes of a file, or `nil` if there is none. The path has no slash before it, and no empty,
    ///     hidden or dot segments. It is called on any thread, for each request.
    public init(_ name: String, read: @escaping @Sendable (_ path: String) throws -> Data?) {
        origin = .bundle(name)
        self.read = read
    }

    /// Serves the files of a folder, such as one of the app's resources.
    ///
    /// - Parameters:
    ///   - name: The name of the bundle, as in ``Origin/bundle(_:)``.
    ///   - folder: The folder. Symbolic links that lead out of it are not followed.
    public init(_ name: String, in folder: URL) {
        let root = folder.resolvingSymlinksInPath().path(percentEncoded: false)
        let prefix = root.hasSuffix("/") ? root : root + "/"
        self.init(name) { path in
            let file = URL(filePath: prefix + path).resolvingSymlinksInPath()
            let isFile = try? file.resourceValues(forKeys: [.isRegularFileKey]).isRegularFile
            guard file.path(percentEncoded: false).hasPrefix(prefix), isFile == true else { return nil }
            return try Data(contentsOf: file, options: .mappedIfSafe)
        }
    }
}
