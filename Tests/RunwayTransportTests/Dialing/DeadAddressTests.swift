import Runway
import RunwayTestServer
import RunwayTesting
import Testing

@testable import RunwayTransport

/// Calls to a host of whose addresses one is dead, over real sockets.
@Suite(.timeLimit(.minutes(10)))
struct DeadAddressTests {
    private let dead = "127.0.0.2"
    private let others = ["127.0.0.3", "127.0.0.4", "127.0.0.5"]

    @Test func oneFailedAddressDelaysOnlyOneCall() async throws {
        let certificate = try TestCertificate(for: dialHost)
        try await withBadNetwork(4, certificate) { network, _ in
            try await network.paths[0].set(.silent)
            try await untilUndisturbed {
                let wires = try await wires(ofSixCallsTo: network, certificate)
                let first = wires[0]
                #expect(first.dialed.first?.address == dead)
                #expect(first.dialed.dropFirst().contains { first.address == "\($0.address):\(network.port)" })
                for wire in wires {
                    #expect(wire.isReused == false && wire.address != "\(dead):\(network.port)")
                }
                // That it is silent is known since the first call. Only where all the others are slow, as on a machine that is busy, is it
                // tried at last, and before others only if these are in doubt as well.
                let places = wires.dropFirst().map { wire in wire.dialed.firstIndex { $0.address == dead } ?? 3 }
                #expect(!places.contains(0))
                return places.allSatisfy { $0 == 3 }
            }
        }
    }

    /// The wires of six calls, each of which dials anew. The address that is dead was the best by far, and all are known.
    private func wires(
        ofSixCallsTo network: BadNetwork, _ certificate: TestCertificate
    ) async throws -> [WireRecord] {
        // What is noted below is not measured anew meanwhile.
        let limits = HostSelectionLimits(firstBan: .seconds(600), explorationInterval: .seconds(3600))
        let test = try TestDialer(listed: [dead] + others, certificate: certificate, limits: limits)
        let records = RecordCollector()
        let transport = NIOTransport(
            configuration: TransportConfiguration(connectTimeout: .seconds(300)), dialer: test.dialer)
        let layer = NetworkLayer(to: "https://\(dialHost):\(network.port)", over: transport, sinks: [records])
        for (text, roundTrip) in [(dead, 1)] + others.map({ ($0, 500) }) {
            let address = try #require(IPAddress(text))
            test.dialer.selector.note(.dialed(roundTrip: .milliseconds(roundTrip)), of: address, of: dialHost)
        }
        var wires: [WireRecord] = []
        for count in 1...6 {
            transport.retireConnections()
            _ = try await layer.call(Fetch<GET>("a"))
            let record = try await records.records(count: count)[count - 1]
            wires.append(try #require(record.attempts.first?.wire))
        }
        return wires
    }

    @Test(arguments: 0..<4)
    func deadAddressDelaysNoCallBeyondTheStagger(number: Int) async throws {
        let listed = [dead] + others
        let test = try TestDialer(listed: listed)
        try await withBadNetwork(4, test.certificate) { network, _ in
            let records = RecordCollector()
            let transport = NIOTransport(
                configuration: TransportConfiguration(connectTimeout: .seconds(300)), dialer: test.dialer)
            let layer = NetworkLayer(to: "https://\(dialHost):\(network.port)", over: transport, sinks: [records])
            try await network.paths[number].set(.silent)
            for count in 1...8 {
                // Each call dials anew.
                transport.retireConnections()
                _ = try await layer.call(Fetch<GET>("a"))
                let record = try await records.records(count: count)[count - 1]
                #expect(record.attempts.count == 1)
                let wire = try #require(record.attempts.first?.wire)
                let winner = try #require(wire.dialed.first { wire.address == "\($0.address):\(network.port)" })
                #expect(winner.address != listed[number])
                // No call waited until the system's own timeout for the silent one, which is two minutes.
                #expect(winner.start < .seconds(60))
                // It is waited for once at most, before anything is known.
                if count > 1 { #expect(wire.dialed.first?.address != listed[number]) }
            }
        }
    }

    @Test func aRecoveredAddressIsUsedAfterItsBan() async throws {
        let clock = ManualClock()
        let test = try TestDialer(listed: [dead, others[0]], clock: LayerClock(clock))
        let selector = test.dialer.selector
        let back = try #require(IPAddress(dead))
        let other = try #require(IPAddress(others[0]))
        try await withBadNetwork(2, test.certificate) { network, _ in
            try await network.paths[0].set(.refusing)
            let first = try await test.dial(port: network.port)
            #expect(first.ip == others[0])
            try await first.close()
            try await network.paths[0].set(.passing(PathConditions()))
            let ban = try #require(selector.ban(of: back, of: dialHost))
            clock.advance(by: ban - .nanoseconds(1))
            #expect(selector.plan([back, other], of: dialHost).order == [other])

            // The first dial after the ban looks at it beside the other one.
            clock.advance(by: .nanoseconds(1))
            let second = try await test.dial(port: network.port)
            #expect(second.wire.dialed.prefix(2).map(\.address) == [others[0], dead])
            try await second.close()
            try await waitUntil("its measurement") {
                if selector.latency(of: back, of: dialHost) != nil { return true }
                // It failed again if the machine stood still for as long as it is measured.
                if let ban = selector.ban(of: back, of: dialHost) {
                    clock.advance(by: ban)
                    try await test.dial(port: network.port).close()
                }
                return false
            }

            // As soon as it is the better one it is used.
            for _ in 0..<2 { selector.note(.dialed(roundTrip: .seconds(300)), of: other, of: dialHost) }
            try await network.paths[1].set(.refusing)
            let third = try await test.dial(port: network.port)
            #expect(third.wire.dialed.first?.address == dead && third.ip == dead)
            try await third.close()
        }
    }
}
