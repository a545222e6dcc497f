import HTTPTypes
import RunwayTesting
import Testing

@testable import Runway

/// How many calls are in flight, and which is next.
@Suite(.timeLimit(.minutes(10)))
struct TurnTests {
    private let transport = ParkingTransport()
    private let clock = ManualClock()
    private let records = RecordCollector()

    private func network(_ limits: AdmissionLimits) -> NetworkLayer {
        NetworkLayer(
            transport: transport, pipeline: .tested, clock: LayerClock(clock), sinks: [records],
            limits: LayerLimits(admission: limits, retrying: .none))
    }

    private func limits(flights: Int = 1, waiting: Int = 1000) -> AdmissionLimits {
        AdmissionLimits(maximumFlights: flights, maximumWaiting: waiting)
    }

    /// Starts a call, and returns when it is in flight or in the queue.
    private func start(
        _ page: Int, _ network: NetworkLayer, _ priority: CallPriority? = nil
    ) async throws -> Task<RawData, any Error> {
        let before = network.admission.counts
        let task = Task { try await network.call(Refresh(page: page), options: CallOptions(priority: priority)) }
        try await waitUntil { network.admission.counts != before }
        return task
    }

    @Test func callsInFlightAreLimited() async throws {
        let network = network(limits(flights: 3))
        var calls: [Task<RawData, any Error>] = []
        for page in 1...8 { calls.append(try await start(page, network)) }
        #expect(network.admission.counts == (3, 5))
        try await transport.wait { $0.parked.count == 3 }
        for _ in calls {
            let flight = try #require(transport.parked.first)
            #expect(transport.parked.count <= 3)
            transport.respond(flight, with: .success(.json("{}")))
            try await transport.wait { !$0.parked.contains(flight) }
            try await waitUntil { network.admission.counts.admitted <= transport.parked.count }
        }
        for call in calls { _ = try await call.value }
        #expect(network.admission.counts == (0, 0))
    }

    @Test func slotsGoByPriorityThenArrival() async throws {
        let network = network(limits())
        let priorities: [CallPriority?] = [nil, .low, nil, .high, .normal, .high]
        for (index, priority) in priorities.enumerated() { _ = try await start(index + 1, network, priority) }
        var order: [UInt64] = []
        for _ in priorities {
            try await transport.wait { !$0.parked.isEmpty }
            let flight = try #require(transport.parked.first)
            order.append(flight)
            transport.respond(flight, with: .success(.json("{}")))
        }
        // The fourth turn is that of the call that has waited longest, which is the one of low priority.
        #expect(order == [1, 4, 6, 3, 2, 5])
    }

    /// Fills the air, lines up a call of low priority and one of normal, and has the former joined.
    private func joinLowest(_ network: NetworkLayer, with priority: CallPriority) async throws {
        for (page, priority) in [(1, CallPriority.normal), (2, .low), (3, .normal)] {
            _ = try await start(page, network, priority)
        }
        try await transport.wait { $0.parked == [1] }
        Task { try await network.call(Refresh(page: 2), options: CallOptions(priority: priority)) }
        try await waitUntil {
            let flights = network.reads.flights(waitingFor: 2)
            return flights.count >= 2 && flights.last?.hasJoined == true
        }
    }

    @Test(arguments: [(CallPriority.high, [1, 2, 3]), (.low, [1, 3, 2])])
    func joinedCallTakesOverAHigherPriority(_ priority: CallPriority, _ expected: [UInt64]) async throws {
        try await joinLowest(network(limits()), with: priority)
        var order: [UInt64] = []
        try await waitUntil("three requests") {
            order.count == 3
        } meanwhile: {
            let parked = transport.parked
            order += parked
            for flight in parked { transport.respond(flight, with: .success(.json("{}"))) }
        }
        #expect(order == expected)
    }

    @Test func urgentJoinerSendsTheCallAtOnce() async throws {
        let network = network(limits())
        try await joinLowest(network, with: .urgent)
        #expect(network.admission.counts == (2, 1))
        try await transport.wait { $0.parked == [1, 2] }
        for flight: UInt64 in 1...2 { transport.respond(flight, with: .success(.json("{}"))) }
        try await transport.wait { $0.parked == [3] }
        transport.respond(3, with: .success(.json("{}")))
        try await waitUntil { network.admission.counts == (0, 0) }
    }

    @Test func callPriorityWinsOverTheEndpoints() {
        struct Report: Endpoint {
            static let service = Library.self
            static let priority = CallPriority.low
            var path: EndpointPath { "r" }
        }
        let network = network(.none)
        #expect(network.makeFlight(Report.self, .standard).priority == .low)
        #expect(network.makeFlight(Report.self, CallOptions(priority: .high)).priority == .high)
        #expect(network.makeFlight(QueryCall.self, .standard).priority == .normal)
    }

    @Test func urgentCallIsSentDespiteOccupiedSlots() async throws {
        let network = network(limits())
        let first = try await start(1, network)
        let second = try await start(2, network)
        let urgent = try await start(3, network, .urgent)
        try await transport.wait { $0.parked == [1, 3] }
        transport.respond(3, with: .success(.json("{}")))
        _ = try await urgent.value
        #expect(transport.parked == [1])
        transport.respond(1, with: .success(.json("{}")))
        try await transport.wait { $0.parked == [2] }
        transport.respond(2, with: .success(.json("{}")))
        _ = try await (first.value, second.value)
    }

    @Test func lineIsBounded() async throws {
        let network = network(limits(waiting: 2))
        var calls: [Task<RawData, any Error>] = []
        for page in 1...3 { calls.append(try await start(page, network)) }
        let error = await #expect(throws: NetworkError.self) { try await network.call(Refresh(page: 4)) }
        #expect(error?.kind == .overloaded && error?.sending == .notSent)
        #expect(error?.detail == "2 calls already wait for a concurrency slot.")
        for call in calls { call.cancel() }
        for call in calls { _ = await call.result }
        try await waitUntil { network.admission.counts == (0, 0) }
    }

    @Test func cancelledWaiterSendsNoRequest() async throws {
        let network = network(limits())
        let first = try await start(1, network)
        let second = try await start(2, network)
        second.cancel()
        let error = await #expect(throws: NetworkError.self) { try await second.value }
        #expect(error?.kind == .cancelled)
        try await waitUntil { network.admission.counts == (1, 0) }
        try await transport.wait { $0.parked == [1] }
        transport.respond(1, with: .success(.json("{}")))
        _ = try await first.value
        #expect(network.admission.counts == (0, 0))
    }

    @Test func waitInTheLineEndsAtTheDeadline() async throws {
        let network = network(limits())
        let first = try await start(1, network)
        let second = try await start(2, network)
        try await transport.wait { $0.parked == [1] }
        try await clock.waitForSleepers()
        clock.advance(by: .seconds(60))
        for call in [first, second] {
            let error = await #expect(throws: NetworkError.self) { try await call.value }
            #expect(error?.kind == .timedOut)
        }
        try await waitUntil { network.admission.counts == (0, 0) }
    }

    @Test func waitIsOnTheRecord() async throws {
        let network = network(limits())
        _ = try await start(1, network)
        let second = try await start(2, network, .high)
        clock.advance(by: .seconds(2))
        try await transport.wait { $0.parked == [1] }
        transport.respond(1, with: .success(.json("{}")))
        try await transport.wait { $0.parked == [2] }
        transport.respond(2, with: .success(.json("{}")))
        _ = try await second.value
        // The records of two calls may arrive in either order. Only one call waited.
        let decisions = try await records.records(count: 2).flatMap { $0.decisions(of: AdmissionDecision.self) }
        #expect(decisions == [.waitedForSlot(.seconds(2), priority: .high)])
    }

    @Test func failedCallReleasesItsSlot() async throws {
        let network = network(limits())
        let call = try await start(1, network)
        try await transport.wait { $0.parked == [1] }
        transport.respond(1, with: .failure(NetworkError(.noNetwork, in: .transporting, "gone")))
        await #expect(throws: NetworkError.self) { try await call.value }
        try await waitUntil { network.admission.counts == (0, 0) }
    }

    @Test func randomCancellationsReleaseAllSlots() async throws {
        var random = SeededGenerator(seed: 11)
        let network = network(limits(flights: 4, waiting: 50))
        var calls: [Task<RawData, any Error>] = []
        for page in 1...400 {
            let priority = [CallPriority.low, .normal, .high, .urgent].randomElement(using: &random)
            calls.append(Task { try await network.call(Refresh(page: page), options: CallOptions(priority: priority)) })
            if Int.random(in: 0..<4, using: &random) == 0 { calls.randomElement(using: &random)?.cancel() }
            if let flight = transport.parked.randomElement(using: &random) {
                transport.respond(flight, with: .success(.json("{}")))
            }
            if page.isMultiple(of: 3) { await Task.yield() }
        }
        try await waitUntil {
            records.records.count >= 400
        } meanwhile: {
            for flight in transport.parked { transport.respond(flight, with: .success(.json("{}"))) }
            await network.flushRecords()
        }
        for call in calls { _ = await call.result }
        try await waitUntil { network.admission.counts == (0, 0) }
    }
}

/// The slot of a response that is read as a stream.
@Suite(.timeLimit(.minutes(10)))
struct StreamPlaceTests {
    private func layer(failing error: NetworkError? = nil) -> StubbedLayer {
        StubbedLayer(admission: AdmissionLimits(maximumFlights: 1)) { _ in
            Response(
                head: HTTPResponse(status: .ok),
                body: .stream(
                    BodyStream {
                        var parts: [[UInt8]] = [[1], [2]]
                        return {
                            if !parts.isEmpty { return parts.removeFirst() }
                            if let error { throw error }
                            return nil
                        }
                    }))
        }
    }

    @Test func placeIsHeldUntilTheStreamEnds() async throws {
        let layer = layer()
        let response = try await layer.network.stream(QueryCall())
        #expect(layer.network.admission.counts == (1, 0))
        #expect(try await response.body.collect(upTo: 9) == [1, 2])
        #expect(layer.network.admission.counts == (0, 0))
    }

    @Test func placeIsHeldUntilTheStreamFails() async throws {
        let layer = layer(failing: NetworkError(.noNetwork, in: .transporting, "torn"))
        let response = try await layer.network.stream(QueryCall())
        await #expect(throws: NetworkError.self) { try await response.body.collect(upTo: 9) }
        #expect(layer.network.admission.counts == (0, 0))
    }

    @Test func slotIsHeldUntilTheStreamIsDiscarded() async throws {
        let layer = layer()
        do {
            let response = try await layer.network.stream(QueryCall())
            var iterator = response.body.makeAsyncIterator()
            _ = try await iterator.next()
            #expect(layer.network.admission.counts == (1, 0))
        }
        // The task that produced the part may still be ending.
        try await waitUntil { layer.network.admission.counts == (0, 0) }
        _ = try await layer.network.stream(QueryCall())
        try await waitUntil { layer.network.admission.counts == (0, 0) }
    }
}
