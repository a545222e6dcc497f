#if Command
    import Foundation
    package import Runway
    import RunwayTestServer
    import RunwayTesting
    import RunwayTransport

    /// Plays calls to a host with four addresses, near and far. One address is dead, and one fails during the tour.
    ///
    /// The backend, sockets, TLS and the transport are real. A relay in this process delays the loopback addresses. The
    /// expected outcome of each call is known, and differences are in ``HostTourReport/problems``.
    ///
    /// The tour measures the nearest address in real time, so a pause of the machine distorts the result. A tour with
    /// problems is therefore repeated, with at most six runs in total. The report is of the last run.
    package final class HostTour {
        static let maximumPlays = 6

        enum Route: Int, CaseIterable {
            case far, near, dead, middle

            var roundTrip: Duration? {
                switch self {
                case .far: .milliseconds(220)
                case .near: .milliseconds(20)
                case .dead: nil
                case .middle: .milliseconds(100)
                }
            }
        }

        let serving: ServingBackend
        let paths: [NetworkPath]
        let port: Int
        let layer: NetworkLayer
        let selector: HostSelector
        let status: SettableNetworkStatus
        let configuration: TransportConfiguration
        let probeTimeout: Duration
        let records: RecordCollector
        var rows: [HostTourReport.Row] = []
        var problems: [String] = []

        /// Plays the whole tour.
        ///
        /// - Parameter seed: The seed of the backend's listings. The default is 1.
        /// - Throws: The error of an unavailable backend or address, and `CancellationError` if the task is cancelled.
        @concurrent package static func play(seed: UInt64 = 1) async throws -> HostTourReport {
            var probeTimeout = Duration.milliseconds(450)
            var report = try await play(seed: seed, probeTimeout: probeTimeout)
            for _ in 1..<maximumPlays where !report.problems.isEmpty {
                probeTimeout *= 2
                report = try await play(seed: seed, probeTimeout: probeTimeout)
            }
            return report
        }

        private static func play(seed: UInt64, probeTimeout: Duration) async throws -> HostTourReport {
            let backend = try ListingsBackend(seed: seed, listingsPerKind: 50)
            return try await withListingsBackend(backend) { serving in
                try await withBadNetwork(to: serving.port, addresses: Route.allCases.count, seed: seed) { network in
                    try await HostTour(serving, network, probeTimeout: probeTimeout).play()
                }
            }
        }

        private init(_ serving: ServingBackend, _ network: BadNetwork, probeTimeout: Duration) throws {
            self.serving = serving
            self.probeTimeout = probeTimeout
            paths = network.paths
            port = network.port
            status = SettableNetworkStatus(.wifi)
            selector = HostSelector(status: status)
            var configuration = TransportConfiguration(
                trust: .certificates(pem: serving.certificate.map { [$0.authorityPEM] } ?? []))
            configuration.hosts = HostBook(
                bundled: try HostList([NearbyService.host: network.addresses]), selector: selector)
            self.configuration = configuration
            records = RecordCollector()
            layer = NetworkLayer(
                name: "hosts", transport: try NIOTransport(configuration: configuration), sinks: [records],
                status: status)
            layer.configure(NearbyService.self) { [port] in
                $0.environment = "loopback"
                $0.baseURLs["loopback"] = "https://\(NearbyService.host):\(port)"
            }
        }

        private func play() async throws -> HostTourReport {
            for route in Route.allCases {
                let state = route.roundTrip.map { PathState.passing(PathConditions(roundTrip: $0)) } ?? .silent
                try await path(route).set(state)
            }
            try await meetTheHost()
            try await measureAll()
            try await callAgain()
            try await loseTheNearestDuringACall()
            try await loseTheNearestForGood()
            try await comeToAnotherNetwork()
            try await meetAnInterceptor()
            let texts = Route.allCases.map { route in
                let time = route.roundTrip.map { "\($0.text) there and back" } ?? "does not respond"
                return (path(route).address, "\(route), \(time)")
            }
            await layer.flushRecords()
            return HostTourReport(
                addresses: Dictionary(uniqueKeysWithValues: texts), rows: rows, flights: records.records,
                problems: problems)
        }

        func path(_ route: Route) -> NetworkPath { paths[route.rawValue] }

        func address(_ route: Route) -> IPAddress? { IPAddress(path(route).address) }

        func ban(_ route: Route) -> Duration? {
            address(route).flatMap { selector.ban(of: $0, of: NearbyService.host) }
        }
    }

    enum NearbyService: APIService {
        static let name = "nearby"
        static let environments: [ServiceEnvironment: String] = [:]
        static let host = "localhost"
    }

    struct NearbyHomes: Endpoint {
        static let service = NearbyService.self
        var path: EndpointPath { "zf/list" }
        var city = "beijing"
    }

    /// Homes near the user. The screen must not wait, so the call is hedged.
    struct UrgentHomes: Endpoint {
        static let service = NearbyService.self
        static let hedging = HedgingPolicy.after(.milliseconds(150))
        var path: EndpointPath { "zf/list" }
        var city = "shanghai"
    }

    /// The results of a ``HostTour``: the dialled addresses, and the address that responded in each step, with the
    /// reason.
    package struct HostTourReport: TourReport {
        /// One step of the tour.
        package struct Row: Sendable, Encodable {
            package var title: String
            /// The addresses that the transport dialled; empty if it used an existing connection.
            package var dialled: [String]
            /// The address that the response came from; `nil` if no response arrived.
            package var won: String?
            package var milliseconds: Int
            package var why: String
        }

        package var addresses: [String: String]
        package var rows: [Row]
        /// The records of the calls, in the order in which the calls ended.
        package var flights: [FlightRecord]
        /// Differences from the expected results; empty if there are none.
        package var problems: [String]

        /// The table and the records as text.
        package var description: String {
            var lines = ["— One host, four addresses"]
            lines += addresses.sorted { $0.key < $1.key }.map { "    \($0.key)  \($0.value)" }
            for row in rows {
                let dialled = row.dialled.isEmpty ? "nothing" : row.dialled.joined(separator: ", ")
                lines += [
                    "", "  \(row.title)", "    dialled  \(dialled)",
                    "    won      \(row.won ?? "none"), after \(row.milliseconds) ms", "    why      \(row.why)",
                ]
            }
            lines += ["", "— Every call to the host, its decisions and its duration"]
            return (lines + flights.map(\.description)).joined(separator: "\n")
        }
    }
#endif
