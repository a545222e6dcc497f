import NIOCore
import Runway
import RunwayTesting
import Testing

@testable import RunwayTransport

/// Calls servers on ports of this machine as if they were any host, over a transport that trusts what a test says.
struct TrustingClient {
    private let transport: any Transport

    /// A client over ``NIOTransport``.
    ///
    /// - Parameter proxy: The port of a proxy that speaks CONNECT; `nil` for none.
    init(_ trust: TrustPolicy, proxy: Int? = nil, clock: LayerClock = .system) throws {
        var configuration = TransportConfiguration(connectTimeout: .seconds(300))
        configuration.trustPolicy = trust
        if let proxy { configuration.proxies.https = ProxyServer(.http, host: "127.0.0.1", port: proxy) }
        let resolver = HostResolver { _ in [try SocketAddress(ipAddress: "127.0.0.1", port: 0)] }
        transport = NIOTransport(
            configuration: configuration, dialer: try Dialer(configuration, resolver: resolver, clock: clock))
    }

    /// A client over AsyncHTTPClient, which asks the system for addresses.
    init(overAsyncHTTPClient trust: TrustPolicy) throws {
        var configuration = TransportConfiguration(connectTimeout: .seconds(300))
        configuration.trustPolicy = trust
        transport = try AsyncHTTPClientTransport(configuration: configuration)
    }

    /// Sends a request, and returns the text of the response.
    func ask(_ host: String = "localhost", port: Int) async throws -> String {
        let network = NetworkLayer(to: "https://\(host):\(port)", over: transport)
        let response = try await network.call(Fetch<GET>("iso_4217.json", headers: ["Authorization": "secret"]))
        return response.text ?? ""
    }
}

/// Verifies that a server is refused for its certificates, and received no byte of a request.
///
/// - Returns: The reason, as the caller receives it.
@discardableResult
func expectRefusal(
    of running: TLSServer, host: String = "localhost", by client: TrustingClient,
    sourceLocation: SourceLocation = #_sourceLocation
) async throws -> String {
    let error = try await #require(throws: NetworkError.self, sourceLocation: sourceLocation) {
        try await client.ask(host, port: running.port)
    }
    #expect(error.kind == .notTrusted && error.sending == .notSent, "\(error)", sourceLocation: sourceLocation)
    try await waitUntil(
        "the connections to end", fileID: sourceLocation.fileID, line: sourceLocation.line
    ) { running.isAbandoned }
    #expect(running.receivedByteCount == 0, sourceLocation: sourceLocation)
    return error.detail
}
