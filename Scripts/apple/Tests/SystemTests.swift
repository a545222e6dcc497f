import AppleDispatch
import AppleFoundation
import CoreTelephony
import Darwin
import Network
import PhoneStatus
import RunwayTesting
import Security
import Synchronization
import Testing
import WatchStatus

@testable import Runway

/// What the layer asks of the system beside sessions.
@Suite(.serialized, .timeLimit(.minutes(5)))
struct SystemTests {
    /// What a source of the status makes of the system's first report.
    private func report<Source>(_ path: NWPath, to source: () -> Source) -> Source {
        NWPathMonitor.fakePath.withLock { $0 = path }
        let source = source()
        NWPathMonitor.waitForReports()
        return source
    }

    @Test func unsatisfiedPathIsNoNetwork() {
        #expect(report(NWPath(fake: .unsatisfied), to: Runway.PathNetworkStatus.init).current == .none)
    }

    /// There every path of most apps is unsatisfied.
    @Test func unsatisfiedPathOnAWatchIsUnknown() {
        #expect(report(NWPath(fake: .unsatisfied), to: WatchStatus.PathNetworkStatus.init).current == .unknown)
        let path = NWPath(fake: .satisfied, [NWInterface(fake: .wifi, "en0")])
        #expect(report(path, to: WatchStatus.PathNetworkStatus.init).current.link == .wifi)
    }

    @Test func callOverAWatchsUnsatisfiedPathIsSent() async throws {
        let watch = report(NWPath(fake: .unsatisfied), to: WatchStatus.PathNetworkStatus.init).current
        let link = try #require(Runway.NetworkStatus.Link(rawValue: watch.link.rawValue))
        let network = layer(status: Runway.NetworkStatus(link)) { exchange in
            await exchange.respond()
            await exchange.complete()
        }
        _ = try await network.call(Get())
        // What the other systems make of that path.
        let error = try await layer(status: .none) { await $0.complete() }.failure(of: Get())
        #expect(error.kind == .noNetwork && error.sending == .notSent)
    }

    @Test func layerOverAnySessionKnowsTheNetwork() throws {
        let path = NWPath(fake: .satisfied, [NWInterface(fake: .wifi, "en0")])
        for transport in [URLSessionTransport(configuration: .init()), try URLSessionTransport(pins: [])] {
            let network = report(path) { NetworkLayer(transport: transport) }
            #expect(network.status.link == .wifi)
        }
    }

    @Test func pathNamesItsLinkAndItsNetwork() throws {
        let gateway = NWEndpoint.hostPort(host: .ipv4(IPv4Address()), port: try #require(NWEndpoint.Port(rawValue: 0)))
        let wifi = NWPath(fake: .satisfied, [NWInterface(fake: .wifi, "en0")], gateways: [gateway])
        #expect(
            report(wifi, to: Runway.PathNetworkStatus.init).current
                == Runway.NetworkStatus(.wifi, identity: "10.0.0.1 on en0"))
        let cellular = NWPath(fake: .satisfied, [NWInterface(fake: .cellular, "pdp_ip0")])
        #expect(
            report(cellular, to: Runway.PathNetworkStatus.init).current
                == Runway.NetworkStatus(.cellular, isExpensive: true, identity: "pdp_ip0"))
    }

    @Test(arguments: [false, true])
    func pathInLowDataModeIsConstrained(_ isConstrained: Bool) {
        let path = NWPath(fake: .satisfied, [NWInterface(fake: .wifi, "en0")], isConstrained: isConstrained)
        let status = report(path, to: Runway.PathNetworkStatus.init).current
        #expect(status.isConstrained == isConstrained && !status.isExpensive && status.link == .wifi)
    }

    /// A VPN on demand, for instance, is there when a connection asks for it.
    @Test func pathThatRequiresAConnectionIsReachable() {
        let path = NWPath(fake: .requiresConnection, [NWInterface(fake: .cellular, "pdp_ip0")])
        #expect(
            report(path, to: Runway.PathNetworkStatus.init).current
                == Runway.NetworkStatus(.cellular, isExpensive: true, identity: "pdp_ip0"))
    }

    @Test(arguments: [
        ("0", ["0": CTRadioAccessTechnologyNRNSA, "1": CTRadioAccessTechnologyEdge], 5),
        ("1", ["0": CTRadioAccessTechnologyNRNSA, "1": CTRadioAccessTechnologyEdge], 2),
        (nil, ["0": CTRadioAccessTechnologyHSDPA], 3), (nil, ["0": "a newer one"], nil), ("0", [:], nil),
    ])
    func phoneTellsTheGeneration(_ service: String?, _ technologies: [String: String], _ generation: Int?) {
        CTTelephonyNetworkInfo.fake.withLock { $0 = (service, technologies) }
        let path = NWPath(fake: .satisfied, [NWInterface(fake: .cellular, "pdp_ip0")])
        let status = report(path, to: PhoneStatus.PathNetworkStatus.init)
        #expect(status.current.generation == generation)
    }

    @Test func fileAndItsFolderAreFlushedBeyondTheDrivesOwnMemory() throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("runway-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let path = folder.appendingPathComponent("token").path
        try PrivateFile.replace(path, with: [1])
        #expect(FakeDrive.hasFlushed(path) && FakeDrive.hasFlushed(folder.path))
    }

    @Test func changeOfTechnologyIsReported() async throws {
        CTTelephonyNetworkInfo.fake.withLock { $0 = ("0", ["0": CTRadioAccessTechnologyLTE]) }
        let path = NWPath(fake: .satisfied, [NWInterface(fake: .cellular, "pdp_ip0")])
        let status = report(path, to: PhoneStatus.PathNetworkStatus.init)
        #expect(status.current.generation == 4)
        CTTelephonyNetworkInfo.fake.withLock { $0 = ("0", ["0": CTRadioAccessTechnologyNR]) }
        NotificationCenter.default.post(name: .CTServiceRadioAccessTechnologyDidChange, object: nil)
        try await waitUntil("the generation is another") { status.current.generation == 5 }
    }

    @Test func wifiHasNoGeneration() {
        let path = NWPath(fake: .satisfied, [NWInterface(fake: .wifi, "en0")])
        #expect(report(path, to: PhoneStatus.PathNetworkStatus.init).current.generation == nil)
    }

    @Test func keychainStoresReplacesAndDeletesTokensOfTheirKeys() throws {
        let store = KeychainTokenStore()
        let keys = ["ann", "bob"].map { TokenKey(network: "a", service: "b", environment: "c", account: $0) }
        #expect(try store.load(keys[0]) == nil)
        let tokens = ["1", "2", "3"].map { AccessToken($0, account: "ann", refreshToken: "r\($0)") }
        try store.save(tokens[0], at: keys[0])
        try store.save(tokens[1], at: keys[1])
        try store.save(tokens[2], at: keys[0])
        #expect(try store.load(keys[0]) == tokens[2] && store.load(keys[1]) == tokens[1])
        #expect(try KeychainTokenStore(accessGroup: "group").load(keys[0]) == nil)
        let accessible = kSecAttrAccessibleAfterFirstUnlockThisDeviceOnly as String
        #expect(FakeKeychain.accessibilities == [accessible, accessible])
        try store.remove(keys[0])
        try store.remove(keys[0])
        #expect(try store.load(keys[0]) == nil && store.load(keys[1]) == tokens[1])
        FakeKeychain.damage()
        #expect(throws: NetworkError.self) { try store.load(keys[1]) }
        try store.remove(keys[1])
        #expect(FakeKeychain.accessibilities.isEmpty)
    }

    @Test func tokenThatAnotherProcessJustAddedIsReplaced() throws {
        let (store, added) = (KeychainTokenStore(), Seen<Bool>())
        let key = TokenKey(network: "a", service: "b", environment: "c", account: "ann")
        let tokens = ["theirs", "ours"].map { AccessToken($0, account: "ann", refreshToken: "r") }
        FakeKeychain.interruptAddition { added.note((try? store.save(tokens[0], at: key)) != nil) }
        defer { try? store.remove(key) }
        try store.save(tokens[1], at: key)
        #expect(added.all == [true])
        #expect(try store.load(key) == tokens[1])
    }

    @Test func keychainWithoutEntitlementSaysWhatToDo() async throws {
        FakeKeychain.refuse(errSecMissingEntitlement)
        defer { FakeKeychain.refuse(nil) }
        let key = TokenKey(network: "a", service: "b", environment: "c", account: "d")
        let error = #expect(throws: NetworkError.self) { try KeychainTokenStore().load(key) }
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
