import Runway

@testable import RunwayTransport

/// What an address does at a moment of simulated time.
enum SimulatedPath: Equatable {
    /// Packets take this long there and back.
    case alive(roundTrip: Duration)
    /// Nobody listens, which is said within a round trip.
    case refusing(roundTrip: Duration)
    /// Packets are lost.
    case silent

    var roundTrip: Duration? { if case .alive(let time) = self { time } else { nil } }
}

/// Dials in simulated time: a ``DialRace`` over addresses of which the test says how they behave.
struct SimulatedHost {
    /// What became of one dial.
    struct Outcome {
        var winner: IPAddress?
        var elapsed: Duration
        var dialed: [IPAddress] = []
        var lookups = 0
    }

    /// What the host's name is looked up as, and how long that takes; `nil` is a resolver that does not response.
    var lookup: (addresses: [IPAddress], time: Duration)?
    /// How an address behaves at a moment.
    var path: (IPAddress, Duration) -> SimulatedPath
    /// How many round trips it takes to connect with TLS 1.3.
    static let handshakeRoundTrips = 2

    private enum Event {
        case wake
        case lookedUp([IPAddress])
        case connected(IPAddress)
        case secured(IPAddress)
        case refused(IPAddress)
    }

    private struct Entry {
        var at: Duration
        var number: Int
        var event: Event
    }

    /// Dials at a moment; what is learned goes to `note`, with the moment at which it is learned, which may be after the dial.
    func dial(
        _ plan: HostPlan, lookup mode: DialRace.Lookup, at start: Duration, deadline: Duration = .seconds(10),
        replan: ([IPAddress], Duration) -> HostPlan = { addresses, _ in HostPlan(order: addresses) },
        note: (HostEvent, IPAddress, Duration) -> Void = { _, _, _ in }
    ) -> Outcome {
        var race = DialRace(plan, lookup: mode)
        var entries: [Entry] = []
        var count = 0
        var wake: Int?
        var starts: [IPAddress: Duration] = [:]
        var outcome = Outcome(winner: nil, elapsed: deadline)
        var isOver = false

        func schedule(_ event: Event, at instant: Duration) {
            count += 1
            if case .wake = event { wake = count }
            entries.append(Entry(at: instant, number: count, event: event))
        }
        func learn(_ address: IPAddress, at now: Duration) {
            note(.dialed(roundTrip: (now - (starts[address] ?? now)) / Self.handshakeRoundTrips), address, now)
        }
        func perform(_ actions: [DialRace.Action], at now: Duration) {
            for action in actions {
                switch action {
                case .lookUp:
                    outcome.lookups += 1
                    if let lookup { schedule(.lookedUp(lookup.addresses), at: now + lookup.time) }
                case .connect(let address):
                    outcome.dialed.append(address)
                    starts[address] = now
                    switch path(address, now) {
                    case .alive(let roundTrip):
                        schedule(.connected(address), at: now + roundTrip)
                        schedule(.secured(address), at: now + roundTrip * Self.handshakeRoundTrips)
                    case .refusing(let roundTrip): schedule(.refused(address), at: now + roundTrip)
                    case .silent: break
                    }
                case .wake(let instant): schedule(.wake, at: instant)
                case .cancel(let address): starts[address] = nil
                case .measure(let address, let limit):
                    let (begun, end) = (starts[address] ?? now, now + limit)
                    switch path(address, now) {
                    case .alive(let roundTrip) where begun + roundTrip * Self.handshakeRoundTrips <= end:
                        note(.dialed(roundTrip: roundTrip), address, begun + roundTrip * Self.handshakeRoundTrips)
                    case .refusing(let roundTrip) where begun + roundTrip <= end:
                        note(.failed, address, begun + roundTrip)
                    default: note(.failed, address, end)
                    }
                case .note(let event, let address): note(event, address, now)
                case .succeed(let address):
                    learn(address, at: now)
                    outcome.winner = address
                    outcome.elapsed = now - start
                    isOver = true
                case .fail:
                    outcome.elapsed = now - start
                    isOver = true
                }
            }
        }

        perform(race.start(at: start), at: start)
        while !isOver {
            guard
                let index = entries.indices.min(by: {
                    (entries[$0].at, entries[$0].number) < (entries[$1].at, entries[$1].number)
                }),
                entries[index].at < start + deadline
            else {
                perform(race.end(at: start + deadline), at: start + deadline)
                break
            }
            let entry = entries.remove(at: index)
            switch entry.event {
            case .wake: if entry.number == wake { perform(race.timerFired(at: entry.at), at: entry.at) }
            case .lookedUp(let addresses):
                perform(race.lookedUp(replan(addresses, entry.at), at: entry.at), at: entry.at)
            case .connected(let address) where starts[address] != nil:
                perform(race.connected(address, at: entry.at), at: entry.at)
            case .secured(let address) where starts[address] != nil:
                perform(race.secured(address, at: entry.at), at: entry.at)
            case .refused(let address) where starts[address] != nil:
                perform(race.failed(address, at: entry.at), at: entry.at)
            default: break
            }
        }
        return outcome
    }
}
