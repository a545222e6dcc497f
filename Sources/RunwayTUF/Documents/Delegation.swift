import RunwaySignatures

/// A role to which another one delegates, and the paths for which it is trusted (§4.5).
package struct Delegation: Sendable {
    private enum Scope: Sendable {
        case patterns([PathPattern])
        case hashPrefixes([String])
    }

    package let name: String
    package let keys: RoleKeys
    /// Whether the search ends with this role for a path that it is trusted for.
    package let isTerminating: Bool
    private let scope: Scope

    /// The maximum length of a role's file name in bytes, after escaping, without version and extension.
    static let maximumNameLength = 200

    init(_ object: CanonicalObject) throws(MalformedMetadata) {
        name = try object.string("name")
        guard !name.isEmpty, !TopLevelRole.reserves(name),
            MetadataName.escaped(name).utf8.count <= Self.maximumNameLength
        else { throw MalformedMetadata("a delegation has an invalid name") }
        keys = try RoleKeys(object)
        switch object["terminating"] {
        case nil: isTerminating = false
        case .bool(let value): isTerminating = value
        default: throw MalformedMetadata("\"terminating\" is no Boolean")
        }
        switch (object["paths"], object["path_hash_prefixes"]) {
        case (.some, nil): scope = .patterns(try object.strings("paths").map(PathPattern.init))
        case (nil, .some): scope = .hashPrefixes(try object.strings("path_hash_prefixes"))
        default: throw MalformedMetadata("a delegation has not exactly one of \"paths\" and \"path_hash_prefixes\"")
        }
    }

    /// Returns whether the role is trusted for a path.
    package func covers(_ path: String) -> Bool {
        switch scope {
        case .patterns(let patterns): return patterns.contains { $0.matches(path) }
        case .hashPrefixes(let prefixes):
            let hash = Hexadecimal.sha256(Array(path.utf8))
            return prefixes.contains { hash.utf8.starts(with: $0.utf8) }
        }
    }
}

/// File names of metadata.
package enum MetadataName {
    /// Returns the name of a role's file. `version` is present if the repository has consistent snapshots (§6.2).
    ///
    /// Bytes of the role's name other than ASCII letters, digits, `_`, `.`, `-` and `~` are percent-escaped, so that no
    /// name leaves the folder. The same text is the last component of the file's URL.
    package static func file(of role: String, version: Int64? = nil) -> String {
        (version.map { "\($0)." } ?? "") + escaped(role) + ".json"
    }

    package static func escaped(_ name: String) -> String {
        var text = ""
        for byte in name.utf8 {
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), UInt8(ascii: "."), UInt8(ascii: "-"),
                UInt8(ascii: "~"):
                text.append(Character(UnicodeScalar(byte)))
            default: text += "%" + Hexadecimal.text([byte]).uppercased()
            }
        }
        return text
    }
}
