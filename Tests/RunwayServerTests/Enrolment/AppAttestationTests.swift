import Crypto
import Foundation
import HTTPTypes
import Runway
import RunwaySignatures
import RunwaySigning
import RunwayTesting
import Testing

@testable import RunwayServer

/// Attestations and assertions of synthetic devices, whose authority the server trusts.
@Suite(.timeLimit(.minutes(5)))
struct AppAttestationTests {
    private static let now = UnixTime(seconds: 1_790_000_000)

    private let authority: SyntheticAuthority
    private let devices = InMemoryAttestedDevices()
    private let attestation: AppAttestation

    init() throws {
        authority = try SyntheticAuthority(at: Self.now)
        attestation = try AppAttestation(appID: "TEAM.com.example.shop", roots: [authority.rootPEM], devices: devices)
    }

    private func statement(_ challenge: String = "c-1", account: String = "anna") throws -> EnrolmentStatement {
        try EnrolmentStatement(
            authority: "api.example.com", account: account, device: "phone-1", challenge: challenge,
            publicKey: Array(P256.Signing.PrivateKey().publicKey.x963Representation))
    }

    private func isAccepted(
        _ evidence: DeviceEvidence, of statement: EnrolmentStatement, at time: UnixTime = now
    ) async -> Bool {
        do {
            try await attestation.verify(evidence, of: statement, at: time)
            return true
        } catch {
            #expect(error as? EnrolmentRefusal == .attestation)
            return false
        }
    }

    @Test func attestationIsAcceptedOnce() async throws {
        let (device, statement) = (SyntheticDevice(authority), try statement())
        let evidence = try device.evidence(for: statement.bytes)
        #expect(await isAccepted(evidence, of: statement))
        #expect(await !isAccepted(evidence, of: statement))
    }

    @Test func attestationIsOfOneStatement() async throws {
        let evidence = try SyntheticDevice(authority).evidence(for: try statement().bytes)
        #expect(try await !isAccepted(evidence, of: statement("c-2")))
    }

    @Test func everyDeviationIsRefused() async throws {
        var forms: [(String, SyntheticDevice.Form)] = []
        func add(_ name: String, _ change: (inout SyntheticDevice.Form) -> Void) {
            var form = SyntheticDevice.Form()
            change(&form)
            forms.append((name, form))
        }
        add("app") { $0.appID = "TEAM.com.example.other" }
        add("environment") { $0.environment = Array("appattestdevelop".utf8) }
        add("format") { $0.format = "packed" }
        add("counter") { $0.firstCounter = 1 }
        add("certified key") { $0.certifiesOtherKey = true }
        add("named key") { $0.namesOtherKey = true }
        add("nonce") { $0.nonceOfOtherStatement = true }
        add("chain") { $0.hasIntermediate = false }
        add("excess") { $0.excess = [0] }
        for (name, form) in forms {
            let statement = try statement()
            let evidence = try SyntheticDevice(authority, form).evidence(for: statement.bytes)
            #expect(await !isAccepted(evidence, of: statement), "\(name)")
        }
    }

    @Test func otherAuthoritiesAreRefused() async throws {
        let (other, statement) = (try SyntheticAuthority(at: Self.now), try statement())
        #expect(try await !isAccepted(SyntheticDevice(other).evidence(for: statement.bytes), of: statement))
        let expired = try SyntheticDevice(authority).evidence(for: statement.bytes)
        #expect(await !isAccepted(expired, of: statement, at: Self.now + .seconds(2 * 365 * 86_400)))
    }

    @Test func changedBytesAreRefused() async throws {
        var random = SeededGenerator(seed: 17)
        let statement = try statement()
        let evidence = try SyntheticDevice(authority).evidence(for: statement.bytes)
        // The receipt, for Apple's own use, is not part of what is certified; neither is its name.
        let receipt = try #require(evidence.data.indices.first { evidence.data[$0...].starts(with: [0x43, 1, 2, 3]) })
        for number in 0..<500 {
            var changed = evidence.data
            let place = Int.random(in: 0..<changed.count, using: &random)
            if (receipt - 8...receipt + 3).contains(place) { continue }
            changed[place] ^= 1 << UInt8.random(in: 0..<8, using: &random)
            let isFine = await isAccepted(DeviceEvidence(format: evidence.format, data: changed), of: statement)
            #expect(!isFine, "number \(number), place \(place)")
        }
        #expect(await isAccepted(evidence, of: statement))
    }

    @Test func counterOfAssertionsStrictlyRises() async throws {
        let (device, first) = (SyntheticDevice(authority), try statement())
        #expect(try await isAccepted(device.evidence(for: first.bytes), of: first))
        for (counter, isGreater) in [(1, true), (1, false), (5, true), (4, false), (0, false), (6, true)]
            as [(UInt32, Bool)]
        {
            device.assert(from: counter)
            let next = try statement("c-\(counter)")
            #expect(try await isAccepted(device.evidence(for: next.bytes), of: next) == isGreater, "\(counter)")
        }
    }

    @Test func oneOfManyEqualCountersIsAccepted() async throws {
        let (device, first) = (SyntheticDevice(authority), try statement())
        #expect(try await isAccepted(device.evidence(for: first.bytes), of: first))
        device.assert(from: 3)
        let evidence = try device.evidence(for: first.bytes)
        let accepted = await withTaskGroup(of: Bool.self) { group in
            for _ in 0..<50 { group.addTask { await isAccepted(evidence, of: first) } }
            return await group.reduce(0) { $0 + ($1 ? 1 : 0) }
        }
        #expect(accepted == 1)
    }

    @Test func assertionOfAnotherIsRefused() async throws {
        let (device, first) = (SyntheticDevice(authority), try statement())
        device.assert(from: 1)
        #expect(try await !isAccepted(device.evidence(for: first.bytes), of: first), "a device that is not known")
        let known = SyntheticDevice(authority)
        #expect(try await isAccepted(known.evidence(for: first.bytes), of: first))
        let forged = DeviceEvidence(
            format: DeviceEvidence.appAttestAssertion,
            data: known.keyID + (try device.evidence(for: first.bytes)).data.dropFirst(32))
        #expect(await !isAccepted(forged, of: first), "another key")
        known.assert(from: 2)
        let ben = try statement(account: "ben")
        #expect(try await !isAccepted(known.evidence(for: ben.bytes), of: ben), "another account")
    }

    @Test func enrolmentOverSocketsNeedsTheEvidence() async throws {
        let time = UnixTime(seconds: Int64(Date.now.timeIntervalSince1970))
        let authority = try SyntheticAuthority(at: time)
        let attestation = try AppAttestation(appID: "TEAM.com.example.shop", roots: [authority.rootPEM])
        try await withEnrolmentServer {
            $0.attestation = attestation
        } _: { server in
            let (_, bare) = try server.device(of: "anna", keys: DeviceKeys(in: StoredSecrets()))
            let refused = await #expect(throws: NetworkError.self) { try await bare.enrol() }
            #expect(refused?.status == .forbidden)
            let device = SyntheticDevice(authority)
            let (network, enrolment) = try server.device(
                of: "anna", keys: DeviceKeys(in: StoredSecrets()), attestor: device)
            try await enrolment.enrol()
            device.assert(from: 1)
            let id = try await enrolment.rotate()
            #expect(try await network.call(SignedEcho()).text?.hasPrefix("\(id) anna ") == true)
            device.assert(from: 1)
            await #expect(throws: NetworkError.self) { try await enrolment.rotate() }
        }
    }
}

/// The reader of CBOR.
struct CBORValueTests {
    @Test func valuesOfEachKindAreRead() {
        let bytes = CBORText.map([
            ("a", CBORText.array([CBORText.bytes([1]), CBORText.bytes([])])), ("b", [0x1A, 0, 1, 0, 0]), ("c", [0x20]),
            ("d", [0xF5]),
        ])
        #expect(
            CBORValue(bytes)
                == .map([
                    "a": .array([.bytes([1]), .bytes([])]), "b": .unsigned(65_536), "c": .negative(0), "d": .simple(21),
                ]))
    }

    @Test(
        arguments: [
            [], [0x01, 0x01], [0x18], [0x41], [0x5F, 0x41, 0, 0xFF], [0x5B, 255, 255, 255, 255, 255, 255, 255, 255],
            [0x9B, 255, 255, 255, 255, 255, 255, 255, 255], [0xA1, 0x01, 0x01], [0xC0, 0x01],
            [0xFB, 0, 0, 0, 0, 0, 0, 0, 0],
            [0x61, 0xFF], [0xA2, 0x61, 0x61, 1, 0x61, 0x61, 1], [0x1C], [0xF8, 0x20],
        ] as [[UInt8]])
    func malformedBytesAreRefused(bytes: [UInt8]) { #expect(CBORValue(bytes) == nil) }

    @Test func depthIsBounded() {
        #expect(CBORValue([UInt8](repeating: 0x81, count: 8) + [0]) != nil)
        // An empty array or map is a level, too.
        #expect(CBORValue([UInt8](repeating: 0x81, count: 8) + [0x80]) == nil)
        #expect(CBORValue([UInt8](repeating: 0x81, count: 8) + [0xA0]) == nil)
        #expect(CBORValue([UInt8](repeating: 0x81, count: 100_000) + [0]) == nil)
    }
}
