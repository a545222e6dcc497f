import Foundation
import RunwayBundleRepository
import RunwaySignatures
import RunwayTUF
import Testing

/// A repository, its keys and a bundle, in a folder that is removed.
final class Scene: Sendable {
    static let now = UnixTime(seconds: 1_780_315_200)

    let folder: URL
    let repository: Repository
    let keys: KeyFolder
    let target: BundleTarget

    init() throws {
        folder = FileManager.default.temporaryDirectory.appending(path: "RepositoryTests.\(UUID().uuidString)")
        repository = Repository(folder.appending(path: "repository"))
        keys = KeyFolder(folder.appending(path: "keys"))
        target = try #require(BundleTarget(bundle: "shop", channel: "release", runtime: "1"))
        try repository.create(keys, at: Self.now)
    }

    deinit { try? FileManager.default.removeItem(at: folder) }

    func publish(_ version: Int64, _ files: [String: String], at time: UnixTime = now) throws {
        let bundle = folder.appending(path: "bundle")
        try? FileManager.default.removeItem(at: bundle)
        for (path, text) in files {
            let file = bundle.appending(path: path)
            try FileManager.default.createDirectory(
                at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
            try Data(text.utf8).write(to: file)
        }
        try repository.publish(bundle, as: target, version: version, keys, at: time)
    }

    /// The manifest that a client with the first root installs.
    func installed(at time: UnixTime = now) throws -> BundleManifest {
        func bytes(_ path: String) throws -> [UInt8] {
            Array(try Data(contentsOf: repository.url.appending(path: path)))
        }
        var trusted = try TrustedMetadata(root: bytes("metadata/1.root.json"), at: time)
        while let next = try? bytes("metadata/\(trusted.root.version + 1).root.json") {
            _ = try trusted.updateRoot(next)
        }
        _ = try trusted.updateTimestamp(bytes("metadata/timestamp.json"))
        try trusted.updateSnapshot(bytes("metadata/\(trusted.snapshotFile.version).snapshot.json"))
        let version = try trusted.file(of: trusted.topLevelTargets).version
        let targets = try trusted.targets(bytes("metadata/\(version).targets.json"), of: trusted.topLevelTargets)
        let file = try #require(targets.content.files[ExactText(target.path)])
        let hash = try #require(file.digest.hashes["sha256"])
        let manifest = try bytes("targets/shop/release/1/\(hash).manifest.json")
        #expect(file.digest.matches(manifest))
        return try BundleManifest(reading: manifest)
    }

    /// The terms of the published version.
    func release() throws -> BundleRelease { try repository.published(target, keys).release }

    func failures(at time: UnixTime = now) -> [String] {
        repository.verify(at: time).filter { !$0.isFine }.map(\.text)
    }

    /// All files of the repository with their bytes.
    func contents() throws -> [String: Data] {
        var contents: [String: Data] = [:]
        for path in try FileManager.default.subpathsOfDirectory(atPath: repository.url.path) {
            contents[path] = FileManager.default.contents(atPath: repository.url.appending(path: path).path)
        }
        return contents
    }
}

struct RepositoryTests {
    @Test func publishedBundlesAreInstalled() throws {
        let scene = try Scene()
        try scene.publish(1, ["index.html": "<p>", "img/a.svg": "<svg>"])
        #expect(try scene.installed().files.map(\.path) == ["img/a.svg", "index.html"])
        #expect(scene.failures().isEmpty)
    }

    @Test func unchangedFilesAreStoredOnce() throws {
        let scene = try Scene()
        try scene.publish(1, ["a": "1", "b": "2", "c": "2"])
        try scene.publish(2, ["a": "1", "b": "3"])
        let names = try FileManager.default.contentsOfDirectory(
            atPath: scene.repository.url.appending(path: "files").path)
        #expect(names.count == 3)
    }

    @Test func equalInputMakesEqualBytes() throws {
        let scene = try Scene()
        let folders = [scene.repository.url, scene.keys.url]
        func copy(_ folder: URL) -> URL { scene.folder.appending(path: "\(folder.lastPathComponent).start") }
        for folder in folders { try FileManager.default.copyItem(at: folder, to: copy(folder)) }
        try scene.publish(1, ["a": "1", "b": "2"])
        let first = try scene.contents()
        for folder in folders {
            try FileManager.default.removeItem(at: folder)
            try FileManager.default.copyItem(at: copy(folder), to: folder)
        }
        try scene.publish(1, ["b": "2", "a": "1"])
        #expect(try scene.contents() == first)
    }

    /// Nothing that clients read has changed before the timestamp is replaced.
    @Test func failedPublicationsChangeNothing() throws {
        let scene = try Scene()
        try scene.publish(1, ["a": "1"])
        let timestamp = scene.repository.url.appending(path: "metadata/timestamp.json")
        let before = try Data(contentsOf: timestamp)
        // The next snapshot can't be written, since a folder has its name.
        let state = try scene.repository.state()
        let next = try #require(state.snapshot?.version) + 1
        let obstacle = scene.repository.url.appending(path: "metadata/\(next).snapshot.json")
        try FileManager.default.createDirectory(
            at: obstacle.appending(path: "x"), withIntermediateDirectories: true)
        #expect(throws: (any Error).self) { try scene.publish(2, ["a": "2"]) }
        #expect(try Data(contentsOf: timestamp) == before)
        #expect(scene.failures().isEmpty)
        try FileManager.default.removeItem(at: obstacle)
        try scene.publish(2, ["a": "2"])
        #expect(try scene.installed().version == 2)
    }

    @Test func versionsOnlyGrow() throws {
        let scene = try Scene()
        try scene.publish(2, ["a": "1"])
        for version in [1, 2] as [Int64] {
            #expect(throws: RepositoryError.self) { try scene.publish(version, ["a": "2"]) }
        }
        #expect(try scene.installed().version == 2)
    }

    @Test func rollbacksAreNewVersionsOfOldFiles() throws {
        let scene = try Scene()
        try scene.publish(1, ["a": "good"])
        let good = try scene.installed().files
        try scene.publish(2, ["a": "bad"])
        try scene.repository.rollBack(scene.target, to: 1, as: 3, scene.keys, at: Scene.now)
        #expect(try scene.installed().version == 3)
        #expect(try scene.installed().files == good)
        #expect(throws: RepositoryError.self) {
            try scene.repository.rollBack(scene.target, to: 9, as: 10, scene.keys, at: Scene.now)
        }
    }

    @Test func rolloutsChangeWithoutANewVersion() throws {
        let scene = try Scene()
        try scene.publish(1, ["a": "1"])
        let before = try scene.release()
        #expect(before == BundleRelease(version: 1, rollout: try Rollout(share: 10_000, salt: before.rollout.salt)))
        for share in [0, 3_000] as [Int64] {
            let changed = try scene.repository.change(scene.target, share: share, scene.keys, at: Scene.now)
            #expect(try scene.release() == changed)
            #expect(changed.rollout == (try Rollout(share: share, salt: before.rollout.salt)))
        }
        #expect(throws: MalformedMetadata.self) {
            try scene.repository.change(scene.target, share: 10_001, scene.keys, at: Scene.now)
        }
        let other = try #require(BundleTarget(bundle: "other", channel: "release", runtime: "1"))
        #expect(throws: RepositoryError.self) {
            try scene.repository.change(other, share: 1, scene.keys, at: Scene.now)
        }
        #expect(try scene.installed().version == 1)
    }

    @Test func theKillSwitchSurvivesNewVersions() throws {
        let scene = try Scene()
        try scene.publish(1, ["a": "1"])
        try scene.repository.change(scene.target, isStopped: true, scene.keys, at: Scene.now)
        try scene.publish(2, ["a": "2"])
        #expect(try scene.release().isStopped && scene.release().version == 2)
        try scene.repository.change(scene.target, isStopped: false, scene.keys, at: Scene.now)
        #expect(try !scene.release().isStopped)
    }

    @Test func rollbacksHaveTheFloorOfTheirFiles() throws {
        let scene = try Scene()
        let folder = scene.folder.appending(path: "empty")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        for (version, floor) in [(1, 4), (2, 0)] as [(Int64, Int64)] {
            try scene.repository.publish(
                folder, as: scene.target, version: version, share: 10, floor: floor, scene.keys, at: Scene.now)
        }
        try scene.repository.rollBack(scene.target, to: 1, as: 3, scene.keys, at: Scene.now)
        let release = try scene.release()
        #expect(release.floor == 4 && release.rollout.share == 10_000 && release.version == 3)
    }

    @Test func twoCommandsDoNotSignAtATime() throws {
        let scene = try Scene()
        try scene.publish(1, ["a": "1"])
        let before = try scene.contents()
        let lock = open(scene.keys.url.appending(path: "lock").path, O_RDWR)
        defer { close(lock) }
        try #require(flock(lock, LOCK_EX) == 0)
        #expect(throws: RepositoryError.self) { try scene.repository.commit(scene.keys, at: Scene.now) }
        #expect(throws: RepositoryError.self) { try scene.repository.rotate(.root, scene.keys, at: Scene.now) }
        #expect(try scene.contents() == before)
        try #require(flock(lock, LOCK_UN) == 0)
        try scene.repository.commit(scene.keys, at: Scene.now)
    }

    @Test(arguments: TopLevelRole.allCases) func rotatedRolesAreAcceptedFromTheFirstRoot(_ role: TopLevelRole) throws {
        let scene = try Scene()
        try scene.publish(1, ["a": "1"])
        let old = try scene.repository.state().root.content[role].keyIDs
        for _ in 0..<2 { try scene.repository.rotate(role, scene.keys, at: Scene.now) }
        let root = try scene.repository.state().root
        #expect(root.version == 3)
        #expect(Set(root.content[role].keyIDs).isDisjoint(with: old))
        #expect(scene.failures().isEmpty)
        try scene.publish(2, ["a": "2"])
        #expect(try scene.installed().version == 2)
    }

    @Test func aRevokedKeyIsGone() throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "RepositoryTests.\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: folder) }
        let repository = Repository(folder.appending(path: "repository"))
        let keys = KeyFolder(folder.appending(path: "keys"))
        try repository.create(keys, at: Scene.now, rootKeys: 3, rootThreshold: 2)
        let id = try #require(try repository.state().root.content[.root].keyIDs.first)
        try repository.revoke(id, of: .root, keys, at: Scene.now)
        #expect(try repository.state().root.content[.root].keyIDs.contains(id) == false)
        #expect(repository.verify(at: Scene.now).filter { !$0.isFine }.isEmpty)
        // Two keys are left, and two are needed.
        let other = try #require(try repository.state().root.content[.root].keyIDs.first)
        #expect(throws: RepositoryError.self) { try repository.revoke(other, of: .root, keys, at: Scene.now) }
    }

    @Test func publishingNeedsNoRootKey() throws {
        let scene = try Scene()
        for name in try FileManager.default.contentsOfDirectory(atPath: scene.keys.url.path)
        where name.hasPrefix("root-") {
            try FileManager.default.removeItem(at: scene.keys.url.appending(path: name))
        }
        try scene.publish(1, ["a": "1"])
        #expect(try scene.installed().version == 1)
        #expect(throws: RepositoryError.self) { try scene.repository.rotate(.targets, scene.keys, at: Scene.now) }
    }

    @Test func keysOfOthersAreNotUsed() throws {
        let scene = try Scene()
        let names = try FileManager.default.contentsOfDirectory(atPath: scene.keys.url.path)
        let file = scene.keys.url.appending(path: try #require(names.first { $0.hasPrefix("snapshot-") })).path
        let mode = try FileManager.default.attributesOfItem(atPath: file)[.posixPermissions] as? Int
        #expect(mode == 0o600)
        try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: file)
        #expect(throws: RepositoryError.self) { try scene.publish(1, ["a": "1"]) }
    }

    @Test func linksAreRefused() throws {
        let scene = try Scene()
        let bundle = scene.folder.appending(path: "linked")
        try FileManager.default.createDirectory(at: bundle, withIntermediateDirectories: true)
        try FileManager.default.createSymbolicLink(
            atPath: bundle.appending(path: "a").path, withDestinationPath: "/etc/hostname")
        #expect(throws: RepositoryError.self) {
            try scene.repository.publish(bundle, as: scene.target, version: 1, scene.keys, at: Scene.now)
        }
    }

    @Test func verifyFindsEveryDamage() throws {
        let scene = try Scene()
        try scene.publish(1, ["a": "1", "b": "2"])
        #expect(scene.failures(at: Scene.now + .seconds(15 * 86_400)).first?.contains("§5.4.4") == true)
        for path in try FileManager.default.subpathsOfDirectory(atPath: scene.repository.url.path) {
            let file = scene.repository.url.appending(path: path)
            guard let data = FileManager.default.contents(atPath: file.path), !data.isEmpty else { continue }
            // Snapshots and targets before the newest are no longer read.
            if ["metadata/1.snapshot.json", "metadata/1.targets.json"].contains(path) { continue }
            var damaged = data
            damaged[damaged.count / 2] ^= 1
            try damaged.write(to: file)
            #expect(!scene.failures().isEmpty, "\(path)")
            try FileManager.default.removeItem(at: file)
            #expect(!scene.failures().isEmpty, "\(path)")
            try data.write(to: file)
        }
        #expect(scene.failures().isEmpty)
    }

    @Test func renewalKeepsTargetsUntilHalfTheirLifetime() throws {
        let scene = try Scene()
        try scene.publish(1, ["a": "1"])
        let version = try scene.repository.state().targets?.version
        try scene.repository.commit(scene.keys, at: Scene.now + .seconds(10 * 86_400))
        #expect(try scene.repository.state().targets?.version == version)
        try scene.repository.commit(scene.keys, at: Scene.now + .seconds(50 * 86_400))
        #expect(try scene.repository.state().targets?.version != version)
        #expect(scene.failures(at: Scene.now + .seconds(60 * 86_400)).isEmpty)
    }
}
