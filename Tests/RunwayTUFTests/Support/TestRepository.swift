import Crypto
import RunwaySignatures

@testable import RunwayTUF

/// A private key of a test, with the key that metadata lists.
struct TestKey: Sendable {
    let key = Curve25519.Signing.PrivateKey()

    var listed: MetadataKey { MetadataKey(key.publicKey) }
    var id: String { listed.id }

    func sign(_ bytes: [UInt8], as id: String? = nil) throws -> SignedDocument.Signature {
        SignedDocument.Signature(keyID: id ?? self.id, bytes: Array(try key.signature(for: bytes)))
    }
}

/// A repository in memory. Each function returns the bytes of one document; every part can be replaced to attack.
struct TestRepository: Sendable {
    static let now = UnixTime(seconds: 1_780_315_200)
    static let later = "2030-01-01T00:00:00Z"

    var keys: [TopLevelRole: [TestKey]]
    var thresholds: [TopLevelRole: Int64] = [:]

    init(keysPerRole: Int = 1) {
        keys = Dictionary(
            uniqueKeysWithValues: TopLevelRole.allCases.map { ($0, (0..<keysPerRole).map { _ in TestKey() }) })
    }

    /// A document of a role with the members that all roles have, and signatures of keys.
    static func document(
        _ type: String, version: Int64 = 1, expires: String = later, _ members: CanonicalObject = [:],
        signedBy signers: [TestKey]
    ) throws -> [UInt8] {
        var signed = members
        signed["_type"] = .string(type)
        signed["spec_version"] = "1.0.31"
        signed["version"] = .integer(version)
        signed["expires"] = .string(expires)
        let bytes = CanonicalValue.object(signed).canonicalBytes
        return SignedDocument(signed: signed, signatures: try signers.map { try $0.sign(bytes) }).bytes
    }

    static func keyTable(_ keys: [TestKey]) -> CanonicalValue {
        var table: CanonicalObject = [:]
        for key in keys { table[key.id] = .object(key.listed.object) }
        return .object(table)
    }

    func signers(_ role: TopLevelRole) -> [TestKey] { keys[role] ?? [] }

    func root(version: Int64 = 1, expires: String = later, signedBy signers: [TestKey]? = nil) throws -> [UInt8] {
        var roles: CanonicalObject = [:]
        for role in TopLevelRole.allCases {
            let ids = self.signers(role).map { CanonicalValue.string($0.id) }
            roles[role.rawValue] = .object(["keyids": .array(ids), "threshold": .integer(thresholds[role] ?? 1)])
        }
        let members: CanonicalObject = [
            "consistent_snapshot": .bool(true), "keys": Self.keyTable(keys.values.flatMap(\.self)),
            "roles": .object(roles),
        ]
        return try Self.document(
            "root", version: version, expires: expires, members, signedBy: signers ?? self.signers(.root))
    }

    func timestamp(
        version: Int64 = 1, expires: String = later, snapshot: MetadataFile, signedBy signers: [TestKey]? = nil
    ) throws -> [UInt8] {
        let members: CanonicalObject = ["meta": .object(["snapshot.json": .object(snapshot.object)])]
        return try Self.document(
            "timestamp", version: version, expires: expires, members, signedBy: signers ?? self.signers(.timestamp))
    }

    func snapshot(
        version: Int64 = 1, expires: String = later, files: [String: MetadataFile], signedBy signers: [TestKey]? = nil
    ) throws -> [UInt8] {
        var meta: CanonicalObject = [:]
        for (name, file) in files { meta[name] = .object(file.object) }
        return try Self.document(
            "snapshot", version: version, expires: expires, ["meta": .object(meta)],
            signedBy: signers ?? self.signers(.snapshot))
    }

    func targets(
        version: Int64 = 1, expires: String = later, files: [String: String] = ["page.html": "<p>"],
        delegations: CanonicalObject? = nil, signedBy signers: [TestKey]? = nil
    ) throws -> [UInt8] {
        var targets: CanonicalObject = [:]
        for (path, text) in files {
            targets[path] = .object(TargetFile(path: path, digest: FileDigest(of: Array(text.utf8))).object)
        }
        var members: CanonicalObject = ["targets": .object(targets)]
        members["delegations"] = delegations.map(CanonicalValue.object)
        return try Self.document(
            "targets", version: version, expires: expires, members, signedBy: signers ?? self.signers(.targets))
    }

    /// The documents of one publication, all of one version, each listing the next by length and hash.
    func publication(version: Int64 = 1, files: [String: String] = ["page.html": "<p>"]) throws -> Publication {
        let targets = try targets(version: version, files: files)
        let snapshot = try snapshot(version: version, files: ["targets.json": .listing(targets, version)])
        return Publication(
            timestamp: try timestamp(version: version, snapshot: .listing(snapshot, version)), snapshot: snapshot,
            targets: targets)
    }
}

/// The metadata of one publication.
struct Publication: Sendable {
    var timestamp: [UInt8]
    var snapshot: [UInt8]
    var targets: [UInt8]

    /// Passes all documents to a client, which must have the root.
    @discardableResult
    func update(_ trusted: inout TrustedMetadata) throws -> Metadata<TargetsContent> {
        _ = try trusted.updateTimestamp(timestamp)
        try trusted.updateSnapshot(snapshot)
        return try trusted.targets(targets, of: trusted.topLevelTargets)
    }
}

extension MetadataFile {
    /// A listing with version, length and hash.
    static func listing(_ bytes: [UInt8], _ version: Int64) -> MetadataFile {
        MetadataFile(version: version, digest: FileDigest(of: bytes))
    }

    /// A listing with only a version.
    static func version(_ version: Int64) -> MetadataFile {
        MetadataFile(version: version, digest: FileDigest(length: nil, hashes: [:]))
    }
}

extension TrustedMetadata {
    /// A client with a repository's root.
    init(_ repository: TestRepository, at time: UnixTime = TestRepository.now) throws {
        try self.init(root: try repository.root(), at: time)
    }

    /// A client that accepted a publication, then was restarted, and has read the repository's roots again.
    init(_ root: [UInt8], having old: Publication, at time: UnixTime = TestRepository.now) throws {
        try self.init(root: root, at: time)
        try load(timestamp: old.timestamp)
    }
}
