import Metrics
import MetricsTestKit
import RunwayTesting
import Testing

@testable import Runway

struct MetricsSinkTests {
    private let metrics = TestMetrics()
    private let api = [("service", "library"), ("endpoint", "BookSearch")]

    @Test func callsAreCountedAndTimedByOutcome() throws {
        let sink = MetricsSink(factory: metrics)
        sink.receive(.sample())
        sink.receive(.sample())
        sink.receive(.sample(.cancelled))
        let succeeded = api + [("outcome", "succeeded")]
        #expect(try metrics.expectCounter("runway_calls_total", succeeded).totalValue == 2)
        #expect(try metrics.expectCounter("runway_calls_total", api + [("outcome", "cancelled")]).totalValue == 1)
        #expect(
            try metrics.expectTimer("runway_call_duration_seconds", succeeded).values == [12_000_000, 12_000_000])
    }

    @Test func amendedRecordIsNotCountedAgain() throws {
        let sink = MetricsSink(factory: metrics)
        var amendment = FlightRecord.sample()
        amendment.isAmendment = true
        for record in [.sample(), amendment, amendment] { sink.receive(record) }
        #expect(try metrics.expectCounter("runway_calls_total", api + [("outcome", "succeeded")]).totalValue == 1)
    }

    @Test func requestsAreCountedAndResponsesMeasured() throws {
        MetricsSink(factory: metrics).receive(.sample())
        #expect(try metrics.expectCounter("runway_requests_total", api + [("status", "302")]).totalValue == 1)
        #expect(try metrics.expectCounter("runway_requests_total", api + [("status", "200")]).totalValue == 1)
        #expect(try metrics.expectRecorder("runway_response_bytes", api).values == [0, 3])
    }

    @Test func missingResponseHasNoStatusAndNoSize() async throws {
        let layer = StubbedLayer(sinks: [MetricsSink(factory: metrics)]) { _ throws(NetworkError) in
            throw NetworkError(.noNetwork, in: .transporting, "x")
        }
        _ = try await layer.failure(of: BookSearch())
        await layer.network.flushRecords()
        #expect(try metrics.expectCounter("runway_requests_total", api + [("status", "none")]).totalValue == 1)
        #expect(metrics.recorders(label: "runway_response_bytes").isEmpty)
        #expect(try metrics.expectCounter("runway_calls_total", api + [("outcome", "failed")]).totalValue == 1)
    }
}
