#if Command
    import Runway
    import RunwayTesting
    import RunwayTransport

    /// Plays a user of the listings app against a backend on the loopback interface, over TLS and HTTP/2.
    ///
    /// The app and the sockets are real: controllers with managers, delegates and `Reformer` types, on one
    /// `NetworkLayer`. The expected outcomes and screens are computed from the listings, and not from responses.
    /// Differences are in ``DemoReport/problems``.
    @MainActor
    package final class DemoSession {
        struct Setting {
            /// The seed of the listings and of every random choice of the user.
            var seed: UInt64
            var backend: ListingsBackend
            var gate: ResponseGate
            var usesHTTP2 = true
            /// The maximum time to wait for a condition.
            var patience = Duration.seconds(180)

            init(seed: UInt64) throws {
                self.seed = seed
                gate = ResponseGate()
                backend = try ListingsBackend(seed: seed, clock: gate)
            }
        }

        struct Expectation {
            let verdict: String
            /// Whether the result of the call reaches the delegate, and not only the record.
            let lands: Bool
        }

        let network: NetworkLayer
        let backend: ListingsBackend
        let serving: ServingBackend
        let gate: ResponseGate
        let clock: SessionClock
        private let records = RecordCollector()
        /// The maximum time to wait for a condition.
        private let patience: Duration
        let seed: UInt64
        /// The current screen, for scenes with one screen.
        private(set) lazy var screen = makeScreen()
        /// The expected listings of the backend. This copy is independent of the backend's catalogue.
        var catalogue: ListingCatalogue
        var expected: [Expectation] = []
        /// The calls whose responses have arrived at a controller, in the order of their arrival.
        private(set) var landings: [FlightID] = []
        var part = DemoPart.lists
        var scenes: [DemoReport.Scene] = []
        var problems: [String] = []
        let onScene: (String) -> Void

        /// Plays a session, and returns its report.
        ///
        /// - Parameters:
        ///   - seed: The seed of the backend's listings. The default is 1.
        ///   - parts: The parts to play, in the order of `DemoPart.allCases`. The default is all parts.
        ///   - onScene: Called with the title of every scene when the scene begins.
        /// - Throws: The error of a backend that can't start, and `CancellationError` if the task is cancelled.
        package static func play(
            seed: UInt64 = 1, parts: Set<DemoPart> = Set(DemoPart.allCases),
            onScene: @escaping (String) -> Void = { _ in }
        ) async throws -> DemoReport {
            try await play(Setting(seed: seed), parts: parts, onScene: onScene)
        }

        static func play(
            _ setting: Setting, parts: Set<DemoPart> = Set(DemoPart.allCases),
            onScene: @escaping (String) -> Void = { _ in }
        ) async throws -> DemoReport {
            try await withListingsBackend(setting.backend) { serving in
                let pem = serving.certificate.map { [$0.authorityPEM] } ?? []
                let transport = try NIOTransport(
                    configuration: TransportConfiguration(
                        trust: .certificates(pem: pem), usesHTTP2: setting.usesHTTP2))
                let session = DemoSession(setting, serving, transport, onScene)
                do {
                    try await session.play(DemoPart.allCases.filter(parts.contains))
                } catch let error where error is ConditionTimedOut || error is NetworkError {
                    try Task.checkCancellation()
                    session.problems.append("\(session.scenes.last?.title ?? ""): \(error)")
                }
                await transport.shutdown(waitingAtMost: .zero)
                return await session.report()
            }
        }

        private init(
            _ setting: Setting, _ serving: ServingBackend, _ transport: any Transport,
            _ onScene: @escaping (String) -> Void
        ) {
            (clock, patience) = (SessionClock(), setting.patience)
            self.serving = serving
            self.onScene = onScene
            backend = setting.backend
            gate = setting.gate
            seed = setting.seed
            catalogue = ListingCatalogue(
                seed: setting.seed, listingsPerKind: ListingsBackend.defaultListingsPerKind)
            network = NetworkLayer(
                name: "demo", transport: transport, clock: LayerClock(clock), sinks: [records],
                randomness: SeededGenerator(seed: setting.seed))
            useBackend(for: SecondHandService.self)
            useBackend(for: RentalService.self)
            useBackend(for: NewHomesService.self)
            useBackend(for: MemberService.self)
        }

        private func useBackend<Service: APIService>(for service: Service.Type) {
            network.configure(service) { settings in
                settings.environment = "loopback"
                settings.baseURLs["loopback"] = serving.baseURL
            }
        }

        /// Creates a screen. The session records the calls whose responses arrive at the screen's controller.
        func makeScreen() -> Screen {
            Screen { [weak self] flight in self?.landings.append(flight) }
        }

        /// The records of the calls, in the order in which the calls were made.
        var calls: [FlightRecord] { records.records.filter { !$0.isEnvelope }.sorted { $0.id < $1.id } }

        /// The records of the requests that carried several merged calls.
        var envelopes: [FlightRecord] { records.records.filter(\.isEnvelope).sorted { $0.id < $1.id } }

        /// Waits until a condition is true.
        ///
        /// - Throws: `ConditionTimedOut` if it does not become true in time, and `CancellationError` after a
        ///   cancellation.
        func wait(for subject: String, until condition: () -> Bool) async throws {
            try await waitUntil(subject, within: patience) { condition() }
        }
    }

    extension FlightRecord {
        fileprivate var isEnvelope: Bool {
            decisions(of: MergeDecision.self).contains { if case .carries = $0 { true } else { false } }
        }
    }
#endif
