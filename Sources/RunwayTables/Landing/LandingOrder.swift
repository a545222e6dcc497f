import GRDB
import Runway
import Synchronization

import struct Foundation.URL

/// Knows how new the rows are that the calls of one layer have landed in tables.
final class LandingOrder: Sendable {
    /// A row, by its key, or a list, by the condition that selects it.
    struct Place: Hashable {
        let file: URL
        let table: String
        var condition = ""
        let values: [DatabaseValue]
    }

    private struct State {
        /// The newest call that has started.
        var newest: UInt64 = 0
        /// The calls that have landed last.
        var flights: [Place: UInt64] = [:]
        /// The calls up to which responses of an endpoint do not land any more.
        var ends: [ObjectIdentifier: UInt64] = [:]
    }

    /// Guards the numbers of calls.
    private let state = Mutex(State())
    /// The most places that are remembered: a call is seldom overtaken by 10,000 newer rows.
    private static let maximumCount = 10_000

    static func of(_ network: NetworkLayer) -> LandingOrder {
        network.values.value(of: LandingOrder.self) { LandingOrder() }
    }

    /// The newest call that has started.
    var newest: UInt64 { state.withLock { $0.newest } }

    func start(_ flight: UInt64) { state.withLock { $0.newest = max($0.newest, flight) } }

    /// Ends the landing of calls that have started: their responses are older than a change.
    func end(_ endpoints: [any Endpoint.Type]) {
        state.withLock { state in for endpoint in endpoints { state.ends[ObjectIdentifier(endpoint)] = state.newest } }
    }

    func mayLand(_ flight: UInt64, of endpoint: any Endpoint.Type) -> Bool {
        state.withLock { flight > $0.ends[ObjectIdentifier(endpoint)] ?? 0 }
    }

    /// Whether the response of a later call has landed at a place.
    func isNewer(_ place: Place, than flight: UInt64) -> Bool { state.withLock { $0.flights[place] ?? 0 > flight } }

    /// Notes a response that is in the file.
    func landed(_ flight: UInt64, at places: [Place]) {
        state.withLock { state in
            for place in places { state.flights[place] = max(state.flights[place] ?? 0, flight) }
            guard state.flights.count > Self.maximumCount else { return }
            let middle = state.flights.values.sorted()[state.flights.count / 2]
            state.flights = state.flights.filter { $0.value > middle }
        }
    }
}
