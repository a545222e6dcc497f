import HTTPTypes
public import Metrics

/// Counts and measures calls with swift-metrics.
///
/// - `runway_calls_total`: calls, by service, endpoint and outcome.
/// - `runway_call_duration_seconds`: the time from the start of a call to the delivery of its result, by service,
///   endpoint and outcome.
/// - `runway_requests_total`: requests that were passed to the transport, by service, endpoint and status (`none`
///   without a response).
/// - `runway_response_bytes`: the size of responses, by service and endpoint.
///
/// ```swift
/// import Metrics
///
/// MetricsSystem.bootstrap(factory)  // once, at launch: the factory of the app's metrics backend
/// let network = NetworkLayer(transport: transport, sinks: [MetricsSink()])
/// ```
public struct MetricsSink: EventSink {
    private let factory: any MetricsFactory

    /// Creates a sink that counts and times calls with `factory`. The default is the factory that the process was
    /// bootstrapped with.
    public init(factory: any MetricsFactory = MetricsSystem.factory) {
        self.factory = factory
    }

    /// Counts one record. Skips a record that replaces an earlier record of the same call, because that call was
    /// already counted.
    public func receive(_ record: FlightRecord) {
        if record.isAmendment { return }
        let api = [("service", record.service), ("endpoint", record.endpoint)]
        let call = api + [("outcome", record.outcome.name)]
        Counter(label: "runway_calls_total", dimensions: call, factory: factory).increment()
        Timer(label: "runway_call_duration_seconds", dimensions: call, factory: factory).record(
            duration: record.duration)
        for attempt in record.attempts {
            let status = attempt.status.map { "\($0.code)" } ?? "none"
            Counter(label: "runway_requests_total", dimensions: api + [("status", status)], factory: factory)
                .increment()
            if let byteCount = attempt.responseByteCount {
                Recorder(label: "runway_response_bytes", dimensions: api, factory: factory).record(byteCount)
            }
        }
    }
}
