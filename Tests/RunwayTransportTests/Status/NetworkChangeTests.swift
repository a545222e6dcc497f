import RunwayTestServer
import RunwayTesting
import Testing

@testable import Runway
@testable import RunwayTransport

/// What a transport does when its layer's status says that the device came to another network, over real sockets.
@Suite(.timeLimit(.minutes(10)))
struct NetworkChangeTests {
    @Test func usedAddressesAreRemeasuredAndTheBestWarmed() async throws {
        let certificate = try TestCertificate(for: dialHost)
        try await withBadNetwork(4, certificate) { network, origin in
            let (status, known) = (SettableNetworkStatus(.wifi), SettableNetworkStatus(.wifi))
            let selector = HostSelector(status: known)
            let book = HostBook(bundled: try HostList([dialHost: network.addresses]), selector: selector)
            var configuration = TransportConfiguration(
                trust: .certificates(pem: [certificate.certificatePEM]), connectTimeout: .seconds(300))
            configuration.hosts = book
            let records = RecordCollector()
            let layer = NetworkLayer(
                transport: try NIOTransport(configuration: configuration), sinks: [records],
                limits: LayerLimits(admission: .none, retrying: .none), status: status)
            layer.configure(TestService.self) { $0.baseURLs = [.release: "https://\(dialHost):\(network.port)"] }
            func wire() async throws -> WireRecord {
                let count = records.records.count + 1
                _ = try await layer.call(Fetch<GET>("a"))
                return try #require(try await records.records(count: count).last?.attempts.last?.wire)
            }
            let addresses = network.addresses.compactMap { IPAddress($0) }
            func latencies() -> [Duration?] { addresses.map { selector.latency(of: $0, of: dialHost) } }
            #expect(try await wire().isReused == false)

            // On the other networks the fourth is by far the nearest.
            for path in network.paths.dropLast() {
                try await path.set(.passing(PathConditions(roundTrip: .milliseconds(400))))
            }
            var number = 0
            try await untilUndisturbed {
                number += 1
                let other = NetworkStatus(.cellular, identity: "\(number)")
                known.set(other)
                #expect(latencies().allSatisfy { $0 == nil })
                let total = network.paths.reduce(0) { $0 + $1.totalConnectionCount }
                status.set(other)
                // Four are the probe's, and one at least is made after it. The probe's own are over then, and so is what was used before; what
                // is left is warm.
                try await waitUntil("one warm connection") {
                    network.paths.reduce(0) { $0 + $1.totalConnectionCount } >= total + 5
                        && network.paths.reduce(0) { $0 + $1.connectionCount } == 1
                }
                // On a machine that stood still the near one was measured as far, or one not at all.
                guard !latencies().contains(nil), try selector.knowsAsNearest("127.0.0.5", of: network.addresses)
                else { return false }
                // It was dialled first, and may have lost to another one that a machine in use had ready before.
                guard network.paths.map(\.connectionCount) == [0, 0, 0, 1] else { return false }
                let warm = try await wire()
                #expect(warm.isReused == true)
                #expect(warm.address == "127.0.0.5:\(network.port)")
                return true
            }
            #expect(origin.malformedRequests.isEmpty)
        }
    }

    @Test func measurementsBelongToTheirNetwork() throws {
        let address = try #require(IPAddress("192.0.2.1"))
        let selector = HostSelector(limits: HostSelectionLimits(firstBan: .seconds(600)))
        let book = HostBook(bundled: try HostList([dialHost: ["192.0.2.1"]]), selector: selector)
        var configuration = TransportConfiguration(connectTimeout: .seconds(300))
        configuration.hosts = book
        let status = SettableNetworkStatus(.wifi)
        let layer = NetworkLayer(transport: try NIOTransport(configuration: configuration), status: status)
        book.selector.note(.dialed(roundTrip: .milliseconds(5)), of: address, of: dialHost)
        book.selector.note(.failed, of: address, of: dialHost)
        #expect(book.selector.ban(of: address, of: dialHost) != nil)

        status.set(.cellular)
        #expect(book.selector.ban(of: address, of: dialHost) == nil)
        #expect(book.selector.latency(of: address, of: dialHost) == nil)
        book.selector.note(.dialed(roundTrip: .milliseconds(80)), of: address, of: dialHost)
        status.set(.wifi)
        #expect(book.selector.latency(of: address, of: dialHost) == nil)
        status.set(.cellular)
        #expect(book.selector.latency(of: address, of: dialHost) == .milliseconds(80))
        withExtendedLifetime(layer) {}
    }

    @Test func pingDetectsAConnectionLostWithTheNetwork() async throws {
        try await RawHTTP2Server.run { connection, frame in
            // An unreachable server: it responds neither to the request nor to a PING.
            if frame == nil { connection.write(.settings()) }
        } _: { server in
            var wire = WireSettings()
            wire.pingInterval = nil
            wire.pingTimeout = .milliseconds(30)
            let transport = try NIOTransport(configuration: server.configuration(wire))
            let layer = NetworkLayer(to: server.baseURL, over: transport)
            let call = Task { try await layer.call(Fetch<POST>("a")) }
            await server.wait(for: .headers)
            // What comes after the PING, whatever it is, shows that the connection lives.
            await server.wait { $0.frames().contains { $0.is(.settings) && $0.flags & RawFrame.ack != 0 } }
            transport.networkDidChange(to: .cellular)
            let error = await #expect(throws: NetworkError.self) { try await call.value }
            #expect(error?.kind == .timedOut || error?.kind == .noNetwork)
            // A busy server may read it after the call has ended.
            await server.wait(for: .ping)
        }
    }

    @Test func lostLinkFailsHTTP1RequestsAtOnce() async throws {
        try await withScriptedOrigin { origin in
            let gate = ScriptedGate()
            origin.on("/first", respond: .text("first"))
            origin.on("/a", respond: [.text("never").held(by: gate), .text("again")])
            origin.on("/b", respond: .text("never").held(by: gate))
            let configuration = TransportConfiguration(connectTimeout: .seconds(300), idleTimeout: .seconds(300))
            let dialer = try Dialer(configuration, localAddresses: { [] })
            let transport = NIOTransport(configuration: configuration, dialer: dialer)
            let layer = NetworkLayer(to: origin.baseURL, over: transport)
            _ = try await layer.call(Fetch<GET>("first"))
            let read = Task { try await layer.call(Fetch<GET>("a")) }
            try await gate.waitForArrivals()
            transport.networkDidChange(to: .cellular)
            #expect(try await read.value.text == "again")

            let change = Task { try await layer.call(Fetch<POST>("b")) }
            try await gate.waitForArrivals(count: 2)
            transport.networkDidChange(to: .wifi)
            let error = try await #require(throws: NetworkError.self) { try await change.value }
            #expect(error.kind == .noNetwork && error.sending == .unknown)
            #expect(error.detail.hasPrefix("The device left the network"))
        }
    }

    @Test func lostLinkFailsHTTP2RequestsAtOnce() async throws {
        try await RawHTTP2Server.run { connection, frame in
            guard let frame else { return connection.write(.settings(), .settingsAck) }
            guard frame.is(.headers), connection.number > 1 || frame.stream == 1 else { return }
            connection.write(.headers(frame.stream), .data(frame.stream, "response \(connection.number)"))
        } _: { server in
            var wire = WireSettings()
            wire.pingTimeout = .seconds(300)
            let configuration = server.configuration(wire)
            let dialer = try Dialer(configuration, localAddresses: { [] })
            let transport = NIOTransport(configuration: configuration, dialer: dialer)
            let layer = NetworkLayer(to: server.baseURL, over: transport)
            #expect(try await layer.call(Fetch<GET>("first")).text == "response 1")
            let read = Task { try await layer.call(Fetch<GET>("a")) }
            await server.wait(for: .headers, count: 2)
            transport.networkDidChange(to: .cellular)
            #expect(try await read.value.text == "response 2")
            let address = try #require(IPAddress("127.0.0.1"))
            #expect(dialer.selector.ban(of: address, of: "localhost") == nil)
        }
    }

    @Test func theSystemKnowsTheAddressesOfThisDevice() throws {
        let own = try #require(IPAddress("127.0.0.1"))
        #expect(try #require(systemLocalAddresses()).contains(own))
    }

    @Test func callsAfterAWaitForANetworkReconnect() async throws {
        try await withScriptedOrigin { origin in
            origin.otherwise(respond: .text("there"))
            let status = SettableNetworkStatus(.wifi)
            let layer = NetworkLayer(
                transport: try NIOTransport(configuration: TransportConfiguration(connectTimeout: .seconds(300))),
                limits: LayerLimits(admission: AdmissionLimits(), retrying: .none),
                status: status)
            layer.configure(TestService.self) { $0.baseURLs = [.release: origin.baseURL] }
            _ = try await layer.call(Fetch<GET>("a"))
            status.set(.none)
            let call = Task { try await layer.call(Fetch<GET>("b"), options: CallOptions(waitsForNetwork: true)) }
            try await waitUntil("the call to wait") { layer.connectivity.waitingCount == 1 }
            status.set(.cellular)
            #expect(try await call.value.text == "there")
            try await origin.waitForDisconnects(count: 1)
            #expect(origin.connectionCount == 2)
        }
    }
}
