import Crypto
import Foundation
import GRDB
import HTTPTypes
import RunwayServer
import RunwaySignatures
import Synchronization
import Testing

@testable import RunwayServerStorage

/// What every directory of enrolled keys does, over each of them.
struct EnrolmentStoreTests {
    enum Kind: CaseIterable { case memory, sqlite }

    private let folder = ScratchFolder()
    private let now = UnixTime(seconds: 1_790_000_000)

    private func directory(_ kind: Kind) throws -> any EnrolledKeyDirectory {
        switch kind {
        case .memory: InMemoryKeyDirectory()
        case .sqlite: try SQLiteEnrolmentStore(at: folder.file)
        }
    }

    private func record(_ id: String, of owner: String = "anna", device: String = "phone") -> KeyRecord {
        var record = KeyRecord(
            id: id, key: .p256(P256.Signing.PrivateKey().publicKey), owner: owner, notBefore: now,
            notAfter: now + .seconds(1_000))
        record.device = device
        return record
    }

    private func enrol(
        _ record: KeyRecord, in directory: any EnrolledKeyDirectory, replacing: String? = nil, upTo maximum: Int = 2,
        after seconds: Int = 0
    ) async throws -> KeyEnrolment {
        try await directory.enrol(
            record, replacing: replacing, overlap: .seconds(100), upTo: maximum, at: now + .seconds(seconds))
    }

    @Test(arguments: Kind.allCases)
    func keyIsEnrolledOnceForOneDevice(_ kind: Kind) async throws {
        let directory = try directory(kind)
        #expect(try await enrol(record("k-1"), in: directory) == .enrolled)
        #expect(try await enrol(record("k-1"), in: directory) == .enrolled)
        #expect(try await enrol(record("k-1", of: "ben"), in: directory) == .inUse)
        #expect(try await enrol(record("k-1", device: "tablet"), in: directory) == .inUse)
        #expect(try await enrol(record("k-1"), in: directory, after: 1_001) == .inUse)
        #expect(try await directory.records(of: "anna").map(\.id) == ["k-1"])
        #expect(try await directory.records(of: "ben").isEmpty)
        #expect(try await directory.record(forKeyID: "k-1")?.device == "phone")
        #expect(try await directory.record(forKeyID: "k-2") == nil)
    }

    @Test(arguments: Kind.allCases)
    func replacedKeyEndsAfterTheOverlap(_ kind: Kind) async throws {
        let directory = try directory(kind)
        #expect(try await enrol(record("k-1"), in: directory) == .enrolled)
        #expect(try await enrol(record("k-2", device: "tablet"), in: directory, replacing: "k-1") == .notReplaceable)
        #expect(try await enrol(record("k-2", of: "ben"), in: directory, replacing: "k-1") == .notReplaceable)
        #expect(try await enrol(record("k-2"), in: directory, replacing: "k-9") == .notReplaceable)
        #expect(try await enrol(record("k-2"), in: directory, replacing: "k-1") == .enrolled)
        let old = try #require(try await directory.record(forKeyID: "k-1"))
        #expect(old.isActive(at: now + .seconds(100)) && !old.isActive(at: now + .seconds(101)))
        #expect(try await directory.record(forKeyID: "k-2")?.isActive(at: now + .seconds(101)) == true)
        #expect(try await enrol(record("k-3"), in: directory, replacing: "k-1", after: 101) == .notReplaceable)
    }

    @Test(arguments: Kind.allCases)
    func accountHasABoundedNumberOfKeys(_ kind: Kind) async throws {
        let directory = try directory(kind)
        #expect(try await enrol(record("k-1"), in: directory) == .enrolled)
        #expect(try await enrol(record("k-2"), in: directory) == .enrolled)
        #expect(try await enrol(record("k-3"), in: directory) == .full)
        #expect(try await enrol(record("k-4", of: "ben"), in: directory) == .enrolled)
        #expect(try await directory.revoke("k-1", of: "ben") == false)
        var last = "k-1"
        for number in 5..<10 {
            let successor = record("k-\(number)")
            // Each is replaced after the overlap of the one before it.
            let outcome = try await enrol(successor, in: directory, replacing: last, after: (number - 4) * 101)
            #expect(outcome == .enrolled)
            last = successor.id
        }
        // The other device's, the last two, and two that have ended.
        let stored = try await directory.records(of: "anna").map(\.id)
        #expect(stored.count == 5 && Set(stored).isSuperset(of: ["k-2", "k-8", "k-9"]))
    }

    @Test(arguments: Kind.allCases)
    func revokedKeyDoesNotComeBack(_ kind: Kind) async throws {
        let directory = try directory(kind)
        #expect(try await enrol(record("k-1"), in: directory) == .enrolled)
        #expect(try await directory.revoke("k-1", of: "anna"))
        for number in 2..<15 {
            #expect(try await enrol(record("k-\(number)"), in: directory) == .enrolled)
            if number.isMultiple(of: 2) {
                #expect(try await directory.revoke("k-\(number)", of: "anna"))
            } else {
                let successor = record("k-\(number)-later")
                #expect(try await enrol(successor, in: directory, replacing: "k-\(number)") == .enrolled)
                #expect(try await directory.revoke(successor.id, of: "anna"))
                #expect(try await directory.revoke("k-\(number)", of: "anna"))
            }
        }
        #expect(try await directory.record(forKeyID: "k-1")?.isRevoked == true)
        #expect(try await enrol(record("k-1"), in: directory) == .inUse)
    }

    @Test func aThousandRevokedKeysPerAccountAreRemembered() {
        let own = (0..<1_005).map { number in
            var record = KeyRecord(
                id: "k-\(number)", key: .p256(Self.publicKey), owner: "anna", notBefore: now + .seconds(number))
            record.isRevoked = true
            return record
        }
        let plan = KeyEnrolmentPlan(
            record("new"), present: nil, own: own, replacing: nil, overlap: .zero, upTo: 2, at: now + .seconds(2_000))
        #expect(plan.outcome == .enrolled && plan.removed == (0..<5).map { "k-\($0)" })
    }

    private static let publicKey = P256.Signing.PrivateKey().publicKey

    @Test(arguments: Kind.allCases)
    func revokedKeyIsNotEnrolledAgain(_ kind: Kind) async throws {
        let directory = try directory(kind)
        #expect(try await enrol(record("k-1"), in: directory) == .enrolled)
        #expect(try await directory.revoke("k-1", of: "anna"))
        #expect(try await directory.record(forKeyID: "k-1")?.isActive(at: now) == false)
        #expect(try await enrol(record("k-1"), in: directory) == .inUse)
        #expect(try await enrol(record("k-2"), in: directory, replacing: "k-1") == .notReplaceable)
    }

    @Test(arguments: Kind.allCases)
    func concurrentEnrolmentsStayWithinTheAccountsBound(_ kind: Kind) async throws {
        let directory = try directory(kind)
        let count = try await withThrowingTaskGroup(of: Bool.self) { group in
            for number in 0..<50 {
                group.addTask { try await enrol(record("k-\(number)"), in: directory) == .enrolled }
            }
            return try await group.reduce(0) { $0 + ($1 ? 1 : 0) }
        }
        #expect(count == 2)
    }

    @Test(arguments: Kind.allCases)
    func identifiersAreComparedByteByByte(_ kind: Kind) async throws {
        // Each pair is one text for `String`, and two for a database.
        let (composed, decomposed) = ("\u{E9}", "e\u{301}")
        let directory = try directory(kind)
        #expect(try await enrol(record("k-1", of: composed, device: composed), in: directory) == .enrolled)
        #expect(try await directory.records(of: decomposed).isEmpty)
        #expect(try await directory.revoke("k-1", of: decomposed) == false)
        #expect(try await enrol(record("k-1", of: decomposed, device: composed), in: directory) == .inUse)
        #expect(try await enrol(record("k-1", of: composed, device: decomposed), in: directory) == .inUse)
        let successor = record("k-2", of: composed, device: decomposed)
        #expect(try await enrol(successor, in: directory, replacing: "k-1") == .notReplaceable)
        #expect(try await enrol(record(composed), in: directory) == .enrolled)
        #expect(try await directory.record(forKeyID: decomposed) == nil)
        #expect(try await enrol(record(decomposed), in: directory) == .enrolled)
        let identifiers = try await directory.records(of: "anna").map { Array($0.id.utf8) }
        #expect(identifiers == [[0x65, 0xCC, 0x81], [0xC3, 0xA9]])
    }

    /// The row beside an unknown identifier is read, too; that it is damaged does not concern the lookup.
    @Test func damagedKeyFailsItsOwnLookupAlone() async throws {
        let first = try SQLiteEnrolmentStore(at: folder.file)
        #expect(try await first.record(forKeyID: "k-0") == nil)
        #expect(try await enrol(record("k-1"), in: first) == .enrolled)
        for unknown in ["k-0", "k-2", ""] { #expect(try await first.record(forKeyID: unknown) == nil) }
        #expect(try await first.record(forKeyID: "k-1")?.id == "k-1")
        try await first.close()
        try await change("UPDATE device_key SET key = 'none'")
        let second = try SQLiteEnrolmentStore(at: folder.file)
        await #expect(throws: ServerStorageError.self) { try await second.record(forKeyID: "k-1") }
        for unknown in ["k-0", "k-2", ""] { #expect(try await second.record(forKeyID: unknown) == nil) }
        try await second.close()
    }

    @Test func damagedDeviceFailsItsOwnLookupAlone() async throws {
        let first = try SQLiteEnrolmentStore(at: folder.file)
        #expect(try await first.insert(device("d-1")))
        for unknown in ["d-0", "d-2"] { #expect(try await first.device(unknown) == nil) }
        #expect(try await first.device("d-1") == device("d-1"))
        try await first.close()
        try await change("UPDATE attested_device SET counter = 'none'")
        let second = try SQLiteEnrolmentStore(at: folder.file)
        await #expect(throws: ServerStorageError.self) { try await second.device("d-1") }
        for unknown in ["d-0", "d-2"] { #expect(try await second.device(unknown) == nil) }
        try await second.close()
    }

    @Test(arguments: ["k-0", "k-2", ""]) func lookupsOfUnknownKeysRunTheSameStatements(id: String) async throws {
        let store = try SQLiteEnrolmentStore(at: folder.file)
        #expect(try await enrol(record("k-1"), in: store) == .enrolled)
        try await store.close()
        let database = try DatabaseQueue(path: folder.file.path)
        func statements(_ id: String) throws -> [String] {
            let run = Mutex<[String]>([])
            _ = try database.read { database in
                database.trace { event in
                    if case .statement(let statement) = event { run.withLock { $0.append(statement.sql) } }
                }
                return try database.key(id)
            }
            return run.withLock { $0 }
        }
        let known = try statements("k-1")
        #expect(try statements(id) == known && known.count(where: { $0.contains("device_key") }) == 2)
        try database.close()
    }

    /// Changes the file of a store that is closed.
    private func change(_ sql: String) async throws {
        let database = try DatabaseQueue(path: folder.file.path)
        try await database.write { try $0.execute(sql: sql) }
        try database.close()
    }

    @Test func keysSurviveARestart() async throws {
        let first = try SQLiteEnrolmentStore(at: folder.file)
        let algorithms: [SignatureAlgorithm] = [.ecdsaP256SHA256, .ed25519, .hmacSHA256]
        for algorithm in algorithms {
            var stored = KeyRecord(
                id: algorithm.name, key: try SigningKey(making: algorithm).verificationKey, owner: "anna")
            stored.requiredComponents = [.field(.userAgent), .queryParameter("a b")]
            #expect(try await enrol(stored, in: first, upTo: 5) == .enrolled)
        }
        let device = record("k-1")
        #expect(try await enrol(device, in: first, upTo: 5) == .enrolled)
        #expect(try await first.revoke("ed25519", of: "anna"))
        try await first.close()
        let second = try SQLiteEnrolmentStore(at: folder.file)
        let records = try await second.records(of: "anna")
        #expect(records.map(\.id) == ["ecdsa-p256-sha256", "ed25519", "hmac-sha256", "k-1"])
        #expect(records.map(\.isRevoked) == [false, true, false, false])
        #expect(records.first?.requiredComponents == [.field(.userAgent), .queryParameter("a b")])
        let found = try #require(records.last)
        #expect(found.key.text == device.key.text && found.device == "phone")
        #expect(found.notBefore == device.notBefore && found.notAfter == device.notAfter)
        try await second.close()
    }

    @Test func closedStoreFindsNothingAndThrows() async throws {
        let store = try SQLiteEnrolmentStore(at: folder.file)
        try await store.close()
        await #expect(throws: (any Error).self) { _ = try await store.record(forKeyID: "k-1") }
    }

    // MARK: - Attested devices

    private func devices(_ kind: Kind) throws -> any AttestedDeviceStore {
        switch kind {
        case .memory: InMemoryAttestedDevices(maximumDevices: 2)
        case .sqlite: try SQLiteEnrolmentStore(at: folder.file, maximumDevices: 2)
        }
    }

    private func device(_ id: String) -> AttestedDevice {
        AttestedDevice(id: id, publicKey: Array(0..<65), account: "anna", counter: 0)
    }

    @Test(arguments: Kind.allCases)
    func counterStrictlyRises(_ kind: Kind) async throws {
        let devices = try devices(kind)
        #expect(try await devices.raise("d-1", to: 1) == false)
        #expect(try await devices.insert(device("d-1")))
        #expect(try await devices.insert(device("d-1")) == false)
        #expect(try await devices.raise("d-1", to: .max - 1))
        #expect(try await devices.raise("d-1", to: .max - 1) == false)
        #expect(try await devices.raise("d-1", to: 0) == false)
        let raised = try await withThrowingTaskGroup(of: Bool.self) { group in
            for _ in 0..<20 { group.addTask { try await devices.raise("d-1", to: .max) } }
            return try await group.reduce(0) { $0 + ($1 ? 1 : 0) }
        }
        #expect(raised == 1)
        #expect(try await devices.device("d-1")?.counter == .max)
    }

    @Test(arguments: Kind.allCases)
    func devicesAreComparedByteByByte(_ kind: Kind) async throws {
        let devices = try devices(kind)
        #expect(try await devices.insert(device("\u{E9}")))
        #expect(try await devices.device("e\u{301}") == nil)
        #expect(try await devices.raise("e\u{301}", to: 1) == false)
        #expect(try await devices.insert(device("e\u{301}")))
    }

    @Test(arguments: Kind.allCases)
    func fullStoreTakesNoFurtherDevice(_ kind: Kind) async throws {
        let devices = try devices(kind)
        #expect(try await devices.insert(device("d-1")))
        #expect(try await devices.insert(device("d-2")))
        #expect(try await devices.insert(device("d-3")) == false)
        #expect(try await devices.device("d-3") == nil)
        #expect(try await devices.device("d-2") == device("d-2"))
    }

    @Test func countersSurviveARestart() async throws {
        let first = try SQLiteEnrolmentStore(at: folder.file)
        #expect(try await first.insert(device("d-1")))
        #expect(try await first.raise("d-1", to: 7))
        try await first.close()
        let second = try SQLiteEnrolmentStore(at: folder.file)
        #expect(try await second.raise("d-1", to: 7) == false)
        #expect(try await second.raise("d-1", to: 8))
        #expect(try await second.insert(device("d-1")) == false)
        try await second.close()
    }
}
