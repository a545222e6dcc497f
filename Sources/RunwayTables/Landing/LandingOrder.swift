import GRDB
import Runway
import Synchronization

import struct Foundation.URL

/// Records which call of a network layer has landed each row last.
final class LandingOrder: Sendable {
    /// A row, which its key identifies, or a list, which the condition that selects its rows identifies.
    struct Place: Hashable {
        let file: URL
        let table: String
        var condition = ""
        let values: [DatabaseValue]
    }

    private struct State {
        /// The newest call that has started.
        var newest: UInt64 = 0
        /// The newest call that has landed at each place.
        var flights: [Place: UInt64] = [:]
        /// For each endpoint, the newest call that had started when landings were last prevented. It and all earlier
        /// calls may not land.
        var ends: [ObjectIdentifier: UInt64] = [:]
    }

    /// Guards the numbers of calls.
    private let state = Mutex(State())
    /// The number of places above which older responses are forgotten: a call is seldom overtaken by 10,000 newer rows.
    private static let maximumCount = 10_000

    static func of(_ network: NetworkLayer) -> LandingOrder {
        network.values.value(of: LandingOrder.self) { LandingOrder() }
    }

    func start(_ flight: UInt64) { state.withLock { $0.newest = max($0.newest, flight) } }

    /// Prevents the landing of all calls to these endpoints that have started, since their responses are older than a
    /// change.
    func end(_ endpoints: [any Endpoint.Type]) {
        state.withLock { state in for endpoint in endpoints { state.ends[ObjectIdentifier(endpoint)] = state.newest } }
    }

    func mayLand(_ flight: UInt64, of endpoint: any Endpoint.Type) -> Bool {
        state.withLock { flight > $0.ends[ObjectIdentifier(endpoint)] ?? 0 }
    }

    /// Whether the response of a later call has landed at a place.
    func isNewer(_ place: Place, than flight: UInt64) -> Bool { state.withLock { $0.flights[place] ?? 0 > flight } }

    /// Records that the response of a call is in the file.
    func landed(_ flight: UInt64, at places: [Place]) {
        state.withLock { state in
            for place in places { state.flights[place] = max(state.flights[place] ?? 0, flight) }
            guard state.flights.count > Self.maximumCount else { return }
            // Responses are forgotten whole, and never the newest, however many rows it has.
            let middle = state.flights.values.sorted()[state.flights.count / 2]
            state.flights = state.flights.filter { $0.value >= middle }
        }
    }
}
