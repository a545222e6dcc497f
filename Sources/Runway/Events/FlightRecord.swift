public import HTTPTypes
public import ServiceContextModule

public import struct Foundation.Date

/// Describes one call: its parameters, the decisions of the stages with their reasons, the requests that were sent, and
/// the outcome.
///
/// The layer's ``Redaction`` removes secrets and bodies before a sink receives the record.
///
/// ```swift
/// let record = records[0]
/// #expect(record.outcome.kind == .succeeded)
/// #expect(record.attempts.count == 2)
/// #expect(record.decisions.contains { $0.name == "retried" })
/// ```
public struct FlightRecord: Sendable, Identifiable {
    /// The number of the call in its layer.
    public var id: FlightID
    /// The name of the layer that made the call.
    public var network: String
    /// The name of the called service.
    public var service: String
    /// The name of the called endpoint type.
    public var endpoint: String
    /// The date at which the call was made.
    public var date: Date
    /// The time from the start of the call to the delivery of its response or error.
    public var duration: Duration
    /// The parameters as the caller passed them; empty if there were none.
    public var parameters: Parameters
    /// The complete parameters that were sent, including the common parameters and all changes by the endpoint and
    /// interceptors. `nil` if the call ended before its parameters were complete.
    public var sentParameters: Parameters?
    /// The decisions of the stages and the manager, in order.
    public var decisions: [Decision]
    /// The requests that were passed to the transport, in order, with their responses.
    public var attempts: [Attempt]
    /// The source of the response; `nil` if the call has no response.
    public var source: ResponseSource?
    /// The outcome of the call.
    public var outcome: FlightOutcome
    /// Whether this record replaces an earlier record of the same call. The default is `false`.
    public var isAmendment = false
    /// The tracing context in which the call was made; `nil` if the call is not traced.
    public var traceContext: ServiceContext?

    /// One decision of a stage, with the time at which it was made.
    ///
    /// ```swift
    /// let isRetried = record.decisions.contains { $0.step == .retrying && $0.name == "retried" }
    /// ```
    public struct Decision: Sendable, CustomStringConvertible {
        /// The time from the start of the call to the decision.
        public var elapsed: Duration
        /// The step in which the decision was made.
        public var step: FlightStep
        /// The name of the decision in one word. It does not change between releases.
        public var name: String { decision.entry.name }
        /// The values that belong to the decision, by name. Durations are in seconds.
        public var fields: [String: String] { decision.entry.fields }
        /// The decision in a few words, for readers. The text may change with any release.
        public var description: String { decision.entry.text }
        package var decision: any StageDecision
    }

    /// One request that was passed to the transport. An unknown time or size is `nil`, never 0.
    public struct Attempt: Sendable {
        /// The HTTP method of the request.
        public var method: HTTPRequest.Method
        /// The absolute URL of the request.
        public var url: String
        /// The header fields that Runway sent. The transport may have added others.
        public var headerFields: HTTPFields
        /// The size of the request body in bytes.
        public var requestByteCount: Int?
        /// The request body if ``Redaction/recordsBodies`` is set; otherwise `nil`.
        public var requestBody: [UInt8]?
        /// The time from the start of the call until this request was passed to the transport.
        public var start: Duration
        /// The time from the start of the call to the end of this attempt.
        public var end: Duration?
        /// The status of the response; `nil` if no response was received.
        public var status: HTTPResponse.Status?
        /// The header fields of the response; `nil` if no response was received.
        public var responseHeaderFields: HTTPFields?
        /// The size of the response body in bytes, after content codings were removed.
        public var responseByteCount: Int?
        /// The response body if ``Redaction/recordsBodies`` is set; otherwise `nil`.
        public var responseBody: [UInt8]?
        /// The HTTP version of the attempt; `nil` if the transport does not report it.
        public var httpVersion: String?
        /// The transport's measurements; `nil` if the transport reports none.
        public var wire: WireRecord?
        /// The reason why no response was received; `nil` if a response was received.
        public var failure: String?
    }

    package func decisions<D: StageDecision>(of type: D.Type) -> [D] { decisions.compactMap { $0.decision as? D } }
}
