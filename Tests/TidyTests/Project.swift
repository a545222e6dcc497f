import Foundation

/// The files of the project, for tests that read them.
enum Project {
    /// The folder that holds the manifest.
    static let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()

    /// A file, by its path below the root.
    struct File {
        let path: String
        let text: String
        var lines: [Substring] { text.split(separator: "\n", omittingEmptySubsequences: false) }
    }

    /// A folder in which a rule finds nothing to hold.
    struct NoFiles: Error {
        let folder: String
    }

    /// The files below some folders with these suffixes. A folder without any is an error, since a rule about no files always
    /// holds.
    static func files(in folders: String..., endingIn suffixes: [String]) throws -> [File] {
        try folders.flatMap { folder -> [File] in
            let base = root.appending(path: folder)
            let paths = FileManager.default.enumerator(atPath: base.path)?.compactMap { $0 as? String } ?? []
            let files = try paths.filter { path in
                // Build folders of packages inside the project are not the project's.
                suffixes.contains { path.hasSuffix($0) } && !path.contains(".build")
            }.sorted().map { path in
                File(
                    path: "\(folder)/\(path)", text: try String(contentsOf: base.appending(path: path), encoding: .utf8)
                )
            }
            if files.isEmpty { throw NoFiles(folder: folder) }
            return files
        }
    }

    /// A file at the root.
    static func file(_ name: String) throws -> File {
        File(path: name, text: try String(contentsOf: root.appending(path: name), encoding: .utf8))
    }
}
