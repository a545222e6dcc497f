import AppleDispatch
import AppleFoundation
import Network
import RunwayTesting
import Security
import Synchronization
import Testing

@testable import Runway

/// What the layer asks of the system beside sessions.
@Suite(.serialized, .timeLimit(.minutes(5)))
struct SystemTests {
    /// The status that the system's first report brings.
    private func status(_ path: NWPath) async throws -> NetworkStatus {
        NWPathMonitor.fakePath.withLock { $0 = path }
        defer { NWPathMonitor.fakePath.withLock { $0 = NWPath(fake: .satisfied, [NWInterface(fake: .wifi, "en0")]) } }
        let status = PathNetworkStatus()
        let reported = ScriptedGate()
        let observation = status.observe { reported.open() }
        if status.current == .unknown { try await reported.pass() }
        withExtendedLifetime(observation) {}
        return status.current
    }

    @Test func unsatisfiedPathIsNoNetwork() async throws {
        #expect(try await status(NWPath(fake: .unsatisfied)) == .none)
    }

    @Test func pathNamesItsLinkAndItsNetwork() async throws {
        let gateway = NWEndpoint.hostPort(host: .ipv4(IPv4Address()), port: NWEndpoint.Port(rawValue: 0)!)
        let wifi = try await status(NWPath(fake: .satisfied, [NWInterface(fake: .wifi, "en0")], gateways: [gateway]))
        #expect(wifi == NetworkStatus(.wifi, identity: "10.0.0.1 on en0"))
        let cellular = try await status(NWPath(fake: .satisfied, [NWInterface(fake: .cellular, "pdp_ip0")]))
        #expect(cellular == NetworkStatus(.cellular, isExpensive: true, identity: "pdp_ip0"))
    }

    @Test func keychainWithoutEntitlementSaysWhatToDo() async throws {
        let place = TokenPlace(network: "a", service: "b", environment: "c", account: "d")
        let error = #expect(throws: TokenStoreError.self) { try KeychainTokenStore().load(place) }
        #expect(error?.description.contains("Keychain Sharing") == true)
    }

    @Test func memoryPressureEvictsCachedResponses() async throws {
        let network = layer { exchange in
            await exchange.respond()
            await exchange.send(Array(repeating: 1, count: 1000))
            await exchange.complete()
        }
        _ = try await network.call(CachedGet())
        #expect(network.cache.byteCount > 0)
        FakeMemory.press(.critical)
        try await waitUntil("the cache is empty") { network.cache.byteCount == 0 }
    }
}

private struct CachedGet: Endpoint {
    static let service = FakeService.self
    static let cache = CachePolicy.timeToLive(.seconds(600))
    let path: EndpointPath = "a"
    func encode(to encoder: any Encoder) {}
}
