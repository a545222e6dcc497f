import RunwayTUF

/// The kinds of files that an installed bundle may have, decided in the binary, so that no server can widen them.
public enum Downloads: Sendable, Hashable {
    /// None: no bundle is installed, and only the embedded copy runs.
    case none
    /// Pages, views, images and values, but no file of a script: none whose name ends in `.js`, `.mjs`, `.cjs`, `.wasm`
    /// or `.lua`. Pages run no other scripts, by their content security policy.
    case viewsOnly
    /// All files.
    case viewsAndScripts

    /// Returns whether a bundle may be installed and run.
    func allow(_ manifest: BundleManifest) -> Bool {
        switch self {
        case .none: false
        case .viewsOnly:
            manifest.files.allSatisfy { file in
                // Bytes decide: a character before the dot may combine with it.
                let name = file.path.lowercased().utf8
                return !Self.scriptExtensions.contains { name.suffix($0.utf8.count).elementsEqual($0.utf8) }
            }
        case .viewsAndScripts: true
        }
    }

    private static let scriptExtensions = [".js", ".mjs", ".cjs", ".wasm", ".lua"]
}
