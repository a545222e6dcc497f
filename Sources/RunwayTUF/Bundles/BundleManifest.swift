/// The files of one version of a bundle: the content of the target that devices of one channel and runtime install.
///
/// ```json
/// {"files":{"index.html":{"length":512,"sha256":"9f86…"}},"format":1,"version":7}
/// ```
package struct BundleManifest: Sendable {
    /// One file of the bundle. Its bytes are at `files/SHA256` of the repository.
    package struct File: Sendable, Hashable {
        package let path: String
        package let length: Int64
        package let sha256: String

        package init(path: String, length: Int64, sha256: String) {
            (self.path, self.length, self.sha256) = (path, length, sha256)
        }
    }

    /// The version of the bundle, which only grows.
    package let version: Int64
    /// The files, sorted by the bytes of their paths.
    package let files: [File]

    /// The maximum length of a manifest in bytes.
    package static let maximumByteCount = 16 << 20
    /// The maximum number of files.
    package static let maximumFiles = 100_000

    /// - Throws: ``MalformedMetadata`` if a path is invalid, if two paths are one on some file system, or if files of
    ///   one digest have different lengths.
    package init(version: Int64, files: [File]) throws(MalformedMetadata) {
        guard version >= 1 else { throw MalformedMetadata("the version is not at least 1") }
        guard files.count <= Self.maximumFiles else { throw MalformedMetadata("too many files") }
        if let problem = BundlePath.problem(in: files.map(\.path)) { throw MalformedMetadata(problem) }
        var lengths: [String: Int64] = [:]
        for file in files where lengths.updateValue(file.length, forKey: file.sha256) ?? file.length != file.length {
            throw MalformedMetadata("two files of one digest have different lengths")
        }
        self.version = version
        self.files = files.sorted { $0.path.utf8.lexicographicallyPrecedes($1.path.utf8) }
    }

    /// Reads a manifest.
    ///
    /// - Throws: ``MalformedMetadata`` if its form is wrong, or if a path is invalid.
    package init(reading bytes: [UInt8]) throws(MalformedMetadata) {
        guard
            case .object(let object) = try CanonicalValue(reading: bytes, maximumByteCount: Self.maximumByteCount),
            case .integer(1)? = object["format"]
        else { throw MalformedMetadata("the manifest is no object of format 1") }
        var files: [File] = []
        for (path, file) in try object.objects("files") {
            let sha256 = try file.string("sha256")
            guard Hexadecimal.bytes(sha256)?.count == 32 else { throw MalformedMetadata("\(path) has no SHA-256") }
            files.append(File(path: path, length: try file.integer("length", atLeast: 0), sha256: sha256))
        }
        try self.init(version: try object.integer("version", atLeast: 1), files: files)
    }

    /// The canonical form: equal files make equal bytes.
    package var bytes: [UInt8] {
        var table: CanonicalObject = [:]
        for file in files {
            table.append(file.path, .object(["length": .integer(file.length), "sha256": .string(file.sha256)]))
        }
        return CanonicalValue.object([
            "files": .object(table), "format": .integer(1), "version": .integer(version),
        ]).canonicalBytes
    }
}

/// The target of a manifest: one for each bundle, channel and runtime version.
package struct BundleTarget: Sendable, Hashable {
    package let bundle: String
    package let channel: String
    package let runtime: String

    /// - Returns: `nil` if a name has other characters than ASCII letters, digits, `-`, `_` and `.`, begins with a dot,
    ///   or has more than 64 bytes.
    package init?(bundle: String, channel: String, runtime: String) {
        for name in [bundle, channel, runtime] {
            guard name.wholeMatch(of: /[A-Za-z0-9_\-][A-Za-z0-9_.\-]{0,63}/) != nil else { return nil }
        }
        (self.bundle, self.channel, self.runtime) = (bundle, channel, runtime)
    }

    /// The path of the target.
    package var path: String { "\(bundle)/\(channel)/\(runtime)/manifest.json" }
}
