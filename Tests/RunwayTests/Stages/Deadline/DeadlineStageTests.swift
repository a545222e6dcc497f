import HTTPTypes
import Runway
import RunwayTesting
import Synchronization
import Testing

@Suite(.timeLimit(.minutes(10)))
struct DeadlineStageTests {
    private struct ThreeSeconds: Endpoint {
        static let service = Library.self
        static let deadline: Duration? = .seconds(3)
        static let coalesces = false
        var path: EndpointPath { "slow" }
    }

    private let transport = StubbornTransport()
    private let clock = ManualClock()
    private let records = RecordCollector()

    private func makeNetwork() -> NetworkLayer {
        NetworkLayer(
            transport: transport, pipeline: .tested, clock: LayerClock(clock), sinks: [records],
            limits: LayerLimits(admission: .none, retrying: .none))
    }

    @Test func callTimesOutThoughTheTransportIgnoresCancellation() async throws {
        let network = makeNetwork()
        let call = Task { try await network.call(ThreeSeconds()) }
        try await transport.gate.waitForArrivals()
        try await clock.waitForSleepers()
        #expect(clock.nextDeadline?.offset == .seconds(3))
        clock.advance(by: .nanoseconds(2_999_999_999))
        await network.flushRecords()
        #expect(records.records.isEmpty)
        clock.advance(by: .nanoseconds(1))

        let error = await #expect(throws: NetworkError.self) { try await call.value }
        #expect(error?.kind == .timedOut)
        #expect(error?.step == .deadline)
        #expect(error?.detail == "There was no response within 3 s.")
        #expect(error?.request == "GET https://library.test/v1/slow")
        #expect(!transport.gate.isOpen)

        let record = try #require(try await records.records(count: 1).first)
        #expect(record.outcome.name == "failed")
        #expect(record.duration == .seconds(3))
        #expect(record.attempts.count == 1)
        #expect(record.attempts.first?.end == nil && record.attempts.first?.responseByteCount == nil)
        transport.gate.open()
    }

    @Test func deadlineCancelsTheTransportsTask() async throws {
        let network = makeNetwork()
        let call = Task { try await network.call(ThreeSeconds()) }
        try await transport.gate.waitForArrivals()
        try await clock.waitForSleepers()
        clock.advance(by: .seconds(3))
        try await transport.cancelled.pass()
        await #expect(throws: NetworkError.self) { try await call.value }
        transport.gate.open()
    }

    @Test func cancelledCallerContinuesAtOnceCancellingItsTransport() async throws {
        let network = makeNetwork()
        let call = Task { try await network.call(ThreeSeconds()) }
        try await transport.gate.waitForArrivals()
        call.cancel()
        let error = await #expect(throws: NetworkError.self) { try await call.value }
        #expect(error?.kind == .cancelled)
        #expect(error?.detail == "The call was cancelled.")
        try await transport.cancelled.pass()
        #expect(!transport.gate.isOpen)
        transport.gate.open()
    }

    @Test func responseAfterTheDeadlineHasNoEffect() async throws {
        let network = makeNetwork()
        let call = Task { try await network.call(ThreeSeconds()) }
        try await transport.gate.waitForArrivals()
        try await clock.waitForSleepers()
        clock.advance(by: .seconds(3))
        await #expect(throws: NetworkError.self) { try await call.value }
        transport.gate.open()
        try await transport.left.pass()
        await network.flushRecords()
        #expect(records.records.map(\.outcome.name) == ["failed"])
    }

    @Test func everyCallHasItsOwnDeadline() async throws {
        let network = makeNetwork()
        let short = Task { try await network.call(ThreeSeconds()) }
        try await transport.gate.waitForArrivals()
        try await clock.waitForSleepers()
        clock.advance(by: .seconds(1))
        let long = Task { try await network.call(QueryCall()) }
        let late = Task { try await network.call(ThreeSeconds()) }
        try await transport.gate.waitForArrivals(count: 3)

        clock.advance(by: .seconds(2))
        await #expect(throws: NetworkError.self) { try await short.value }
        try await clock.waitForSleepers()
        #expect(clock.nextDeadline?.offset == .seconds(4))
        clock.advance(by: .seconds(1))
        await #expect(throws: NetworkError.self) { try await late.value }
        #expect(try await records.records(count: 2).count == 2)
        transport.gate.open()
        _ = try await long.value
    }

    @Test func earlierDeadlineOfALaterCallApplies() async throws {
        let network = makeNetwork()
        let long = Task { try await network.call(QueryCall()) }
        try await transport.gate.waitForArrivals()
        let short = Task { try await network.call(ThreeSeconds()) }
        try await transport.gate.waitForArrivals(count: 2)
        try await waitUntil { clock.nextDeadline?.offset == .seconds(3) }
        clock.advance(by: .seconds(3))
        let error = await #expect(throws: NetworkError.self) { try await short.value }
        #expect(error?.kind == .timedOut)
        transport.gate.open()
        _ = try await long.value
    }

    @Test func deadlineBoundsTheWaitForAStreamsHead() async throws {
        let network = makeNetwork()
        let call = Task { try await network.stream(ThreeSeconds()) }
        try await transport.gate.waitForArrivals()
        try await clock.waitForSleepers()
        clock.advance(by: .seconds(3))
        let error = await #expect(throws: NetworkError.self) { _ = try await call.value }
        #expect(error?.kind == .timedOut)
        transport.gate.open()
    }

    @Test(arguments: [true, false])
    func noTaskOutlivesACallThatEndedEarly(_ isCancelled: Bool) async throws {
        let remembered = RememberingStage()
        weak var network: NetworkLayer?
        do {
            var pipeline = RequestPipeline.tested
            pipeline.insert(remembered, before: .deadline)
            let layer = NetworkLayer(
                transport: transport, pipeline: pipeline, clock: LayerClock(clock), sinks: [records],
                limits: LayerLimits(admission: .none, retrying: .none))
            network = layer
            let call = Task { [layer] in try await layer.call(ThreeSeconds()) }
            try await transport.gate.waitForArrivals()
            try await clock.waitForSleepers()
            if isCancelled { call.cancel() } else { clock.advance(by: .seconds(3)) }
            await #expect(throws: NetworkError.self) { try await call.value }
            transport.gate.open()
            try await transport.left.pass()
            await layer.flushRecords()
        }
        // What still winds down does so soon; a leak would run into the limit of the wait.
        try await waitUntil { network == nil && !remembered.isFlightAlive && clock.sleeperCount == 0 }
    }
}

/// Remembers weakly which flight came through.
private final class RememberingStage: RequestStage {
    private struct Weak { weak var flight: Flight? }
    /// Guards the flight.
    private let seen = Mutex(Weak())
    var isFlightAlive: Bool { seen.withLock { $0.flight != nil } }
    var step: FlightStep { .customStage("remembering") }

    func respond(
        to request: Request, in flight: Flight, next: RequestPipeline.Rest
    ) async throws(NetworkError) -> Response {
        seen.withLock { $0.flight = flight }
        return try await next.send(request, in: flight)
    }
}
