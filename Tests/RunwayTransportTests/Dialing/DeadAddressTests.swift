import Runway
import Testing

@testable import RunwayTesting
@testable import RunwayTransport

/// Calls to a host of whose addresses one is dead, over real sockets.
@Suite(.timeLimit(.minutes(10)))
struct DeadAddressTests {
    private let dead = "127.0.0.2"
    private let others = ["127.0.0.3", "127.0.0.4", "127.0.0.5"]

    @Test func oneOfFourThatDiesCostsOneCallTheWaitForTheNextAndOthersNothing() async throws {
        let test = try TestDialer(listed: [dead] + others, limits: HostSelectionLimits(firstBan: .seconds(600)))
        try await withBadNetwork(4, test.certificate) { network, _ in
            let records = RecordCollector()
            let transport = NIOTransport(
                configuration: TransportConfiguration(connectTimeout: .seconds(300)), dialer: test.dialer)
            let layer = NetworkLayer(to: "https://\(dialHost):\(network.port)", over: transport, sinks: [records])
            // The one that dies was the best by far, and all are known.
            for (text, roundTrip) in [(dead, 1)] + others.map({ ($0, 500) }) {
                let address = try #require(IPAddress(text))
                test.book?.selector.note(.dialed(roundTrip: .milliseconds(roundTrip)), of: address, of: dialHost)
            }
            try await network.paths[0].set(.silent)

            var wires: [WireRecord] = []
            for count in 1...6 {
                // Each call dials anew.
                transport.retireConnections()
                _ = try await layer.call(Fetch<GET>("a"))
                let record = try await records.records(count: count)[count - 1]
                wires.append(try #require(record.attempts.first?.wire))
            }
            let first = wires[0]
            #expect(first.dialed.first?.address == dead)
            #expect(first.dialed.dropFirst().contains { first.address == "\($0.address):\(network.port)" })
            for wire in wires {
                #expect(wire.isReused == false && wire.address != "\(dead):\(network.port)")
            }
            // The ban is known since the first call. Only where all the others are slow, as on a machine that is busy, is a banned address
            // tried at last.
            for wire in wires.dropFirst() {
                #expect(wire.dialed.firstIndex { $0.address == dead } ?? 3 == 3)
            }
        }
    }
}
