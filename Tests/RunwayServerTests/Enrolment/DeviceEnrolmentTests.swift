import Crypto
import Foundation
import HTTPTypes
import Runway
import RunwayServer
import RunwayServerStorage
import RunwaySignatures
import RunwaySigning
import Testing

/// Both halves of an enrolment, over sockets.
@Suite(.timeLimit(.minutes(5)))
struct DeviceEnrolmentTests {
    @Test func enrolledKeySignsCalls() async throws {
        try await withEnrolmentServer { server in
            let (network, enrolment) = try server.device(of: "anna", keys: DeviceKeys(in: StoredSecrets()))
            let unsigned = await #expect(throws: NetworkError.self) { try await network.call(SignedEcho()) }
            #expect(unsigned?.status == .unauthorized)
            let id = try await enrolment.enrol()
            let words = try await network.call(SignedEcho()).text?.split(separator: " ") ?? []
            #expect(words.prefix(2) == [id[...], "anna"] && words.count == 3)
            #expect(try await enrolment.enrol() == id)
            let listed = try await enrolment.list()
            #expect(listed.map(\.id) == [id] && listed.map(\.device) == [words.last.map(String.init)])
            #expect(listed.allSatisfy { $0.isActive })
        }
    }

    @Test func enrolmentNeedsALogin() async throws {
        try await withEnrolmentServer { server in
            let (_, enrolment) = try server.device(of: nil, keys: DeviceKeys(in: StoredSecrets()))
            let error = await #expect(throws: NetworkError.self) { try await enrolment.enrol() }
            #expect(error?.kind == .needsLogin)
            // The server judges, whatever the app says.
            let refused = await #expect(throws: NetworkError.self) { try await enrolment.list() }
            #expect(refused?.status == .unauthorized)
        }
    }

    @Test func keySurvivesARestartOfTheApp() async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "runway-device-keys-\(UUID())")
        defer { try? FileManager.default.removeItem(at: folder) }
        try await withEnrolmentServer { server in
            let store = FileTokenStore(folder: folder)
            let id = try await server.device(of: "anna", keys: DeviceKeys(in: store)).enrolment.enrol()
            let (network, _) = try server.device(of: "anna", keys: DeviceKeys(in: store))
            #expect(try await network.call(SignedEcho()).text?.hasPrefix("\(id) anna ") == true)
            let owner = KeyOwner(service: "shop", environment: .release, account: "ben")
            #expect(try await DeviceKeys(in: store).key(for: owner) == nil)
        }
    }

    @Test func rotatedKeyIsAcceptedForTheOverlap() async throws {
        try await withEnrolmentServer { server in
            let store = StoredSecrets()
            let (network, enrolment) = try server.device(of: "anna", keys: DeviceKeys(in: store))
            let old = try await enrolment.enrol()
            // A copy of the app's memory before the rotation: requests that are on their way.
            let before = DeviceKeys(in: store)
            let (late, _) = try server.device(of: "anna", keys: before)
            _ = try await late.call(SignedEcho())
            let new = try await enrolment.rotate()
            #expect(new != old)
            #expect(try await network.call(SignedEcho()).text?.hasPrefix(new) == true)
            #expect(try await late.call(SignedEcho()).text?.hasPrefix(old) == true)
            server.time.set(server.time.now + .seconds(3_601))
            let refused = await #expect(throws: NetworkError.self) { try await late.call(SignedEcho()) }
            #expect(refused?.kind == .refused)
            #expect(try await network.call(SignedEcho()).text?.hasPrefix(new) == true)
        }
    }

    @Test func lostResponseEnrolsTheSameKey() async throws {
        try await withEnrolmentServer { server in
            let keys = DeviceKeys(in: StoredSecrets())
            let (network, enrolment) = try server.device(of: "anna", keys: keys, losing: LostResponses(1))
            await #expect(throws: NetworkError.self) { try await enrolment.enrol() }
            let id = try await enrolment.enrol()
            #expect(server.keys.all.map(\.id) == [id])
            #expect(try await network.call(SignedEcho()).text?.hasPrefix(id) == true)
        }
    }

    @Test func lostRotationIsRepeatedAfterTheOverlap() async throws {
        try await withEnrolmentServer { server in
            let keys = DeviceKeys(in: StoredSecrets())
            _ = try await server.device(of: "anna", keys: keys).enrolment.enrol()
            let (network, enrolment) = try server.device(of: "anna", keys: keys, losing: LostResponses(1))
            await #expect(throws: NetworkError.self) { try await enrolment.rotate() }
            server.time.set(server.time.now + .seconds(3_601))
            let refused = await #expect(throws: NetworkError.self) { try await network.call(SignedEcho()) }
            #expect(refused?.kind == .refused)
            let new = try await enrolment.rotate()
            #expect(try await network.call(SignedEcho()).text?.hasPrefix(new) == true)
            #expect(server.keys.all.count == 2)
        }
    }

    /// How a device gets a key anew after its own has ended.
    enum Renewal: CaseIterable { case enrol, rotate }

    private func renewed(_ enrolment: DeviceEnrolment<EnrolmentShop>, by renewal: Renewal) async throws -> String {
        switch renewal {
        case .enrol: try await enrolment.enrol()
        case .rotate: try await enrolment.rotate()
        }
    }

    @Test(arguments: Renewal.allCases)
    func revokedKeyIsRefusedAndReplaced(_ renewal: Renewal) async throws {
        try await withEnrolmentServer { server in
            let keys = DeviceKeys(in: StoredSecrets())
            let (network, enrolment) = try server.device(of: "anna", keys: keys)
            let id = try await enrolment.enrol()
            try await enrolment.revoke(id)
            let refused = await #expect(throws: NetworkError.self) { try await network.call(SignedEcho()) }
            #expect(refused?.kind == .refused)
            let new = try await renewed(enrolment, by: renewal)
            #expect(new != id && server.keys.all.count == 2)
            #expect(try await network.call(SignedEcho()).text?.hasPrefix("\(new) anna ") == true)
            #expect(try await enrolment.enrol() == new)
        }
    }

    @Test(arguments: Renewal.allCases)
    func expiredKeyIsReplaced(_ renewal: Renewal) async throws {
        try await withEnrolmentServer {
            $0.keyLifetime = .seconds(600)
        } _: { server in
            let (network, enrolment) = try server.device(of: "anna", keys: DeviceKeys(in: StoredSecrets()))
            let id = try await enrolment.enrol()
            server.time.set(server.time.now + .seconds(600))
            #expect(try await network.call(SignedEcho()).text?.hasPrefix("\(id) anna ") == true)
            server.time.set(server.time.now + .seconds(1))
            let refused = await #expect(throws: NetworkError.self) { try await network.call(SignedEcho()) }
            #expect(refused?.kind == .refused)
            let new = try await renewed(enrolment, by: renewal)
            #expect(new != id)
            #expect(try await network.call(SignedEcho()).text?.hasPrefix("\(new) anna ") == true)
        }
    }

    @Test func keyStaysIfTheServerSaysNothing() async throws {
        let keys = DeviceKeys(in: StoredSecrets())
        var id = ""
        try await withEnrolmentServer { server in
            id = try await server.device(of: "anna", keys: keys).enrolment.enrol()
        }
        // A server of the same name that knows nobody who is logged in.
        try await withEnrolmentServer { server in
            let (network, enrolment) = try server.device(of: "anna", keys: keys)
            network.configure(EnrolmentShop.self) { $0.commonHeaders = [:] }
            #expect(try await enrolment.enrol() == id)
            #expect(server.keys.all.isEmpty)
        }
    }

    @Test func enrolledKeySurvivesARestartOfTheServer() async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "runway-enrolment-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: folder) }
        let (keys, time) = (DeviceKeys(in: StoredSecrets()), UnixTime(seconds: Int64(Date.now.timeIntervalSince1970)))
        let authority = try SyntheticAuthority(at: time)
        let device = SyntheticDevice(authority)
        var revoked = ""
        for isRestarted in [false, true] {
            let store = try SQLiteEnrolmentStore(at: folder.appending(path: "enrolment.sqlite"))
            let attestation = try AppAttestation(
                appID: "TEAM.com.example.shop", roots: [authority.rootPEM], devices: store)
            try await withEnrolmentServer(directory: store) {
                $0.attestation = attestation
            } _: { server in
                let (network, enrolment) = try server.device(of: "anna", keys: keys, attestor: device)
                if !isRestarted {
                    revoked = try await enrolment.enrol()
                    device.assert(from: 4)
                    _ = try await enrolment.rotate()
                    try await enrolment.revoke(revoked)
                }
                _ = try await network.call(SignedEcho())
                #expect(try await enrolment.list().filter(\.isActive).count == 1)
                #expect(try await enrolment.list().first { $0.id == revoked }?.isActive == false)
                // The counter that the first server accepted is used up at the second.
                if isRestarted {
                    device.assert(from: 4)
                    let repeated = await #expect(throws: NetworkError.self) { try await enrolment.rotate() }
                    #expect(repeated?.status == .forbidden)
                    device.assert(from: 5)
                    _ = try await enrolment.rotate()
                }
            }
            try await store.close()
        }
    }

    @Test func accountHasABoundedNumberOfKeys() async throws {
        try await withEnrolmentServer {
            $0.maximumKeysPerAccount = 2
        } _: { server in
            for _ in 0..<2 {
                _ = try await server.device(of: "anna", keys: DeviceKeys(in: StoredSecrets())).enrolment.enrol()
            }
            let (_, third) = try server.device(of: "anna", keys: DeviceKeys(in: StoredSecrets()))
            let error = await #expect(throws: NetworkError.self) { try await third.enrol() }
            #expect(error?.status == .forbidden && server.keys.all.count == 2)
            _ = try await server.device(of: "ben", keys: DeviceKeys(in: StoredSecrets())).enrolment.enrol()
        }
    }

    @Test func noDescriptionHasTheKey() async throws {
        try await withEnrolmentServer { server in
            let store = StoredSecrets()
            let keys = DeviceKeys(in: store)
            let (_, enrolment) = try server.device(of: "anna", keys: keys)
            try await enrolment.enrol()
            let text = try #require(await store.all.first)
            let secret = try #require(text.firstMatch(of: /"representation":"([^"]+)"/)?.output.1)
            let owner = KeyOwner(service: "shop", environment: .release, account: "anna")
            let key = try #require(try await keys.key(for: owner))
            for shown in ["\(key)", String(reflecting: key)] { #expect(!shown.contains(secret)) }
            var dumped = ""
            dump(key, to: &dumped)
            #expect(!dumped.contains(secret))
        }
    }
}
