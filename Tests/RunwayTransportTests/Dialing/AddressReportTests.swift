import Runway
import RunwayTestServer
import Testing

@testable import RunwayTransport

/// What the loss of a connection says of the address that it led to.
@Suite(.timeLimit(.minutes(10)))
struct AddressReportTests {
    /// Whether a call of POST that ends like this has its address left alone; it is the second one on its connection, or the first.
    private func isBanned(after ending: ScriptedResponse, onReusedConnection isReused: Bool) async throws -> Bool {
        // A ban that outlasts the test on any machine.
        let test = try TestDialer(listed: ["127.0.0.2"], limits: HostSelectionLimits(firstBan: .seconds(600)))
        var isBanned = false
        try await withBadNetwork(1, test.certificate) { network, origin in
            origin.on("/a", respond: ending)
            let transport = NIOTransport(
                configuration: TransportConfiguration(connectTimeout: .seconds(300)), dialer: test.dialer)
            let layer = NetworkLayer(to: "https://\(dialHost):\(network.port)", over: transport)
            if isReused { _ = try await layer.call(Fetch<GET>("first")) }
            _ = try await layer.failure(of: Fetch<POST>("a"))
            #expect(origin.connectionCount == 1)
            let address = try #require(IPAddress("127.0.0.2"))
            isBanned = test.dialer.selector.ban(of: address, of: dialHost) != nil
        }
        return isBanned
    }

    @Test(arguments: [ScriptedResponse.closing, .resetting])
    func closedIdleConnectionIsNoServerFailure(ending: ScriptedResponse) async throws {
        #expect(try await !isBanned(after: ending, onReusedConnection: true))
    }

    @Test func connectionLostWithRequestsCountsAgainstItsAddress() async throws {
        #expect(try await isBanned(after: .closing, onReusedConnection: false))
        let torn = ScriptedResponse.text("a text").cut(after: .bodyBytes(1))
        #expect(try await isBanned(after: torn, onReusedConnection: true))
    }

    /// As above over HTTP/2, where the server closes its connection at the second request.
    @Test(arguments: [true, false])
    func serverThatClosesHTTP2IsNotPenalised(saysSo: Bool) async throws {
        try await RawHTTP2Server.run { connection, frame in
            guard let frame else { return connection.write(.settings(), .settingsAck) }
            guard frame.is(.headers) else { return }
            if frame.stream == 1 {
                connection.write(.headers(1), .data(1, "first"))
            } else if saysSo {
                // The head of the response comes, so that it is no race: what was announced is none either.
                connection.write(.headers(3), .goAway(last: 3))
                connection.close()
            } else {
                connection.close()
            }
        } _: { server in
            let configuration = server.configuration()
            let dialer = try Dialer(configuration)
            let layer = NetworkLayer(
                to: server.baseURL, over: NIOTransport(configuration: configuration, dialer: dialer))
            _ = try await layer.call(Fetch<GET>("first"))
            _ = try await layer.failure(of: Fetch<POST>("a"))
            let address = try #require(IPAddress("127.0.0.1"))
            #expect(dialer.selector.ban(of: address, of: "localhost") == nil)
        }
    }
}
