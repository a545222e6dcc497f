import Foundation
package import RunwaySignatures
package import RunwayTUF

extension Repository {
    /// Makes the keys of all roles, the first root, and a publication without bundles.
    ///
    /// - Parameters:
    ///   - keys: The folder for the private keys. Move those of the root to where no server can read them.
    ///   - time: The time of the signatures.
    ///   - rootKeys: The number of root keys. The default is 1.
    ///   - rootThreshold: The number of root keys that must sign each root. The default is 1.
    package func create(
        _ keys: KeyFolder, at time: UnixTime, rootKeys: Int = 1, rootThreshold: Int = 1,
        _ lifetimes: Lifetimes = Lifetimes()
    ) throws {
        try keys.makeFolder()
        try keys.locked { try make(keys, at: time, rootKeys, rootThreshold, lifetimes) }
    }

    private func make(
        _ keys: KeyFolder, at time: UnixTime, _ rootKeys: Int, _ rootThreshold: Int, _ lifetimes: Lifetimes
    ) throws {
        guard (try? state()) == nil else { throw RepositoryError("\(url.path) is a repository already.") }
        guard read(keys.trustedRoot) == nil else {
            throw RepositoryError("\(keys.url.path) has the keys of a repository already.")
        }
        guard rootThreshold >= 1, rootKeys >= rootThreshold else {
            throw RepositoryError("The root needs at least as many keys as its threshold.")
        }
        var root: CanonicalObject = ["consistent_snapshot": .bool(true)]
        var signers: [RoleKey] = []
        for role in TopLevelRole.allCases {
            let made = try (0..<(role == .root ? rootKeys : 1)).map { _ in try keys.make(role) }
            if role == .root { signers = made }
            root.set(role, made.map(\.listed), threshold: role == .root ? rootThreshold : 1)
        }
        let first = try sign(root, "root", 1, time + lifetimes.root, signers)
        let trusted = try TrustedMetadata(root: first.bytes, at: time)
        try commit(TrustedState(roots: [trusted.root], state: State(root: trusted.root)), keys, at: time, lifetimes)
    }

    /// Replaces the keys of a role by new ones, as many as its threshold needs, and signs everything again.
    ///
    /// Clients drop the timestamp and snapshot that they know if one of these two roles rotates, so that this also
    /// recovers them from versions that a stolen key has raised.
    package func rotate(
        _ role: TopLevelRole, _ keys: KeyFolder, at time: UnixTime, _ lifetimes: Lifetimes = Lifetimes()
    ) throws {
        try keys.locked {
            let threshold = try trustedState(keys).state.root.content[role].threshold
            let made = try (0..<threshold).map { _ in try keys.make(role) }
            try replaceRoot(keys, at: time, lifetimes) { root in
                root.set(role, made.map(\.listed), threshold: threshold)
            }
        }
    }

    /// Removes a key of a role.
    ///
    /// - Throws: ``RepositoryError`` if the role does not have the key, or if too few keys would be left: then rotate.
    package func revoke(
        _ id: String, of role: TopLevelRole, _ keys: KeyFolder, at time: UnixTime, _ lifetimes: Lifetimes = Lifetimes()
    ) throws {
        try keys.locked {
            let root = try trustedState(keys).state.root.content
            let rest = root[role].keyIDs.filter { !$0.hasPrefix(id) }
            guard rest.count == root[role].keyIDs.count - 1, id.count >= 8 else {
                throw RepositoryError("Not exactly one key of \(role.rawValue) begins with 8 or more digits \(id).")
            }
            guard rest.count >= root[role].threshold else {
                throw RepositoryError("\(role.rawValue) needs \(root[role].threshold) keys: rotate it instead.")
            }
            try replaceRoot(keys, at: time, lifetimes) { $0.set(role, ids: rest, threshold: root[role].threshold) }
        }
    }

    /// Signs the next root with the root keys of the present one and its own, and then everything else.
    private func replaceRoot(
        _ keys: KeyFolder, at time: UnixTime, _ lifetimes: Lifetimes, edit: (inout CanonicalObject) -> Void
    ) throws {
        let trusted = try trustedState(keys)
        let present = trusted.state.root
        var root = present.document.signed
        edit(&root)
        let content = try RootContent(root)
        let signers = try keys.keys(.root, of: present.content) + keys.keys(.root, of: content)
        let distinct = Dictionary(signers.map { ($0.listed.id, $0) }) { one, _ in one }
        let next = try sign(root, "root", present.versionAfter(.root), time + lifetimes.root, Array(distinct.values))
        try commit(try trusted.appending(root: next.bytes, at: time), keys, at: time, lifetimes)
    }
}

extension CanonicalObject {
    /// Sets the keys of a role in a root.
    fileprivate mutating func set(_ role: TopLevelRole, _ keys: [MetadataKey], threshold: Int) {
        var table = member("keys")
        for key in keys { table[key.id] = .object(key.object) }
        self["keys"] = .object(table)
        set(role, ids: keys.map(\.id), threshold: threshold)
    }

    /// Sets the identifiers of a role's keys in a root, and removes keys that no role has.
    fileprivate mutating func set(_ role: TopLevelRole, ids: [String], threshold: Int) {
        var (roles, keys) = (member("roles"), member("keys"))
        var object: CanonicalObject = [:]
        if case .object(let present)? = roles[role.rawValue] { object = present }
        object["keyids"] = .array(ids.sorted().map(CanonicalValue.string))
        object["threshold"] = .integer(Int64(threshold))
        roles[role.rawValue] = .object(object)
        let used = roles.members.flatMap { role -> [CanonicalValue] in
            guard case .object(let object) = role.value, case .array(let ids)? = object["keyids"] else { return [] }
            return ids
        }.compactMap { if case .string(let id) = $0 { id } else { nil } }
        for member in keys.members where !used.contains(member.name) { keys[member.name] = nil }
        self["roles"] = .object(roles)
        self["keys"] = .object(keys)
    }

    private func member(_ name: String) -> CanonicalObject {
        if case .object(let object)? = self[name] { object } else { [:] }
    }
}
