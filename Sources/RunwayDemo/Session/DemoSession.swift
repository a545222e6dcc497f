import Runway
import RunwayTransport

/// Plays a user of the listings app against a backend of its own on the loopback, over TLS and HTTP/2.
///
/// The app is real, and so are the sockets: controllers with managers, delegates and reformers, on one `NetworkLayer`. What every
/// call should come to is known before; what came otherwise is in ``DemoReport/problems``.
@MainActor
public final class DemoSession {
    let network: NetworkLayer
    let screen = Screen()
    let backend: ServingBackend
    private let seed: UInt64
    private let board = FlightBoard()
    private let onScene: (String) -> Void
    private var scenes: [DemoReport.Scene] = []
    /// What the calls should come to, in the order of asking.
    private var expected: [String] = []
    private var problems: [String] = []

    /// Plays a session and reports it.
    ///
    /// - Parameters:
    ///   - seed: What the backend's listings are made from. The default is 1.
    ///   - onScene: Told the title of every scene as it begins.
    /// - Throws: What kept the backend from serving, and `CancellationError` when the task is cancelled.
    public static func play(seed: UInt64 = 1, onScene: @escaping (String) -> Void = { _ in }) async throws -> DemoReport
    {
        try await withListingsBackend(ListingsBackend(seed: seed)) { backend in
            let pem = backend.certificate.map { [$0.authorityPEM] } ?? []
            let transport = try AsyncHTTPClientTransport(
                configuration: TransportConfiguration(trust: .certificates(pem: pem)))
            let session = DemoSession(seed: seed, backend: backend, transport: transport, onScene: onScene)
            do {
                try await session.playScenes()
            } catch let stalled as Stalled {
                session.problems.append("\(stalled)")
            }
            await transport.shutdown(.cutting)
            return await session.report()
        }
    }

    private init(
        seed: UInt64, backend: ServingBackend, transport: AsyncHTTPClientTransport, onScene: @escaping (String) -> Void
    ) {
        self.seed = seed
        self.backend = backend
        self.onScene = onScene
        network = NetworkLayer(name: "demo", transport: transport, sinks: [board])
        useBackend(for: SecondHandService.self)
        useBackend(for: RentalService.self)
        useBackend(for: NewHomesService.self)
    }

    private func useBackend<Service: APIService>(for service: Service.Type) {
        network.configure(service) { settings in
            settings.environment = "loopback"
            settings.baseURLs["loopback"] = backend.baseURL
        }
    }

    private func report() async -> DemoReport {
        await network.events.flush()
        let flights = board.records
        if flights.count != expected.count {
            problems.append("\(expected.count) calls were asked for, \(flights.count) recorded")
        }
        for (flight, verdict) in zip(flights, expected) where flight.verdict != verdict {
            problems.append("\(flight.id) was \(flight.verdict), and should be \(verdict)")
        }
        let attempts = flights.flatMap(\.attempts)
        let arrived = backend.statistics.total.requests
        if arrived != attempts.count { problems.append("\(attempts.count) requests left, \(arrived) arrived") }
        return DemoReport(
            seed: seed, calls: expected.count, requestsOnTheWire: attempts.count,
            bytes: attempts.compactMap(\.responseByteCount).reduce(0, +), scenes: scenes, flights: flights,
            problems: problems)
    }
}

/// What a scene does.
extension DemoSession {
    /// Plays one scene, and keeps what is on the screen after it.
    func scene(_ title: String, _ play: () async throws -> Void) async throws {
        onScene(title)
        try await play()
        scenes.append(DemoReport.Scene(title: title, screen: screen.lines))
    }

    /// Counts a call that was asked for, and what it should come to.
    func call(_ flight: FlightID?, shouldBe verdict: String) {
        if flight != nil { expected.append(verdict) }
    }

    /// Waits until every call that was asked for so far has its record.
    func landed() async throws {
        try await wait(for: "every call to come to its end") { board.records.count >= expected.count }
    }

    /// Waits until as many requests as calls flew have arrived at a route.
    func arrived(_ count: Int, at route: String) async throws {
        try await wait(for: "\(count) requests to arrive at \(route)") {
            backend.statistics.routes[route]?.requests ?? 0 >= count
        }
    }

    private func wait(for what: String, until condition: () -> Bool) async throws {
        let clock = ContinuousClock()
        let limit = clock.now + .seconds(20)
        while !condition() {
            guard clock.now < limit else { throw Stalled(what: what) }
            // The demo plays in real time, as its user would; nothing here needs to be quicker than an eye.
            try await Task.sleep(for: .milliseconds(2))
        }
    }
}

/// Something that should have happened did not.
struct Stalled: Error, CustomStringConvertible {
    let what: String
    var description: String { "waited 20 s for \(what)" }
}

extension FlightRecord {
    /// The outcome, and for a failure its kind.
    fileprivate var verdict: String {
        outcome.error.map { "\(outcome.name): \($0.kind.name)" } ?? outcome.name
    }
}
