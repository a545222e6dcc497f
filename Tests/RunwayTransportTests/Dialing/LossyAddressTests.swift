import Runway
import RunwayTestServer
import RunwayTesting
import Testing

@testable import RunwayTransport

/// An address on the way to which much is lost, over real sockets.
@Suite(.timeLimit(.minutes(10)))
struct LossyAddressTests {
    private static let addresses = ["127.0.0.2", "127.0.0.3", "127.0.0.4"]
    /// How much later a response is at least that was lost on its way, or whose request was.
    private static let delay = Duration.seconds(1)

    /// Makes a call; returns its wire record.
    private func wire(of layer: NetworkLayer, _ records: RecordCollector) async throws -> WireRecord {
        let count = records.records.count
        _ = try await layer.call(Fetch<GET>("a"))
        return try #require(try await records.records(count: count + 1)[count].attempts.last?.wire)
    }

    @Test func addressThatLosesMuchIsLeft() async throws {
        // What is noted below is not measured anew meanwhile.
        let limits = HostSelectionLimits(explorationInterval: .seconds(3600))
        try await untilUndisturbed {
            let test = try TestDialer(listed: Self.addresses, limits: limits)
            var isUndisturbed = true
            try await withBadNetwork(Self.addresses.count, test.certificate) { network, _ in
                let records = RecordCollector()
                let transport = NIOTransport(
                    configuration: TransportConfiguration(connectTimeout: .seconds(300)), dialer: test.dialer)
                let layer = NetworkLayer(to: "https://\(dialHost):\(network.port)", over: transport, sinks: [records])
                // All are known, and none is so near that a busy machine makes the one in use look far worse.
                for text in Self.addresses {
                    let address = try #require(IPAddress(text))
                    test.book?.selector.note(.dialed(roundTrip: .milliseconds(300)), of: address, of: dialHost)
                }
                // What the server itself takes is known as well.
                for _ in 0..<2 { _ = try await wire(of: layer, records) }
                let inUse = try #require(try await wire(of: layer, records).address)
                let path = try #require(network.paths.first { inUse.hasPrefix($0.address + ":") })
                try await path.set(.passing(PathConditions(lossRate: 0.8, retransmissionTimeout: Self.delay)))

                var lateCount = 0
                var isLeft = false
                // Three would do on a machine that does nothing else.
                while !isLeft, lateCount <= 20 {
                    let response = try await wire(of: layer, records)
                    isLeft = response.address != inUse
                    lateCount = (response.waiting ?? .zero) >= Self.delay ? lateCount + 1 : 0
                }
                #expect(isLeft)
                // And nobody comes back to it, unless the others look as bad because the machine stood still.
                for _ in 0..<3 {
                    let response = try await wire(of: layer, records)
                    isUndisturbed = isUndisturbed && (response.waiting ?? .zero) < Self.delay
                    if isUndisturbed { #expect(response.address != inUse) }
                }
            }
            return isUndisturbed
        }
    }
}
