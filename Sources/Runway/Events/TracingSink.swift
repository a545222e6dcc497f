import Foundation
import HTTPTypes
public import Tracing

/// Creates a span for every record (swift-distributed-tracing), as a child of the span in which the call was made.
///
/// The span has the times of the call, an event for every request, and the attributes of the OpenTelemetry conventions
/// for HTTP clients. A transport with tracing, such as AsyncHTTPClient, adds its own spans for the requests and
/// propagates the context to the server.
///
/// ```swift
/// import Tracing
///
/// InstrumentationSystem.bootstrap(tracer)  // once, at launch: the tracer of the app's tracing backend
/// let network = NetworkLayer(transport: transport, sinks: [TracingSink()])
/// ```
public struct TracingSink: EventSink {
    private let tracer: any Tracer

    /// Creates a sink that sends spans to `tracer`. The default is the tracer that the process was bootstrapped with.
    public init(tracer: any Tracer = InstrumentationSystem.tracer) {
        self.tracer = tracer
    }

    /// Creates the span of one record. Skips a record that replaces an earlier record of the same call, because the
    /// call's span has ended.
    public func receive(_ record: FlightRecord) {
        if record.isAmendment { return }
        let span = tracer.startSpan(
            "\(record.service) \(record.endpoint)",
            context: record.traceContext ?? .topLevel, ofKind: .client,
            at: SpanInstant(record, after: .zero), function: #function, file: #fileID, line: #line)
        span.attributes["runway.network"] = record.network
        span.attributes["runway.flight"] = Int64(clamping: record.id.number)
        span.attributes["runway.outcome"] = record.outcome.name
        if let last = record.attempts.last {
            span.attributes["http.request.method"] = last.method.rawValue
            span.attributes["url.full"] = last.url
            if let origin = last.origin {
                span.attributes["server.address"] = origin.address
                span.attributes["server.port"] = origin.port
            }
            if let status = last.status { span.attributes["http.response.status_code"] = status.code }
        }
        for attempt in record.attempts {
            span.addEvent(SpanEvent(name: "request", at: SpanInstant(record, after: attempt.start)))
        }
        if let error = record.outcome.error {
            // The OpenTelemetry conventions require the status as the error type if the status is the reason for the
            // failure.
            let status = error.status.flatMap { $0.code >= 400 ? "\($0.code)" : nil }
            span.attributes["error.type"] = status ?? error.kind.name
            span.recordError(error, attributes: [:], at: SpanInstant(record, after: record.duration))
            span.setStatus(SpanStatus(code: .error, message: "\(error)"))
        }
        span.end(at: SpanInstant(record, after: record.duration))
    }
}

extension FlightRecord.Attempt {
    /// The origin of the request; `nil` if the URL has none.
    fileprivate var origin: Origin? {
        guard let mark = url.firstRange(of: "://") else { return nil }
        let authority = url[mark.upperBound...].prefix { $0 != "/" && $0 != "?" && $0 != "#" }
        if authority.isEmpty { return nil }
        return Origin(
            HTTPRequest(
                method: method, scheme: String(url[..<mark.lowerBound]), authority: String(authority), path: nil))
    }
}

extension Origin {
    /// The host's name or address; an IPv6 address is without brackets.
    fileprivate var address: String { host.hasPrefix("[") ? String(host.dropFirst().dropLast()) : host }
}

private struct SpanInstant: TracerInstant {
    let nanosecondsSinceEpoch: UInt64

    init(_ record: FlightRecord, after elapsed: Duration) {
        let seconds = record.date.timeIntervalSince1970 + elapsed.seconds
        nanosecondsSinceEpoch = UInt64(max(0, min(seconds * 1e9, Double(UInt64.max / 2))))
    }

    static func < (lhs: SpanInstant, rhs: SpanInstant) -> Bool {
        lhs.nanosecondsSinceEpoch < rhs.nanosecondsSinceEpoch
    }
}
