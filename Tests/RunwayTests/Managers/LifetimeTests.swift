import Runway
import RunwayTesting
import Testing

@MainActor
@Suite(.timeLimit(.minutes(10)))
struct LifetimeTests {
    let managers = ManagerBench()
    let recorder = LandingRecorder()

    @Test func releasedManagerCancelsItsCalls() async throws {
        var manager: APIManager<Refresh>? = APIManager(on: managers.network, delegate: recorder)
        weak let leaked = manager
        let flight = try #require(manager?.load(Refresh()))
        try await managers.transport.waitForArrival(of: flight)
        manager = nil
        #expect(leaked == nil, "a flight does not retain its manager")
        try await managers.transport.wait { $0.cancelled.contains(flight.number) }
        #expect(try await managers.outcome(of: flight, among: 1)?.name == "cancelled")
        #expect(recorder.landings.isEmpty)
    }

    @Test func releasedManagerNeverLandsThoughTheTransportCompletes() async throws {
        let managers = ManagerBench(ignoresCancellation: true)
        var manager: APIManager<Refresh>? = APIManager(on: managers.network, delegate: recorder)
        let flight = try #require(manager?.load(Refresh()))
        try await managers.transport.waitForArrival(of: flight)
        manager = nil
        managers.transport.respond(flight)
        #expect(try await managers.outcome(of: flight, among: 1)?.name == "cancelled")
        #expect(recorder.landings.isEmpty)
    }

    @Test func managerMayBeReleasedOnAnyThread() async throws {
        var manager: APIManager<Refresh>? = APIManager(on: managers.network, delegate: recorder)
        let flight = try #require(manager?.load(Refresh()))
        try await managers.transport.waitForArrival(of: flight)
        let box = Box(try #require(manager))
        manager = nil
        await release(box)
        try await managers.transport.wait { $0.cancelled.contains(flight.number) }
        #expect(recorder.landings.isEmpty)
    }

    @concurrent private nonisolated func release(_ box: Box) async { await box.release() }

    @Test func delegateIsHeldWeakly() async throws {
        var delegate: LandingRecorder? = LandingRecorder()
        weak let leaked = delegate
        let manager = APIManager<Refresh>(on: managers.network, delegate: delegate)
        let flight = manager.load(Refresh())
        try await managers.transport.waitForArrival(of: flight)
        delegate = nil
        #expect(leaked == nil)
        managers.transport.respond(flight)
        #expect(try await managers.outcome(of: flight, among: 1)?.name == "succeeded")
        #expect(manager.rawData != nil)
    }

    @Test func managerMayBeReleasedByItsLanding() async throws {
        var manager: APIManager<Refresh>? = APIManager(on: managers.network, delegate: recorder, overlap: .concurrent)
        weak let leaked = manager
        recorder.onLanding = { _, _ in manager = nil }
        let flights = (1...3).compactMap { manager?.load(Refresh(page: $0)) }
        for flight in flights { try await managers.transport.waitForArrival(of: flight) }
        for flight in flights { managers.transport.respond(flight) }
        let records = try await managers.records.records(count: 3)
        #expect(records.filter { $0.outcome.name == "succeeded" }.count == 1)
        #expect(records.filter { $0.outcome.name == "cancelled" }.count == 2)
        #expect(recorder.landings.count == 1)
        #expect(leaked == nil)
    }

    @Test func landingMayLoadAgain() async throws {
        let manager = APIManager<Refresh>(on: managers.network, delegate: recorder)
        recorder.onLanding = { landing, _ in
            if landing.flight?.number == 1 { manager.load(Refresh(page: 2)) }
        }
        for number in 1...2 {
            if number == 1 { manager.load(Refresh()) }
            try await managers.transport.wait { $0.parked.contains(UInt64(number)) }
            managers.transport.respond(UInt64(number), with: .success(.json("{}")))
            try await recorder.landings(count: number)
        }
        #expect(recorder.landings.compactMap { ($0.endpoint as? Refresh)?.page } == [1, 2])
    }

    @Test func layerIsReleasedWithItsLastManager() async throws {
        weak var leaked: NetworkLayer?
        let transport = ParkingTransport()
        do {
            let network = NetworkLayer(transport: transport, pipeline: .tested)
            leaked = network
            let manager = APIManager<Refresh>(on: network, delegate: recorder)
            let flight = manager.load(Refresh())
            try await transport.waitForArrival(of: flight)
            transport.respond(flight)
            try await recorder.landings(count: 1)
        }
        // The task that slept until the deadline holds nothing; the flight's own task ends in its own time.
        try await waitUntil("the layer to be released") { leaked == nil }
    }
}

/// Holds a manager until somebody lets it go.
private actor Box {
    private var manager: APIManager<Refresh>?
    init(_ manager: APIManager<Refresh>) { self.manager = manager }
    func release() { manager = nil }
}
