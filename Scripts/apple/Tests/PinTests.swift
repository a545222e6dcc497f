import AppleFoundation
import RunwayTesting
import Security
import Testing

@testable import Runway
@testable import TransportSuites

/// A host with pins gets a request only over a chain that the system verified and that has one of its keys.
@Suite(.timeLimit(.minutes(5)))
struct PinTests {
    private let root: TestAuthority
    private let server: TestAuthority.Server
    private let backup: PublicKeyPin
    private let stranger: PublicKeyPin
    private let reports = Seen<PinReport>()
    private let decided = Seen<URLSession.AuthChallengeDisposition>()

    init() throws {
        root = try TestAuthority()
        server = try root.intermediate().server()
        backup = try PublicKeyPin(certificatePEM: TestAuthority("backup").pem)
        stranger = try PublicKeyPin(certificatePEM: TestAuthority("stranger").pem)
    }

    /// A host that shows a chain, and whether the system finds a way from it to a trusted root.
    ///
    /// - Parameter isSentBefore: Whether the body was sent over an earlier connection of the same task.
    private func network(
        _ pins: PublicKeyPin..., expiry: Date? = nil, isEnforced: Bool = true,
        showing shown: [[UInt8]]? = nil, verified: [[UInt8]]?, isProxy: Bool = false, isSentBefore: Bool = false
    ) throws -> NetworkLayer {
        let (decided, reports) = (decided, reports)
        let name = "\(UUID().uuidString.lowercased()).test"
        let chain = try shown ?? server.chainDER
        FakeNetwork.serve(name) { exchange in
            if isSentBefore { _ = await exchange.body() }
            let space = URLProtectionSpace(
                fakeHost: name, method: NSURLAuthenticationMethodServerTrust, proxyType: isProxy ? "https" : nil,
                trust: SecTrust(fakeOf: chain, verified: verified))
            let disposition = await exchange.challenge(space)
            decided.note(disposition)
            switch disposition {
            case .cancelAuthenticationChallenge: return await exchange.complete(URLError(.cancelled))
            case .performDefaultHandling where verified == nil:
                return await exchange.complete(URLError(.serverCertificateUntrusted))
            default: break
            }
            await exchange.respond()
            await exchange.send(Array("served".utf8))
            await exchange.complete()
        }
        let set = try PublicKeyPins(host: name, pins: pins.map(\.description), expiry: expiry, isEnforced: isEnforced)
        let network = NetworkLayer(
            transport: try URLSessionTransport(pins: [set]) { reports.note($0) },
            limits: LayerLimits(admission: .none, retrying: .none), status: SettableNetworkStatus())
        network.configure(FakeService.self) { $0.baseURLs = [.release: "https://\(name)"] }
        return network
    }

    private func verified() throws -> [[UInt8]] { try server.chainDER + [root.der] }

    private func expectRefusal(_ network: NetworkLayer, saying reason: String) async throws {
        let error = try await network.failure(of: Get())
        #expect(error.kind == .notTrusted && error.sending == .notSent && error.detail.contains(reason), "\(error)")
        // The call ends first.
        try await waitUntil("the decision") { [decided] in !decided.all.isEmpty }
        #expect(decided.all == [.cancelAuthenticationChallenge])
    }

    @Test(arguments: 0...2) func anyKeyOfTheVerifiedChainSatisfies(index: Int) async throws {
        let keys = try verified().compactMap { PublicKeyPin(certificateDER: $0) }
        let network = try network(backup, keys[index], verified: verified())
        #expect(try await network.call(Get()).text == "served")
        #expect(decided.all == [.useCredential])
        #expect(reports.all.map(\.outcome) == [.matched] && reports.all.first?.chain == keys)
    }

    @Test func chainWithoutAPinnedKeyIsRefused() async throws {
        try await expectRefusal(network(backup, stranger, verified: verified()), saying: HostPins.refusal)
        #expect(reports.all.map(\.outcome) == [.refused])
    }

    /// The session sends a request again over another connection.
    @Test(arguments: [false, true])
    func refusalAfterBytesOfTheBodyIsNotUnsent(_ isSentBefore: Bool) async throws {
        let network = try network(backup, stranger, verified: verified(), isSentBefore: isSentBefore)
        let error = try await network.failure(of: Post(content: .bytes([1, 2, 3])))
        #expect(error.kind == .notTrusted && error.sending == (isSentBefore ? .unknown : .notSent), "\(error)")
        #expect(error.underlying is ServerRefused)
    }

    /// What a server shows beside its chain proves nothing.
    @Test func unverifiedCertificatesAreIgnored() async throws {
        let decoy = try TestAuthority("decoy")
        let pin = try PublicKeyPin(certificatePEM: decoy.pem)
        let network = try network(pin, backup, showing: server.chainDER + [decoy.der], verified: verified())
        try await expectRefusal(network, saying: HostPins.refusal)
    }

    @Test func pinMakesNoUntrustedChainTrusted() async throws {
        let pin = try PublicKeyPin(certificatePEM: server.leafPEM)
        try await expectRefusal(network(pin, backup, verified: nil), saying: "the system does not trust")
        #expect(reports.all.isEmpty)
    }

    @Test func reportOnlyPinsReportAndLetTheCallGoOn() async throws {
        let network = try network(backup, stranger, isEnforced: false, verified: verified())
        #expect(try await network.call(Get()).text == "served")
        #expect(reports.all.map(\.outcome) == [.wouldHaveRefused])
    }

    @Test func expiredPinsLeaveTheDecisionToTheSystem() async throws {
        let past = Date(timeIntervalSince1970: 0)
        #expect(try await network(backup, stranger, expiry: past, verified: verified()).call(Get()).text == "served")
        #expect(decided.all == [.performDefaultHandling] && reports.all.map(\.outcome) == [.expired])
        let error = try await network(backup, stranger, expiry: past, verified: nil).failure(of: Get())
        #expect(error.kind == .notTrusted)
    }

    @Test func trustOfAProxyIsLeftToTheSystem() async throws {
        let network = try network(backup, stranger, verified: verified(), isProxy: true)
        #expect(try await network.call(Get()).text == "served")
        #expect(decided.all == [.performDefaultHandling] && reports.all.isEmpty)
    }
}
