import RunwaySignatures

/// A role that the root lists (§2.1).
package enum TopLevelRole: String, Sendable, CaseIterable {
    case root
    case timestamp
    case snapshot
    case targets

    /// Returns whether a name is one of a top-level role in upper or lower case: file systems may not distinguish them.
    package static func reserves(_ name: String) -> Bool { Self(rawValue: name.lowercased()) != nil }
}

/// The keys of all top-level roles (§4.3).
package struct RootContent: RoleContent {
    package static var type: String { "root" }

    package let keys: KeyTable
    private let roles: [TopLevelRole: RoleKeys]
    /// Whether file names contain versions and hashes (§6.2). The default of a document without the member is `false`.
    package let hasConsistentSnapshots: Bool

    package init(_ signed: CanonicalObject) throws(MalformedMetadata) {
        keys = try KeyTable(in: signed)
        let objects = try signed.object("roles")
        var roles: [TopLevelRole: RoleKeys] = [:]
        for role in TopLevelRole.allCases { roles[role] = try RoleKeys(try objects.object(role.rawValue)) }
        self.roles = roles
        switch signed["consistent_snapshot"] {
        case nil: hasConsistentSnapshots = false
        case .bool(let value): hasConsistentSnapshots = value
        default: throw MalformedMetadata("\"consistent_snapshot\" is no Boolean")
        }
    }

    /// The keys of a role.
    package subscript(role: TopLevelRole) -> RoleKeys {
        guard let keys = roles[role] else { preconditionFailure("the initialiser reads every role") }
        return keys
    }
}
