import Crypto
import Foundation
import Testing
import X509

@testable import Runway

/// The decision about a verified chain, chain by chain, as every transport uses it.
struct HostPinsTests {
    private let root: TestAuthority
    private let server: TestAuthority.Server
    private let backup: PublicKeyPin
    private let stranger: PublicKeyPin
    private let now = Date()

    init() throws {
        root = try TestAuthority()
        server = try root.intermediate().server()
        backup = try PublicKeyPin(certificatePEM: TestAuthority("backup").pem)
        stranger = try PublicKeyPin(certificatePEM: TestAuthority("stranger").pem)
    }

    /// The keys of a server's chain, with its root, from their DER.
    private func keys(_ server: TestAuthority.Server, below root: TestAuthority) throws -> [PublicKeyPin] {
        try (server.chainDER + [root.der]).map { try #require(PublicKeyPin(certificateDER: $0)) }
    }

    private func set(
        _ pins: PublicKeyPin..., host: String = "localhost", subdomains: Bool = false, expiry: Date? = nil,
        isEnforced: Bool = true
    ) throws -> PublicKeyPins {
        try PublicKeyPins(
            host: host, includesSubdomains: subdomains, pins: pins.map(\.description), expiry: expiry,
            isEnforced: isEnforced)
    }

    private func outcome(
        _ sets: [PublicKeyPins], _ chain: [PublicKeyPin], of host: String = "localhost"
    ) -> PinReport.Outcome? {
        HostPins(host, in: sets, at: now)?.report(on: chain).outcome
    }

    @Test(arguments: 0...2) func anyKeyOfTheChainSatisfies(index: Int) throws {
        let chain = try keys(server, below: root)
        let pins = try #require(HostPins("localhost", in: [set(backup, chain[index])], at: now))
        #expect(pins.report(on: chain) == PinReport(host: "localhost", outcome: .matched, chain: chain))
    }

    @Test func chainWithoutAPinnedKeyIsRefused() throws {
        let chain = try keys(server, below: root)
        #expect(try outcome([set(backup, stranger)], chain) == .refused)
        #expect(try outcome([set(backup, stranger)], []) == .refused)
    }

    /// What a device that trusts an interceptor verifies.
    @Test func chainOfAnInterceptorIsRefused() throws {
        let pins = try set(keys(server, below: root)[0], keys(server, below: root)[2])
        let interceptor = try TestAuthority("mitmproxy")
        let chain = try keys(interceptor.server(), below: interceptor)
        #expect(outcome([pins], chain) == .refused)
        let reporting = try set(backup, stranger, isEnforced: false)
        #expect(outcome([reporting], chain) == .wouldHaveRefused)
        // The copy of a name is not a copy of a key.
        let namesake = try TestAuthority("root")
        #expect(try outcome([pins], keys(namesake.intermediate().server(), below: namesake)) == .refused)
    }

    @Test func wrongKeyUnderTheRightRootIsRefused() throws {
        let pins = try set(keys(server, below: root)[0], backup)
        #expect(try outcome([pins], keys(root.intermediate().server(), below: root)) == .refused)
        // With the same key, a renewed certificate is not refused.
        #expect(try outcome([pins], keys(root.server(key: server.key), below: root)) == .matched)
    }

    @Test func backupKeyTakesOver() throws {
        let key = P256.Signing.PrivateKey()
        let renewed = try keys(root.server(key: key), below: root)
        let pins = try set(keys(server, below: root)[0], renewed[0])
        #expect(outcome([pins], renewed) == .matched)
    }

    @Test func eachSetHasToBeSatisfied() throws {
        let chain = try keys(server, below: root)
        #expect(try outcome([set(chain[2], backup), set(backup, stranger)], chain) == .refused)
        #expect(try outcome([set(chain[2], backup), set(chain[0], stranger)], chain) == .matched)
        let reporting = try set(backup, stranger, isEnforced: false)
        #expect(try outcome([set(chain[2], backup), reporting], chain) == .wouldHaveRefused)
        #expect(try outcome([set(backup, stranger), reporting], chain) == .refused)
    }

    @Test func expiredSetsAreIgnored() throws {
        let chain = try keys(server, below: root)
        let expired = try set(backup, stranger, expiry: now)
        let pins = try #require(HostPins("localhost", in: [expired], at: now))
        #expect(pins.haveExpired)
        #expect(pins.report(on: chain) == PinReport(host: "localhost", outcome: .expired, chain: []))
        #expect(HostPins("localhost", in: [expired], at: now.addingTimeInterval(-1))?.haveExpired == false)
        #expect(try outcome([expired, set(chain[0], backup)], chain) == .matched)
        #expect(try outcome([expired, set(backup, stranger)], chain) == .refused)
    }

    @Test func hostsWithoutPinsHaveNoDecision() throws {
        let pins = try set(backup, stranger, host: "example.com", subdomains: true)
        #expect(outcome([pins], []) == nil && outcome([pins], [], of: "badexample.com") == nil)
        for host in ["example.com", "A.EXAMPLE.com."] { #expect(outcome([pins], [], of: host) == .refused) }
        let address = try set(backup, stranger, host: "::1")
        #expect(outcome([address], [], of: "[0:0::1]") == .refused)
    }
}
