import Foundation
import Runway
import RunwayTestServer
import RunwayTransport

// The examples in the doc comments about hosts and the wire, line by line. They are compiled and not run.

func ownWire() throws -> NetworkLayer {
    let network = NetworkLayer(transport: try NIOTransport())
    return network
}

func platformWire() -> NetworkLayer {
    let network = NetworkLayer(transport: URLSessionTransport())
    return network
}

func tunedWire() throws -> NetworkLayer {
    var configuration = TransportConfiguration(connectTimeout: .seconds(5), maximumConnectionsPerOrigin: 4)
    configuration.trustPolicy.requiresTLS13 = true
    configuration.wire.pingInterval = .seconds(30)
    let network = NetworkLayer(transport: try NIOTransport(configuration: configuration))
    return network
}

func boundedWire() throws -> NIOTransport {
    var configuration = TransportConfiguration()
    configuration.wire.firstByteTimeout = .seconds(20)
    configuration.wire.maximumHeadByteCount = 16 << 10
    let transport = try NIOTransport(configuration: configuration)
    return transport
}

func warm(_ network: NetworkLayer) {
    network.warmUp(Listings.self)  // at launch, before the first screen asks
}

func wireThroughProxies() throws -> NIOTransport {
    var configuration = TransportConfiguration()
    configuration.proxies = ProxySettings(environment: ProcessInfo.processInfo.environment)
    return try NIOTransport(configuration: configuration)
}

func bundleHosts() throws -> HostList {
    let bundled = try HostList(["api.example.com": ["203.0.113.7", "2001:db8::7"]])
    return bundled
}

func keepHosts(in path: String, over network: NetworkLayer) async throws -> HostBook {
    let hosts = HostBook(bundled: try HostList(["api.example.com": ["203.0.113.7"]]), file: path)
    // at every launch; sends a request once a day
    try await hosts.refreshIfDue(over: network, from: Listings.self)
    return hosts
}

func probe() async throws {
    let report = try await HostProbe().run("api.example.com")
    for entry in report.entries { print(entry.address, entry.tls ?? .zero, entry.failure ?? "") }
}

func callOverABadNetwork(to origin: ScriptedOrigin) async throws {
    let network = try await BadNetwork(to: origin.port, addresses: 4)
    try await network.paths[0].set(.silent)
    try await network.paths[1].set(.passing(PathConditions(roundTrip: .milliseconds(80))))
    // … let the app call network.port at 127.0.0.2, 127.0.0.3, …
    await network.shutDown()
}

#if os(Linux)
    func watchTheNetwork(over transport: some Transport) throws -> NetworkLayer {
        let network = NetworkLayer(transport: transport, status: try NetlinkNetworkStatus())
        return network
    }
#endif

func rememberMeasurements(
    of list: HostList, in path: String, and otherPath: String, status: any NetworkStatusSource
) -> HostBook {
    let hosts = HostBook(bundled: list, file: path, measurements: otherPath, status: status)
    return hosts
}

func measureAtLaunch(_ transport: NIOTransport) {
    Task { await transport.measureHosts() }
}
