import Foundation
public import RunwayBundles

/// The scripts of a verified bundle.
///
/// ```swift
/// let bundle = try ScriptBundle(store.running, name: "shop", runtime: "3")
/// ```
///
/// A `RunningBundle` is one that a `BundleStore` has verified, or the app's embedded copy. An `EmbeddedBundle` is not
/// verified here: pass a folder of the app's resources, which the app's signature covers, or in a test one of your own.
public struct ScriptBundle: Sendable {
    /// The name of the bundle. A runtime has one version of each.
    public let name: String
    /// The version of the bundle, with its digest.
    public let version: String
    /// The runtime version for which the bundle was published.
    public let runtime: String
    let files: [ScriptFile]

    /// The name and the version, as in records.
    public var id: String { "\(name)@\(version)" }

    /// The most files with scripts that a bundle may have.
    static let maximumFiles = 64
    /// The most bytes of all files with scripts.
    static let maximumByteCount = 2 << 20

    /// Reads the scripts of a bundle: the files below `scripts/`, which run in the order of their paths.
    ///
    /// - Parameters:
    ///   - bundle: The bundle.
    ///   - name: The name of the bundle, as in its source.
    ///   - runtime: The runtime version, as in its source.
    /// - Throws: ``ScriptError/Kind/unsupported`` if a file is damaged or no text, or if the files exceed 64 or 2 MiB.
    public init(_ bundle: RunningBundle, name: String, runtime: String) throws(ScriptError) {
        try self.init(name, "\(bundle.id)", runtime, bundle.paths, read: bundle.read)
    }

    /// Reads the scripts of a copy in the app's resources, or in a test those of a folder that is not yet published.
    ///
    /// - Throws: As for a running bundle.
    public init(_ bundle: EmbeddedBundle, name: String, runtime: String) throws(ScriptError) {
        try self.init(name, "\(bundle.version)", runtime, bundle.paths, read: bundle.read)
    }

    private init(
        _ name: String, _ version: String, _ runtime: String, _ allPaths: [String],
        read: (String) throws(BundleError) -> Data?
    ) throws(ScriptError) {
        let paths = allPaths.filter { $0.hasPrefix("scripts/") }
        guard paths.count <= Self.maximumFiles else { throw ScriptError(.unsupported, "\(name) has too many scripts") }
        var files: [ScriptFile] = []
        for path in paths {
            let data: Data?
            do throws(BundleError) { data = try read(path) } catch {
                throw ScriptError(.unsupported, "\(error)", file: path)
            }
            guard let data, data.count <= Self.maximumByteCount, let source = String(validating: data, as: UTF8.self)
            else { throw ScriptError(.unsupported, "The file exceeds 2 MiB, or is not UTF-8", file: path) }
            files.append(ScriptFile(path, source))
        }
        self.init(verified: name, version: version, runtime: runtime, files: files)
    }

    /// - Parameter files: The files, in the order in which they run.
    package init(verified name: String, version: String, runtime: String, files: [ScriptFile]) {
        self.name = name
        self.version = version
        self.runtime = runtime
        self.files = files
    }

    /// The language of all files.
    ///
    /// - Throws: ``ScriptError/Kind/unsupported`` if there is none, or beyond the bounds.
    func language() throws(ScriptError) -> ScriptLanguage {
        guard !files.isEmpty else { throw ScriptError(.unsupported, "\(id) has no files below scripts/") }
        let languages = Set(files.map { ScriptLanguage(path: $0.path) })
        guard languages.count == 1, let language = languages.first, let language else {
            throw ScriptError(.unsupported, "The scripts of \(id) are not all of one language, .js or .lua")
        }
        guard files.count <= Self.maximumFiles,
            files.reduce(0, { $0 + $1.source.utf8.count }) <= Self.maximumByteCount
        else { throw ScriptError(.unsupported, "\(id) has too many scripts, or too large ones") }
        if let file = files.first(where: { $0.source.utf8.contains(0) || $0.path.utf8.contains(0) }) {
            throw ScriptError(.unsupported, "A script has a zero byte", file: file.path)
        }
        return language
    }
}

/// One file with a script.
package struct ScriptFile: Sendable {
    package let path: String
    package let source: String

    package init(_ path: String, _ source: String) {
        self.path = path
        self.source = source
    }
}
