import Foundation
import RunwayBundleRepository
import RunwaySignatures
import RunwayTUF
import Testing

/// Attacks by someone who can write the repository, but has no key of it.
struct RepositoryTrustTests {
    @Test(arguments: ["timestamp.json", "2.snapshot.json", "2.targets.json"])
    func changedMetadataIsNotSigned(_ name: String) throws {
        let scene = try Scene()
        try scene.publish(1, ["a": "1"])
        let file = scene.file(name)
        let text = try String(contentsOf: file, encoding: .utf8)
        let changed = text.replacingOccurrences(of: #""spec_version":"1.0.31""#, with: #""spec_version":"1.0.32""#)
        try #require(changed != text)
        try Data(changed.utf8).write(to: file)
        try scene.expectRefusal { try scene.repository.commit(scene.keys, at: Scene.now) }
    }

    @Test func otherSignedTargetsAreNotSignedAgain() throws {
        let scene = try Scene()
        try scene.publish(1, ["a": "1"])
        try Data(contentsOf: scene.file("1.targets.json")).write(to: scene.file("2.targets.json"))
        try scene.expectRefusal { try scene.repository.commit(scene.keys, at: Scene.now) }
    }

    @Test func anOlderPublicationIsNotSignedAgain() throws {
        let scene = try Scene()
        try scene.publish(1, ["a": "vulnerable"])
        let old = try Data(contentsOf: scene.file("timestamp.json"))
        try scene.publish(2, ["a": "fixed"])
        let new = try Data(contentsOf: scene.file("timestamp.json"))
        try old.write(to: scene.file("timestamp.json"))
        try scene.expectRefusal { try scene.repository.commit(scene.keys, at: Scene.now) }
        try scene.expectRefusal { try scene.repository.rotate(.targets, scene.keys, at: Scene.now) }
        try new.write(to: scene.file("timestamp.json"))
        try scene.repository.commit(scene.keys, at: Scene.now)
        #expect(try scene.installed().version == 2)
    }

    /// A rotation begins the versions of timestamp and snapshot again. It may be interrupted before they are stored.
    @Test func interruptedRotationsAreContinued() throws {
        let scene = try Scene()
        for version in 1...3 as ClosedRange<Int64> { try scene.publish(version, ["a": "\(version)"]) }
        let published = scene.keys.url.appending(path: "published.json")
        let before = try Data(contentsOf: published)
        try scene.repository.rotate(.timestamp, scene.keys, at: Scene.now)
        #expect(try scene.repository.state().timestamp?.version == 1)
        try before.write(to: published)
        try scene.publish(4, ["a": "4"])
        #expect(try scene.installed().version == 4)
    }

    @Test func laterSpecificationsAreNotWrittenOver() throws {
        let scene = try Scene()
        let state = try scene.repository.state()
        let key = try #require(try scene.keys.keys(.timestamp, of: state.root.content).first)
        var signed = try #require(state.timestamp?.document.signed)
        signed["spec_version"] = "1.1.0"
        let bytes = CanonicalValue.object(signed).canonicalBytes
        try Data(SignedDocument(signed: signed, signatures: [try key.signature(of: bytes)]).bytes)
            .write(to: scene.file("timestamp.json"))
        #expect(scene.trustedFailures().isEmpty)
        try scene.expectRefusal { try scene.repository.commit(scene.keys, at: Scene.now) }
    }

    @Test(arguments: ["timestamp.json", "2.snapshot.json", "2.targets.json"])
    func absentMetadataIsNotReplaced(_ name: String) throws {
        let scene = try Scene()
        try scene.publish(1, ["a": "1"])
        try FileManager.default.removeItem(at: scene.file(name))
        try scene.expectRefusal { try scene.repository.commit(scene.keys, at: Scene.now) }
    }

    @Test func aForgedFirstRootIsNotContinued() throws {
        let scene = try Scene()
        let thief = try KeyFolder(scene.folder.appending(path: "thief")).make(.root)
        var root = try scene.repository.state().root.document.signed
        let isAdded = root.add(thief.listed, to: "root")
        try #require(isAdded)
        let bytes = CanonicalValue.object(root).canonicalBytes
        let forged = SignedDocument(signed: root, signatures: [try thief.signature(of: bytes)])
        try Data(forged.bytes).write(to: scene.file("1.root.json"))
        // A client without another root can't see it.
        #expect(scene.failures().isEmpty)
        #expect(!scene.trustedFailures().isEmpty)
        try scene.expectRefusal { try scene.repository.rotate(.timestamp, scene.keys, at: Scene.now) }
    }

    @Test func aRepeatedRootEndsTheCheck() throws {
        let scene = try Scene()
        try FileManager.default.copyItem(at: scene.file("1.root.json"), to: scene.file("2.root.json"))
        #expect(!scene.failures().isEmpty)
        try scene.expectRefusal { try scene.repository.commit(scene.keys, at: Scene.now) }
    }

    @Test func unlistedManifestsAreNotRolledBackTo() throws {
        let scene = try Scene()
        try scene.publish(1, ["a": "1"])
        let manifest = try BundleManifest(version: 7, files: scene.installed().files).bytes
        let folder = scene.repository.url.appending(path: "targets/shop/release/1")
        try Data(manifest).write(to: folder.appending(path: "\(Hexadecimal.sha256(manifest)).manifest.json"))
        try scene.expectRefusal {
            try scene.repository.rollBack(scene.target, to: 7, as: 8, scene.keys, at: Scene.now)
        }
    }

    @Test func rotationRecoversFromTheHighestVersion() throws {
        let scene = try Scene()
        let state = try scene.repository.state()
        let key = try #require(try scene.keys.keys(.timestamp, of: state.root.content).first)
        var signed = try #require(state.timestamp?.document.signed)
        signed["version"] = .integer(.max)
        let bytes = CanonicalValue.object(signed).canonicalBytes
        let raised = SignedDocument(signed: signed, signatures: [try key.signature(of: bytes)])
        try Data(raised.bytes).write(to: scene.file("timestamp.json"))
        try scene.expectRefusal { try scene.repository.commit(scene.keys, at: Scene.now) }
        try scene.repository.rotate(.timestamp, scene.keys, at: Scene.now)
        #expect(try scene.repository.state().timestamp?.version == 1)
        #expect(scene.trustedFailures().isEmpty)
    }

    @Test func aRotatedSnapshotReplacesNoFile() throws {
        let scene = try Scene()
        let first = try Data(contentsOf: scene.file("1.snapshot.json"))
        try scene.repository.rotate(.snapshot, scene.keys, at: Scene.now)
        #expect(try Data(contentsOf: scene.file("1.snapshot.json")) == first)
        #expect(try scene.repository.state().snapshot?.version == 2)
    }

    @Test func keysInTheRepositoryAreSeen() throws {
        let scene = try Scene()
        #expect(!scene.keys.isWithin(scene.repository))
        #expect(KeyFolder(scene.repository.url).isWithin(scene.repository))
        #expect(KeyFolder(scene.repository.url.appending(path: "new/keys")).isWithin(scene.repository))
        let link = scene.folder.appending(path: "link")
        try FileManager.default.createSymbolicLink(at: link, withDestinationURL: scene.repository.url)
        #expect(KeyFolder(link.appending(path: "keys")).isWithin(scene.repository))
    }
}

extension Scene {
    fileprivate func file(_ name: String) -> URL { repository.url.appending(path: "metadata/\(name)") }

    /// The failures of a check that starts from the root beside the keys.
    fileprivate func trustedFailures() -> [String] {
        repository.verify(at: Self.now, from: keys).filter { !$0.isFine }.map(\.text)
    }

    /// Expects that an operation throws and changes no file of the repository.
    fileprivate func expectRefusal(_ operation: () throws -> Void) throws {
        let before = try contents()
        #expect(throws: (any Error).self) { try operation() }
        #expect(try contents() == before)
    }
}

extension CanonicalObject {
    /// Adds a key to a role of a root. Returns `false` if there is no such role.
    fileprivate mutating func add(_ key: MetadataKey, to role: String) -> Bool {
        guard case .object(var keys)? = self["keys"], case .object(var roles)? = self["roles"],
            case .object(var object)? = roles[role], case .array(let ids)? = object["keyids"]
        else { return false }
        keys[key.id] = .object(key.object)
        object["keyids"] = .array(ids + [.string(key.id)])
        roles[role] = .object(object)
        self["keys"] = .object(keys)
        self["roles"] = .object(roles)
        return true
    }
}
