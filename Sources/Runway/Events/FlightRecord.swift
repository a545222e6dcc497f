public import HTTPTypes
public import ServiceContextModule

public import struct Foundation.Date

/// Describes one call: its parameters, what every stage decided and why, the requests on the wire, and the outcome.
///
/// The layer's ``Redaction`` redacts secrets and bodies before a sink receives the record.
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
    /// The name of the layer.
    public var network: String
    /// The name of the service.
    public var service: String
    /// The name of the endpoint.
    public var endpoint: String
    /// The date at which the call was made.
    public var date: Date
    /// The time from the call to its landing.
    public var duration: Duration
    /// The parameters as the caller passed them; empty if there were none.
    public var parameters: Parameters
    /// The parameters as they were sent, after the endpoint and interceptors completed them, including the common ones;
    /// `nil` if the call ended before that.
    public var sentParameters: Parameters?
    /// The decisions, in order.
    public var decisions: [Decision]
    /// The requests that were passed to the transport, in order, with their responses.
    public var attempts: [Attempt]
    /// The source of the response; `nil` if there was none.
    public var source: ResponseSource?
    /// The outcome of the call.
    public var outcome: FlightOutcome
    /// Whether this record replaces an earlier one of the same call.
    public var isAmendment = false
    /// The trace in which the call was made, if there is one.
    public var traceContext: ServiceContext?

    /// One decision of a stage, and when it was made.
    ///
    /// ```swift
    /// let isRetried = record.decisions.contains { $0.step == .retrying && $0.name == "retried" }
    /// ```
    public struct Decision: Sendable, CustomStringConvertible {
        /// The time since the call was made.
        public var elapsed: Duration
        /// The step that decided.
        public var step: FlightStep
        /// The name of the decision, one word that stays the same from release to release.
        public var name: String { decision.entry.name }
        /// The values that belong to the decision, by their names; durations are in seconds.
        public var fields: [String: String] { decision.entry.fields }
        /// The decision in a few words, for people. The text may change with any release.
        public var description: String { decision.entry.text }
        /// The decision itself.
        package var decision: any StageDecision
    }

    /// One request that was passed to the transport. An unknown time or size is `nil`, never 0.
    public struct Attempt: Sendable {
        /// The method.
        public var method: HTTPRequest.Method
        /// The absolute URL.
        public var url: String
        /// The header fields that Runway sent; the transport may have added its own.
        public var headerFields: HTTPFields
        /// The size of the body of the request.
        public var requestByteCount: Int?
        /// The body of the request, if ``Redaction/recordsBodies`` is set.
        public var requestBody: [UInt8]?
        /// The time from the start of the call until this request was passed to the transport.
        public var start: Duration
        /// The time from the call to the end of this attempt.
        public var end: Duration?
        /// The status of the response.
        public var status: HTTPResponse.Status?
        /// The header fields of the response.
        public var responseHeaderFields: HTTPFields?
        /// The size of the body of the response, with content codings undone.
        public var responseByteCount: Int?
        /// The body of the response, if ``Redaction/recordsBodies`` is set.
        public var responseBody: [UInt8]?
        /// The version of HTTP; `nil` if the transport does not report it.
        public var httpVersion: String?
        /// The measurements of the transport; `nil` if it reports none.
        public var wire: WireRecord?
        /// The reason why there was no response; `nil` if there was one.
        public var failure: String?
    }

    /// Returns the decisions of one type, in order.
    package func decisions<D: StageDecision>(of type: D.Type) -> [D] { decisions.compactMap { $0.decision as? D } }
}
