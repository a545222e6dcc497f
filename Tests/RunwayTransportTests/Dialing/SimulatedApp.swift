import Runway
import RunwayTesting

@testable import RunwayTransport

/// An app that calls one host in simulated time: a selector, races, and connections that are reused or not.
final class SimulatedApp {
    static let host = "api.example.com"

    let addresses: [IPAddress]
    let selector: HostSelector
    private let clock = ManualClock()
    /// What is learned of addresses when its moment has come.
    private var notes: [(event: HostEvent, address: IPAddress, instant: Duration)] = []

    init(_ addresses: [IPAddress], seed: UInt64, limits: HostSelectionLimits = HostSelectionLimits()) {
        self.addresses = addresses
        selector = HostSelector(
            limits: limits, clock: LayerClock(clock), randomness: SeededGenerator(seed: seed))
    }

    /// The addresses `192.0.2.1` and on.
    static func addresses(_ count: Int) -> [IPAddress] {
        (1...count).map { (IPAddress("192.0.2.\($0)") ?? IPAddress(v4: 0)) }
    }

    /// One call on a connection of its own, at a moment: its dial, and one round trip for its response. Paths stay as they are
    /// meanwhile.
    func call(at now: Duration, over path: @escaping (IPAddress, Duration) -> SimulatedPath) -> (
        SimulatedHost.Outcome, total: Duration
    ) {
        advance(to: now)
        let outcome = SimulatedHost(lookup: nil, path: { address, _ in path(address, now) }).dial(
            selector.plan(addresses, of: Self.host), lookup: .never, at: now,
            note: { self.notes.append(($0, $1, $2)) })
        advance(to: now + outcome.elapsed)
        let response = outcome.winner.flatMap { path($0, now).roundTrip } ?? .zero
        return (outcome, outcome.elapsed + response)
    }

    /// Says that a response on a connection to an address began after so long; gives whether the address is left for another one.
    func responded(by address: IPAddress, after firstByte: Duration, at now: Duration) -> Bool {
        advance(to: now)
        selector.note(.responded(firstByte: firstByte), of: address, of: Self.host)
        return selector.hasLost(address, among: addresses, of: Self.host)
    }

    /// Whether an address is left alone at a moment.
    func isBanned(_ address: IPAddress, at now: Duration) -> Bool {
        advance(to: now)
        return selector.ban(of: address, of: Self.host) != nil
    }

    private func advance(to now: Duration) {
        for note in notes.filter({ $0.instant <= now }).sorted(by: { $0.instant < $1.instant }) {
            clock.advance(to: ManualClock.Instant(offset: note.instant))
            selector.note(note.event, of: note.address, of: Self.host)
        }
        notes.removeAll { $0.instant <= now }
        clock.advance(to: ManualClock.Instant(offset: now))
    }
}
