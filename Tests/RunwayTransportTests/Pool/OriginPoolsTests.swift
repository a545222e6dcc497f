import Runway
import RunwayTestServer
import Synchronization
import Testing

@testable import RunwayTransport

/// The pools of a transport, of which no connection is made here.
@Suite(.timeLimit(.minutes(10)))
struct OriginPoolsTests {
    private let first = (IPAddress("192.0.2.1") ?? IPAddress(v4: 0))
    private let second = (IPAddress("192.0.2.2") ?? IPAddress(v4: 0))

    private func origin(_ number: Int) -> Origin { Origin(scheme: "https", host: "h\(number).test", port: 443) }

    @Test func sparePoolIsSeparateFromTheMainOne() throws {
        let dialer = try TestDialer().dialer
        let pools = OriginPools(
            TransportConfiguration(), dialer: dialer, HTTP1Origins(TransportConfiguration(), dialer))
        defer { pools.shutDown() }
        let spare = try #require(pools.enter(origin(0), isSpare: true))
        #expect(spare.avoidedAddresses.isEmpty)
        let main = try #require(pools.enter(origin(0)))
        main.addressesInUse.withLock { $0 = [first] }
        #expect(spare.avoidedAddresses == [first])

        // The main one makes room for others, as it alone is used by nobody, and comes back as a new one.
        pools.leave(origin(0))
        for number in 1..<OriginPools.maximumPools { #expect(pools.enter(origin(number)) != nil) }
        #expect(spare.avoidedAddresses.isEmpty)
        let renewed = try #require(pools.enter(origin(0)))
        renewed.addressesInUse.withLock { $0 = [second] }
        #expect(spare.avoidedAddresses == [second])
        #expect(pools.enter(origin(0), isSpare: true) === spare)
    }
}
