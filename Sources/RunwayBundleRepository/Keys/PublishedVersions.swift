import RunwayTUF

/// The versions of the last publication, stored beside the keys.
///
/// A writer of the repository can put an older publication back, whose signatures are valid. Its files would be
/// signed again, with newer versions, and devices would install them.
struct PublishedVersions {
    private var root: Int64
    private var versions: [TopLevelRole: Int64]

    private static let roles: [TopLevelRole] = [.timestamp, .snapshot, .targets]

    init(root: Int64, timestamp: Int64, snapshot: Int64, targets: Int64) {
        self.root = root
        versions = [.timestamp: timestamp, .snapshot: snapshot, .targets: targets]
    }

    /// Reads the content of the file.
    init(reading bytes: [UInt8]) throws {
        guard case .object(let object) = try CanonicalValue(reading: bytes, maximumByteCount: 1_000) else {
            throw MalformedMetadata("the published versions are no object")
        }
        root = try object.integer("root", atLeast: 1)
        versions = [:]
        for role in Self.roles { versions[role] = try object.integer(role.rawValue, atLeast: 1) }
    }

    /// The content of the file.
    var bytes: [UInt8] {
        var object: CanonicalObject = ["root": .integer(root)]
        for role in Self.roles { object[role.rawValue] = versions[role].map(CanonicalValue.integer) }
        return CanonicalValue.object(object).canonicalBytes
    }

    /// Returns the first role whose metadata is older than the published one.
    ///
    /// Under a later root, only targets are compared: a rotation that was interrupted may have begun the versions of
    /// the other two again.
    func firstOlderRole(in state: Repository.State) -> TopLevelRole? {
        let present = [
            TopLevelRole.timestamp: state.timestamp?.version, .snapshot: state.snapshot?.version,
            .targets: state.targets?.version,
        ]
        return (state.root.version > root ? [.targets] : Self.roles).first { role in
            (present[role] ?? nil) ?? 0 < versions[role] ?? 0
        }
    }
}
