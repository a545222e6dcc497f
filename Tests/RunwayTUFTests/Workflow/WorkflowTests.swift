import RunwaySignatures
import Testing

@testable import RunwayTUF

/// Runs an update that must be refused, and returns the rule and the section.
func refusal(_ body: () throws -> Void) -> String {
    do {
        try body()
        return "accepted"
    } catch let error as MetadataError {
        return "\(error.role) \(error.rule) \(error.section)"
    } catch { return "\(error)" }
}

struct WorkflowTests {
    @Test func publicationsAreAccepted() throws {
        let repository = TestRepository()
        var trusted = try TrustedMetadata(repository)
        let targets = try repository.publication().update(&trusted)
        #expect(targets.content.files[ExactText("page.html")]?.digest.matches(Array("<p>".utf8)) == true)
    }

    @Test func anEqualTimestampChangesNothing() throws {
        let repository = TestRepository()
        let old = try repository.publication()
        var trusted = try TrustedMetadata(try repository.root(), having: old)
        #expect(try !trusted.updateTimestamp(old.timestamp))
        #expect(try trusted.load(snapshot: old.snapshot))
        _ = try trusted.targets(old.targets, of: trusted.topLevelTargets)
    }

    @Test func refusalsAreRecoverable() throws {
        let repository = TestRepository()
        var trusted = try TrustedMetadata(repository)
        let good = try repository.publication()
        #expect(throws: MetadataError.self) { try trusted.updateTimestamp(good.snapshot) }
        _ = try trusted.updateTimestamp(good.timestamp)
        #expect(throws: MetadataError.self) { try trusted.updateSnapshot(good.targets) }
        try trusted.updateSnapshot(good.snapshot)
        #expect(throws: MetadataError.self) { try trusted.targets(good.snapshot, of: trusted.topLevelTargets) }
        _ = try trusted.targets(good.targets, of: trusted.topLevelTargets)
    }

    @Test func rolesAreNotInterchangeable() throws {
        var repository = TestRepository()
        repository.keys[.snapshot] = repository.keys[.timestamp]
        var trusted = try TrustedMetadata(repository)
        let snapshot = try repository.snapshot(files: ["snapshot.json": .version(1)])
        #expect(refusal { _ = try trusted.updateTimestamp(snapshot) } == "timestamp form 5.4.2")
    }

    @Test func listingsMayHaveOnlyVersions() throws {
        let repository = TestRepository()
        var trusted = try TrustedMetadata(repository)
        _ = try trusted.updateTimestamp(try repository.timestamp(snapshot: .version(2)))
        try trusted.updateSnapshot(try repository.snapshot(version: 2, files: ["targets.json": .version(3)]))
        _ = try trusted.targets(try repository.targets(version: 3), of: trusted.topLevelTargets)
    }

    @Test func rootsAreFollowed() throws {
        var repository = TestRepository()
        let past = "2020-01-01T00:00:00Z"
        var trusted = try TrustedMetadata(root: try repository.root(expires: past), at: TestRepository.now)
        let first = repository.signers(.root)
        repository.keys[.root] = [TestKey()]
        let second = try repository.root(
            version: 2, expires: past, signedBy: first + repository.signers(.root))
        #expect(try trusted.updateRoot(second) == .accepted(hasRotated: false))
        let third = try repository.root(version: 3)
        #expect(try trusted.updateRoot(third) == .accepted(hasRotated: false))
        try repository.publication().update(&trusted)
    }

    @Test func rootVersionsAreConsecutive() throws {
        let repository = TestRepository()
        var trusted = try TrustedMetadata(repository)
        let (same, third) = (try repository.root(), try repository.root(version: 3))
        #expect(try trusted.updateRoot(same) == .unchanged)
        #expect(refusal { _ = try trusted.updateRoot(third) } == "root rollback 5.3.5")
    }

    @Test func storedSnapshotsAreCompared() throws {
        let repository = TestRepository()
        let old = try repository.publication(version: 5)
        var trusted = try TrustedMetadata(try repository.root(), having: old)
        let snapshot = try repository.snapshot(version: 6, files: ["targets.json": .version(4)])
        _ = try trusted.updateTimestamp(try repository.timestamp(version: 6, snapshot: .listing(snapshot, 6)))
        #expect(try !trusted.load(snapshot: old.snapshot))
        #expect(refusal { try trusted.updateSnapshot(snapshot) } == "snapshot rollback 5.5.5")
    }
}
