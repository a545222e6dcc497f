import RunwaySignatures
import Testing

@testable import RunwayTUF

/// The attacks of The Update Framework §1.5.2, one test or more for each. Slow retrieval and endless data of the
/// network are tested where the network is: in `MetadataUpdaterTests`.
struct AttackTests {
    // MARK: - Arbitrary installation

    @Test func foreignKeysInstallNothing() throws {
        let (repository, mallory) = (TestRepository(), [TestKey()])
        var trusted = try TrustedMetadata(repository)
        let good = try repository.publication()
        let root = try repository.root(version: 2, signedBy: mallory)
        #expect(refusal { _ = try trusted.updateRoot(root) } == "root threshold 5.3.4")
        let timestamp = try repository.timestamp(version: 2, snapshot: .version(1), signedBy: mallory)
        #expect(refusal { _ = try trusted.updateTimestamp(timestamp) } == "timestamp threshold 5.4.2")
        _ = try trusted.updateTimestamp(try repository.timestamp(snapshot: .version(1)))
        let snapshot = try repository.snapshot(files: ["targets.json": .version(1)], signedBy: mallory)
        #expect(refusal { try trusted.updateSnapshot(snapshot) } == "snapshot threshold 5.5.3")
        try trusted.updateSnapshot(try repository.snapshot(files: ["targets.json": .version(1)]))
        let targets = try repository.targets(files: ["page.html": "evil"], signedBy: mallory)
        #expect(refusal { _ = try trusted.targets(targets, of: trusted.topLevelTargets) } == "targets threshold 5.6.3")
        _ = try trusted.targets(good.targets, of: trusted.topLevelTargets)
    }

    @Test func aRootCannotReplaceItself() throws {
        let repository = TestRepository()
        var trusted = try TrustedMetadata(repository)
        let evil = try TestRepository().root(version: 2)
        #expect(refusal { _ = try trusted.updateRoot(evil) } == "root threshold 5.3.4")
    }

    @Test func aRootNeedsItsOwnKeys() throws {
        var repository = TestRepository()
        var trusted = try TrustedMetadata(repository)
        let old = repository.signers(.root)
        repository.keys[.root] = [TestKey()]
        let root = try repository.root(version: 2, signedBy: old)
        #expect(refusal { _ = try trusted.updateRoot(root) } == "root threshold 5.3.4")
    }

    // MARK: - Rollback

    @Test func olderTimestampsAreRefused() throws {
        let repository = TestRepository()
        var trusted = try TrustedMetadata(try repository.root(), having: try repository.publication(version: 3))
        let old = try repository.publication(version: 2)
        #expect(refusal { _ = try trusted.updateTimestamp(old.timestamp) } == "timestamp rollback 5.4.3.1")
    }

    @Test func olderSnapshotsAreRefused() throws {
        let repository = TestRepository()
        var trusted = try TrustedMetadata(try repository.root(), having: try repository.publication(version: 3))
        let timestamp = try repository.timestamp(version: 4, snapshot: .version(2))
        #expect(refusal { _ = try trusted.updateTimestamp(timestamp) } == "timestamp rollback 5.4.3.2")
    }

    @Test func rolesCannotDisappear() throws {
        let repository = TestRepository()
        let files = ["targets.json": MetadataFile.version(1), "shop.json": .version(1)]
        let old = try repository.snapshot(files: files)
        let new = try repository.snapshot(version: 2, files: ["targets.json": .version(1)])
        var trusted = try TrustedMetadata(repository)
        _ = try trusted.updateTimestamp(try repository.timestamp(snapshot: .version(2)))
        #expect(try !trusted.load(snapshot: old))
        #expect(refusal { try trusted.updateSnapshot(new) } == "snapshot rollback 5.5.5")
    }

    // MARK: - Freeze

    @Test(arguments: TopLevelRole.allCases)
    func expiredMetadataIsRefused(_ role: TopLevelRole) throws {
        let (repository, past) = (TestRepository(), TestRepository.now.metadataText)
        func expiry(_ other: TopLevelRole) -> String { other == role ? past : TestRepository.later }
        let targets = try repository.targets(expires: expiry(.targets))
        let snapshot = try repository.snapshot(
            expires: expiry(.snapshot), files: ["targets.json": .listing(targets, 1)])
        let publication = Publication(
            timestamp: try repository.timestamp(expires: expiry(.timestamp), snapshot: .listing(snapshot, 1)),
            snapshot: snapshot, targets: targets)
        let root = try repository.root(expires: expiry(.root))
        var trusted = try TrustedMetadata(root: root, at: TestRepository.now)
        let refusal = refusal { try publication.update(&trusted) }
        let section = [.root: "5.3.10", .timestamp: "5.4.4", .snapshot: "5.5.6", .targets: "5.6.5"][role] ?? ""
        #expect(refusal == "\(role.rawValue) expiry \(section)")
        // One second earlier everything is valid.
        var earlier = try TrustedMetadata(root: root, at: TestRepository.now - .seconds(1))
        try publication.update(&earlier)
    }

    @Test func aRepeatedTimestampExpires() throws {
        let repository = TestRepository()
        let snapshot = try repository.snapshot(files: [:])
        let timestamp = try repository.timestamp(
            expires: TestRepository.now.metadataText, snapshot: .listing(snapshot, 1))
        var trusted = try TrustedMetadata(repository)
        try trusted.load(timestamp: timestamp)
        #expect(refusal { _ = try trusted.updateTimestamp(timestamp) } == "timestamp expiry 5.4.4")
    }

    // MARK: - Mix and match

    @Test func snapshotsOfOtherPublicationsAreRefused() throws {
        let repository = TestRepository()
        let (one, two) = (try repository.publication(version: 1), try repository.publication(version: 2))
        var trusted = try TrustedMetadata(repository)
        _ = try trusted.updateTimestamp(two.timestamp)
        #expect(refusal { try trusted.updateSnapshot(one.snapshot) } == "snapshot mix-and-match 5.5.2")
    }

    @Test func versionsMustAgree() throws {
        let repository = TestRepository()
        var trusted = try TrustedMetadata(repository)
        _ = try trusted.updateTimestamp(try repository.timestamp(snapshot: .version(2)))
        let first = try repository.snapshot(files: ["targets.json": .version(2)])
        #expect(refusal { try trusted.updateSnapshot(first) } == "snapshot mix-and-match 5.5.4")
        try trusted.updateSnapshot(try repository.snapshot(version: 2, files: ["targets.json": .version(2)]))
        let targets = try repository.targets(version: 1)
        #expect(
            refusal { _ = try trusted.targets(targets, of: trusted.topLevelTargets) } == "targets mix-and-match 5.6.4")
    }

    @Test func targetsOfOtherPublicationsAreRefused() throws {
        let repository = TestRepository()
        let (one, two) = (try repository.publication(files: ["a": "1"]), try repository.publication(files: ["a": "2"]))
        var trusted = try TrustedMetadata(repository)
        _ = try trusted.updateTimestamp(one.timestamp)
        try trusted.updateSnapshot(one.snapshot)
        #expect(
            refusal { _ = try trusted.targets(two.targets, of: trusted.topLevelTargets) }
                == "targets mix-and-match 5.6.2")
    }

    // MARK: - Endless data

    @Test func eachRoleIsBounded() throws {
        let repository = TestRepository()
        let good = try repository.publication()
        var limits = UpdateLimits()
        (limits.timestampByteCount, limits.snapshotByteCount) = (good.timestamp.count - 1, good.snapshot.count)
        let root = try repository.root()
        var trusted = try TrustedMetadata(root: root, at: TestRepository.now, limits: limits)
        #expect(refusal { _ = try trusted.updateTimestamp(good.timestamp) } == "timestamp length 5.4.2")
        limits.rootByteCount = root.count - 1
        #expect(
            refusal { _ = try TrustedMetadata(root: root, at: TestRepository.now, limits: limits) } == "root length 5.2"
        )
        limits = UpdateLimits()
        limits.targetsByteCount = good.targets.count - 1
        var other = try TrustedMetadata(root: root, at: TestRepository.now, limits: limits)
        #expect(refusal { try good.update(&other) } == "targets length 5.6.3")
    }

    // MARK: - Thresholds and key identifiers

    @Test func thresholdsAreCounted() throws {
        var repository = TestRepository(keysPerRole: 3)
        repository.thresholds[.timestamp] = 2
        var trusted = try TrustedMetadata(repository)
        let signers = repository.signers(.timestamp)
        let one = try repository.timestamp(snapshot: .version(1), signedBy: Array(signers.prefix(1)))
        let two = try repository.timestamp(snapshot: .version(1), signedBy: Array(signers.suffix(2)))
        #expect(refusal { _ = try trusted.updateTimestamp(one) } == "timestamp threshold 5.4.2")
        #expect(try trusted.updateTimestamp(two))
    }

    @Test(arguments: [0, -1] as [Int64])
    func thresholdsArePositive(_ threshold: Int64) throws {
        var repository = TestRepository()
        repository.thresholds[.snapshot] = threshold
        #expect(refusal { _ = try TrustedMetadata(repository) } == "root form 5.2")
    }

    @Test func duplicateKeysCountOnce() throws {
        // The root lists one key as two, and requires two.
        let (root, key) = (TestKey(), TestKey())
        func role(_ ids: [String], _ threshold: Int64) -> CanonicalValue {
            .object(["keyids": .array(ids.map(CanonicalValue.string)), "threshold": .integer(threshold)])
        }
        let members: CanonicalObject = [
            "keys": .object([
                "r": .object(root.listed.object), "a": .object(key.listed.object), "b": .object(key.listed.object),
            ]),
            "roles": .object([
                "root": role(["r"], 1), "timestamp": role(["a", "b"], 2), "snapshot": role(["a"], 1),
                "targets": role(["a"], 1),
            ]),
        ]
        var signed = members
        signed["_type"] = "root"
        signed["spec_version"] = "1.0.31"
        signed["version"] = .integer(1)
        signed["expires"] = .string(TestRepository.later)
        let bytes = CanonicalValue.object(signed).canonicalBytes
        let document = SignedDocument(signed: signed, signatures: [try root.sign(bytes, as: "r")])
        var trusted = try TrustedMetadata(root: document.bytes, at: TestRepository.now)
        var timestamp: CanonicalObject = ["meta": .object(["snapshot.json": .object(MetadataFile.version(1).object)])]
        timestamp["_type"] = "timestamp"
        timestamp["spec_version"] = "1.0.31"
        timestamp["version"] = .integer(1)
        timestamp["expires"] = .string(TestRepository.later)
        let content = CanonicalValue.object(timestamp).canonicalBytes
        let twice = SignedDocument(
            signed: timestamp, signatures: [try key.sign(content, as: "a"), try key.sign(content, as: "b")])
        #expect(refusal { _ = try trusted.updateTimestamp(twice.bytes) } == "timestamp threshold 5.4.2")
    }

    // MARK: - Fast-forward, key compromise and recovery

    @Test func rotationRecoversFromFastForward() throws {
        var repository = TestRepository()
        let first = try repository.root()
        // The keys of timestamp and snapshot are stolen, and used for the highest version.
        let stolen = try repository.publication(version: .max)
        for role in [TopLevelRole.timestamp, .snapshot] { repository.keys[role] = [TestKey()] }
        var trusted = try TrustedMetadata(root: first, at: TestRepository.now)
        #expect(try trusted.updateRoot(try repository.root(version: 2)) == .accepted(hasRotated: true))
        // Even if the files were not removed, they are no longer signed by the root's keys.
        #expect(throws: MetadataError.self) { try trusted.load(timestamp: stolen.timestamp) }
        try repository.publication(version: 2).update(&trusted)
    }

    @Test func onlineKeysCannotChangeTargets() throws {
        let repository = TestRepository()
        var trusted = try TrustedMetadata(repository)
        let online = repository.signers(.timestamp) + repository.signers(.snapshot)
        let targets = try repository.targets(version: 2, files: ["page.html": "evil"], signedBy: online)
        let snapshot = try repository.snapshot(version: 2, files: ["targets.json": .listing(targets, 2)])
        let timestamp = try repository.timestamp(version: 2, snapshot: .listing(snapshot, 2))
        _ = try trusted.updateTimestamp(timestamp)
        try trusted.updateSnapshot(snapshot)
        #expect(refusal { _ = try trusted.targets(targets, of: trusted.topLevelTargets) } == "targets threshold 5.6.3")
    }

    @Test(arguments: TopLevelRole.allCases)
    func revokedKeysSignNothing(_ role: TopLevelRole) throws {
        var repository = TestRepository()
        var trusted = try TrustedMetadata(repository)
        let revoked = repository
        repository.keys[role] = [TestKey()]
        let signers = revoked.signers(.root) + (role == .root ? repository.signers(.root) : [])
        #expect(
            try trusted.updateRoot(try repository.root(version: 2, signedBy: signers))
                == .accepted(hasRotated: [.timestamp, .snapshot].contains(role)))
        switch role {
        case .root:
            let root = try repository.root(version: 3, signedBy: revoked.signers(.root))
            #expect(refusal { _ = try trusted.updateRoot(root) } == "root threshold 5.3.4")
        default:
            let section = [.timestamp: "5.4.2", .snapshot: "5.5.3", .targets: "5.6.3"][role] ?? ""
            var mixed = repository
            mixed.keys[role] = revoked.keys[role]
            let publication = try mixed.publication()
            #expect(refusal { try publication.update(&trusted) } == "\(role.rawValue) threshold \(section)")
        }
        // The new keys work at once.
        var recovered = try TrustedMetadata(revoked)
        _ = try recovered.updateRoot(try repository.root(version: 2, signedBy: signers))
        try repository.publication().update(&recovered)
    }
}
