#if Command
    import Crypto
    import Foundation
    import HTTPTypes
    package import Runway
    import RunwaySignatures
    import RunwaySigning
    import RunwayTesting
    import RunwayTransport

    /// Plays signed calls to a server that verifies them, and attacks that imitate the app.
    ///
    /// The server, TLS, and both sides of signing are real. The expected result of each call is fixed, with the reason
    /// for a refusal. Differences are in ``SigningTourReport/problems``.
    package final class SigningTour {
        private let backend: SignedBackend
        private let way: SignedWay
        // A real app uses a FileTokenStore or a KeychainTokenStore.
        private let device = DeviceKeys(in: MemoryTokenStore())
        private let records = RecordCollector()
        /// The network layers of the app and of its attackers.
        private var layers: [NetworkLayer] = []
        private var report = SigningTourReport()

        /// The number of tasks that make calls during the key rotation, and the number of calls per task. The first
        /// task rotates the key after half of its calls.
        private static let (workers, callsOfEach) = (4, 10)

        /// Plays the whole tour.
        ///
        /// - Throws: The error of a server that can't start, and `CancellationError` if the task is cancelled.
        @concurrent package static func play() async throws -> SigningTourReport {
            let backend = try SignedBackend()
            return try await backend.serve { port in
                let trust = TransportConfiguration.Trust.certificates(pem: [backend.certificate.authorityPEM])
                let wire = try NIOTransport(configuration: TransportConfiguration(trust: trust))
                let tour = SigningTour(backend, SignedWay(wire: wire, port: port))
                let report = await tour.play()
                await wire.shutdown(waitingAtMost: .zero)
                try Task.checkCancellation()
                return report
            }
        }

        private init(_ backend: SignedBackend, _ way: SignedWay) { (self.backend, self.way) = (backend, way) }

        private func play() async -> SigningTourReport {
            let app = layer("app", device)
            guard let id = await enrol(app) else { return report }
            await forge(id)
            await replay(of: app)
            await tamper(with: app)
            await callWithSlowClock()
            await rotate(id, under: app)
            for layer in layers { await layer.flushRecords() }
            report.flights = records.records
            report.calls = report.flights.count
            report.requests = report.flights.map(\.attempts.count).reduce(0, +)
            return report
        }

        /// Returns a layer that signs its calls with the keys of a store.
        private func layer(_ name: String, _ keys: any RequestKeyStore, clock: LayerClock = .system) -> NetworkLayer {
            var pipeline = RequestPipeline()
            let policy = SigningPolicy(.signature(tag: SignedBackend.tag))
            pipeline.insert(SigningStage(for: OrderService.self, policy, keys: keys), before: .signing)
            let network = NetworkLayer(name: name, transport: way, pipeline: pipeline, clock: clock, sinks: [records])
            layers.append(network)
            network.configure(OrderService.self) { settings in
                settings.account = SignedBackend.account
                settings.commonHeaders = ["X-Session": SignedBackend.session]
            }
            return network
        }

        // MARK: - The steps

        /// Creates a key on the device, and enrols it at the server. Calls before the enrolment are refused.
        private func enrol(_ app: NetworkLayer) async -> String? {
            let unsigned = await app.failure(of: PlaceOrder())
            if unsigned == nil || way.takeReasons() != ["401 unsigned"] {
                report.problems.append("a call without a signature was not refused as such")
            }
            var id: String?
            await step("An enrolled key: made on the device", [], accepted: 1) {
                do throws(NetworkError) {
                    id = try await self.enrolment(app).enrol()
                } catch {
                    return error
                }
                return await app.failure(of: PlaceOrder())
            }
            return id
        }

        private func enrolment(_ app: NetworkLayer) -> DeviceEnrolment<OrderService> {
            DeviceEnrolment(at: OrderService.self, in: app, keys: device)
        }

        /// Signs with an attacker's key under the identifier of the app's key.
        private func forge(_ id: String) async {
            let key = RequestKey(id: id, signer: SigningKey.p256(P256.Signing.PrivateKey()))
            let forger = layer("forger", HeldKey(key: key))
            await step("A forged call: signed with another key", ["401 invalid"], accepted: 0) {
                await forger.failure(of: PlaceOrder())
            }
        }

        /// Sends an accepted request again, like an attacker on the network path.
        private func replay(of app: NetworkLayer) async {
            if let error = await app.failure(of: PlaceOrder()) {
                report.problems.append("the app's own call failed: \(error)")
            }
            let other = NetworkLayer(name: "other", transport: way, sinks: [records])
            layers.append(other)
            await step("A replayed call: the same request again", ["401 replayed"], accepted: 0) {
                guard let request = self.way.lastRequest else { return nil }
                do throws(NetworkError) {
                    _ = try await other.exchange(request, with: OrderService.self)
                    return nil
                } catch {
                    return error
                }
            }
        }

        /// Changes the body of a request, like an attacker on the network path.
        private func tamper(with app: NetworkLayer) async {
            way.changeNextBody(to: Array(#"{"item":"yacht"}"#.utf8))
            await step("A tampered call: another body", ["400 body"], accepted: 0) {
                await app.failure(of: PlaceOrder())
            }
        }

        /// Signs with a clock that is an hour slow. The refusal contains the server's time. The stage then signs again
        /// with this time.
        private func callWithSlowClock() async {
            let clock = LayerClock(ContinuousClock()) { Date(timeIntervalSinceNow: -3_600) }
            let device = layer("slow", device, clock: clock)
            await step("A stale clock: an hour slow", ["401 tooOld"], accepted: 1) {
                let error = await device.failure(of: PlaceOrder())
                if let error { self.report.problems.append("the clock was not corrected: \(error)") }
                return error
            }
        }

        /// Replaces the key while calls are made. The server accepts both keys for a time, and then refuses the old
        /// one.
        private func rotate(_ oldKey: String, under app: NetworkLayer) async {
            let enrolment = enrolment(app)
            let before = backend.orders.byKey
            let failures = await withTaskGroup(of: [NetworkError].self) { group in
                for worker in 0..<Self.workers {
                    group.addTask {
                        var failures: [NetworkError] = []
                        for call in 1...Self.callsOfEach {
                            if let error = await app.failure(of: PlaceOrder()) { failures.append(error) }
                            guard worker == 0, call == Self.callsOfEach / 2 else { continue }
                            do throws(NetworkError) { _ = try await enrolment.rotate() } catch {
                                failures.append(error)
                            }
                        }
                        return failures
                    }
                }
                return await group.reduce(into: []) { $0 += $1 }
            }
            let after = backend.orders.byKey
            let byOld = after[oldKey, default: 0] - before[oldKey, default: 0]
            let counts = [byOld, after.filter { before[$0.key] == nil }.values.reduce(0, +)]
            let count = Self.workers * Self.callsOfEach
            report.rows.append(
                SigningTourReport.Row(
                    title: "A rotated key: under \(count) calls", refusals: way.takeReasons(),
                    accepted: counts.reduce(0, +),
                    detail: "\(counts[0]) by the old key, \(counts[1]) by the new one"))
            report.problems += failures.map { "a call failed during the rotation: \($0)" }
            if counts.contains(0) || counts.reduce(0, +) != count {
                report.problems.append("the calls were not signed with both keys: \(counts)")
            }
        }

        private func step(
            _ title: String, _ refusals: [String], accepted: Int, _ play: () async -> NetworkError?
        ) async {
            let before = backend.orders.total
            let error = await play()
            let row = SigningTourReport.Row(
                title: title, refusals: way.takeReasons(), accepted: backend.orders.total - before,
                detail: error?.detail ?? Self.detail(refusals, accepted: accepted))
            report.rows.append(row)
            if row.refusals != refusals || row.accepted != accepted {
                report.problems.append("\(title): \(row.outcome)")
            }
        }

        private static func detail(_ refusals: [String], accepted: Int) -> String {
            if accepted == 0 { return "" }
            return refusals.isEmpty
                ? "made after login, bound to account and device" : "signed again with the server's time"
        }
    }

    /// A store with one key for all requests.
    private struct HeldKey: RequestKeyStore {
        let key: RequestKey

        func key(for owner: KeyOwner) -> RequestKey? { key }
    }

    private enum OrderService: APIService {
        static let name = "orders"
        static let environments: [ServiceEnvironment: String] = [.release: "https://\(SignedBackend.authority)"]
    }

    /// Places an order. The server accepts it only from the app.
    private struct PlaceOrder: Endpoint {
        static let service = OrderService.self
        static let method = HTTPRequest.Method.post
        var path: EndpointPath { "orders" }
        var item = "bicycle"
    }

    /// The results of a ``SigningTour``: the accepted calls, and the reasons for refusals.
    package struct SigningTourReport: TourReport {
        /// One attempt to make the server accept a request.
        package struct Row: Sendable, Encodable {
            /// A description of the attempt: a short title, a colon, and details.
            package var title: String
            /// The refusals: each has the status, and the reason in one word.
            package var refusals: [String]
            package var accepted: Int
            package var detail: String

            package var outcome: String { text(of: refusals.map { "refused: \($0)" }) }

            /// A shorter text about the outcome. It names the status and the problem of each refusal.
            package var briefOutcome: String { text(of: refusals.map { Self.briefTexts[$0] ?? $0 }) }

            private static let briefTexts = [
                "401 invalid": "401 wrong signature", "401 replayed": "401 seen before", "400 body": "400 body changed",
                "401 tooOld": "401 too old",
            ]

            private func text(of refusals: [String]) -> String {
                let accepted = accepted == 0 ? [] : [accepted == 1 ? "accepted" : "all \(accepted) accepted"]
                return (refusals + accepted).joined(separator: ", then ")
            }
        }

        package var rows: [Row] = []
        /// The number of calls of the app and its attackers.
        package var calls = 0
        package var requests = 0
        /// The records of the calls, in the order in which the calls ended.
        package var flights: [FlightRecord] = []
        /// Differences from the expected results; empty if there are none.
        package var problems: [String] = []

        /// The table and the records as text.
        package var description: String {
            var lines = ["— Signed calls, and attempts to pass as the app"]
            for row in rows { lines += ["    \(row.title): \(row.outcome)", "        \(row.detail)"] }
            lines += ["", "— Every call of the app and of others, its decisions and its duration"]
            return (lines + flights.map(\.description)).joined(separator: "\n")
        }
    }
#endif
