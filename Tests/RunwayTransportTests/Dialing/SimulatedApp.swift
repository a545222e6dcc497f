import Runway
import RunwayTesting

@testable import RunwayTransport

/// An app that calls one host in simulated time: a selector, races, and connections that are kept or not.
struct SimulatedApp {
    static let host = "api.example.com"

    let addresses: [IPAddress]
    let selector: HostSelector
    private let clock = ManualClock()

    init(_ addresses: [IPAddress], seed: UInt64, limits: HostSelectionLimits = HostSelectionLimits()) {
        self.addresses = addresses
        selector = HostSelector(
            limits: limits, clock: LayerClock(clock), randomness: SeededGenerator(seed: seed))
    }

    /// The addresses `192.0.2.1` and on.
    static func addresses(_ count: Int) -> [IPAddress] {
        (1...count).map { (IPAddress("192.0.2.\($0)") ?? IPAddress(v4: 0)) }
    }

    /// One call on a connection of its own, at a moment: its dial, and one round trip for its answer. Paths stay as they are meanwhile.
    func call(at now: Duration, over path: @escaping (IPAddress, Duration) -> SimulatedPath) -> (
        SimulatedHost.Outcome, total: Duration
    ) {
        clock.advance(to: ManualClock.Instant(offset: now))
        let outcome = SimulatedHost(lookup: nil, path: { address, _ in path(address, now) }).dial(
            selector.plan(addresses, of: Self.host), lookup: .never, at: now,
            note: { event, address, instant in
                clock.advance(to: ManualClock.Instant(offset: instant))
                selector.note(event, of: address, of: Self.host)
            })
        let answer = outcome.winner.flatMap { path($0, now).roundTrip } ?? .zero
        return (outcome, outcome.elapsed + answer)
    }

    /// Says that an answer on a connection to an address began after so long; gives whether the address is left for another one.
    func answered(by address: IPAddress, after firstByte: Duration, at now: Duration) -> Bool {
        clock.advance(to: ManualClock.Instant(offset: now))
        selector.note(.answered(firstByte: firstByte), of: address, of: Self.host)
        return selector.isOutrun(address, among: addresses, of: Self.host)
    }
}
