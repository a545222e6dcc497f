import NIOCore
import NIOPosix
import Runway
import RunwayTestServer
import RunwayTesting
import Testing

@testable import RunwayTransport

/// The host of these tests; its name is one that no resolver knows.
let dialHost = "dial.test"

/// A dialer of tests: an authority of its own, a scripted resolver, and addresses from a list.
struct TestDialer {
    let certificate: TestCertificate
    let dialer: Dialer
    let book: HostBook?

    /// Makes a dialer that trusts one certificate.
    ///
    /// - Parameters:
    ///   - listed: The addresses of the host's list; empty is no list.
    ///   - resolved: What every name is looked up as; `nil` is a resolver that knows nothing.
    ///   - resolvedNames: What these names are looked up as.
    ///   - clock: What bans are counted on.
    ///   - tls: What it needs of TLS; `nil` is what the configuration says.
    init(
        listed: [String] = [], resolved: [String]? = nil, resolvedNames: [String: [String]] = [:],
        certificate: TestCertificate? = nil, proxies: ProxySettings = .none,
        limits: HostSelectionLimits = HostSelectionLimits(), clock: LayerClock = .system, tls: TLSPreparation? = nil
    ) throws {
        let certificate = try certificate ?? TestCertificate(for: dialHost)
        self.certificate = certificate
        book =
            listed.isEmpty
            ? nil
            : HostBook(
                bundled: try HostList([dialHost: listed]), selector: HostSelector(limits: limits, clock: clock))
        var configuration = TransportConfiguration(
            trust: .certificates(pem: [certificate.certificatePEM]), connectTimeout: .seconds(300))
        configuration.hosts = book
        configuration.proxies = proxies
        dialer = try Dialer(
            configuration,
            resolver: HostResolver { host in
                guard let resolved = resolvedNames[host] ?? resolved else {
                    throw LookupError(host: host, reason: "nobody knows it")
                }
                return try resolved.map { try SocketAddress(ipAddress: $0, port: 0) }
            }, tls: tls)
    }

    /// Dials the host.
    func dial(port: Int, scheme: String = "https", within limit: TimeAmount = .minutes(5)) async throws
        -> DialedConnection
    {
        try await start(port: port, scheme: scheme, within: limit).connection.get()
    }

    func start(port: Int, scheme: String = "https", within limit: TimeAmount = .minutes(5)) -> Dial {
        dialer.start(
            Origin(scheme: scheme, host: dialHost, port: port), on: MultiThreadedEventLoopGroup.singleton.next(),
            deadline: .now() + limit)
    }

    /// The error of a dial, as a caller receives it.
    func failure(
        port: Int, scheme: String = "https", within limit: TimeAmount = .minutes(5),
        sourceLocation: SourceLocation = #_sourceLocation
    ) async throws -> NetworkError {
        let error = try await #require(throws: DialError.self, sourceLocation: sourceLocation) {
            try await dial(port: port, scheme: scheme, within: limit)
        }
        return NetworkError(transport: error, from: dialHost)
    }
}

extension DialedConnection {
    var ip: String { address.ipAddress ?? "" }

    /// Dials are what is looked at; nobody needs the connection.
    func close() async throws { try await channel.close() }
}

/// Runs `body` with addresses that lead to an origin with this certificate.
func withBadNetwork(
    _ count: Int, _ certificate: TestCertificate,
    _ body: (BadNetwork, ScriptedOrigin) async throws -> Void
) async throws {
    try await withScriptedOrigin(tls: certificate.tls) { origin in
        origin.otherwise(respond: .json("{}"))
        let network = try await BadNetwork(to: origin.port, addresses: count)
        do {
            try await body(network, origin)
        } catch {
            await network.shutDown()
            throw error
        }
        await network.shutDown()
    }
}

/// Runs a test of measured times until the machine did not stall meanwhile, at most 20 times.
///
/// What is tested chooses by the times that it measures. On a machine that stands still for a second a near address takes longer than
/// a far one, and to choose the other is right. Such a run proves nothing, and is repeated from the start.
///
/// - Parameter body: Returns whether the run was undisturbed, by what was measured. It checks what holds on every machine in each run, and
///   the rest in an undisturbed one.
func untilUndisturbed(
    sourceLocation: SourceLocation = #_sourceLocation, _ body: () async throws -> Bool
) async throws {
    for _ in 0..<20 { if try await body() { return } }
    Issue.record("The times that were measured never were those of the paths.", sourceLocation: sourceLocation)
}

extension TestDialer {
    /// Whether an address of the host was measured as the nearest, by a factor, and works.
    func knowsAsNearest(_ address: String, by factor: Double = 1.5, of addresses: [String]) throws -> Bool {
        try dialer.selector.knowsAsNearest(address, by: factor, of: addresses)
    }
}

extension HostSelector {
    /// Whether an address of the host of these tests was measured as the nearest, by a factor, and works.
    func knowsAsNearest(_ address: String, by factor: Double = 1.5, of addresses: [String]) throws -> Bool {
        let own = try #require(IPAddress(address))
        guard let nearest = latency(of: own, of: dialHost), ban(of: own, of: dialHost) == nil else { return false }
        return addresses.filter { $0 != address }.compactMap { IPAddress($0) }.allSatisfy { other in
            latency(of: other, of: dialHost).map { nearest * factor < $0 } ?? true
        }
    }
}
