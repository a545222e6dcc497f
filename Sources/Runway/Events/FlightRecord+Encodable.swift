import Foundation
import HTTPTypes

/// Encodes a record for programs. Times are in seconds, rounded to microseconds. The times of steps are counted from
/// the start of the call. Unknown values are omitted.
extension FlightRecord: Encodable {
    /// Encodes the record as one object.
    public func encode(to encoder: any Encoder) throws { try Form(self).encode(to: encoder) }

    private struct Form: Encodable {
        let id: UInt64
        let network: String
        let service: String
        let endpoint: String
        /// The date of the call in the format of RFC 3339.
        let date: String
        let seconds: Double
        /// The parameters, encoded like a URL query so that programs can parse them.
        let parameters: String
        /// The parameters that were sent, encoded like a URL query.
        let sentParameters: String?
        let outcome: String
        /// The number of the call that was already in flight, if this call joined it or was ignored.
        let running: UInt64?
        /// The identifier of the stored change, if the call was stored.
        let queuedChange: UUID?
        let error: NetworkError?
        let source: String?
        let decisions: [DecisionForm]
        let attempts: [AttemptForm]

        init(_ record: FlightRecord) {
            id = record.id.number
            network = record.network
            service = record.service
            endpoint = record.endpoint
            date = record.date.formatted(Date.ISO8601FormatStyle(includingFractionalSeconds: true))
            seconds = record.duration.roundedSeconds
            parameters = (try? QueryStyle.default.text(record.parameters)) ?? ""
            sentParameters = record.sentParameters.flatMap { try? QueryStyle.default.text($0) }
            outcome = record.outcome.name
            running = record.outcome.runningFlight?.number
            queuedChange = record.outcome.queuedChange
            error = record.outcome.error
            source = record.source?.name
            decisions = record.decisions.map(DecisionForm.init)
            attempts = record.attempts.map(AttemptForm.init)
        }
    }

    private struct DecisionForm: Encodable {
        let at: Double
        let step: String
        /// The stable name of the decision.
        let name: String
        let fields: [String: String]?
        /// The decision in a few words.
        let decision: String

        init(_ decision: Decision) {
            at = decision.elapsed.roundedSeconds
            step = "\(decision.step)"
            let entry = decision.decision.entry
            name = entry.name
            fields = entry.fields.isEmpty ? nil : entry.fields
            self.decision = entry.text
        }
    }

    private struct AttemptForm: Encodable {
        let method: String
        let url: String
        /// Pairs of name and value in order. The pairs are in an array, because a name may occur more than once.
        let headers: [[String]]
        let requestByteCount: Int?
        let start: Double
        let end: Double?
        let httpVersion: String?
        let status: Int?
        let responseHeaders: [[String]]?
        let responseByteCount: Int?
        let failure: String?
        let wire: WireForm?

        init(_ attempt: Attempt) {
            method = attempt.method.rawValue
            url = attempt.url
            headers = attempt.headerFields.pairs
            requestByteCount = attempt.requestByteCount
            start = attempt.start.roundedSeconds
            end = attempt.end?.roundedSeconds
            httpVersion = attempt.httpVersion
            status = attempt.status?.code
            responseHeaders = attempt.responseHeaderFields?.pairs
            responseByteCount = attempt.responseByteCount
            failure = attempt.failure
            wire = attempt.wire.map(WireForm.init)
        }
    }

    private struct DialForm: Encodable {
        let address: String
        let start: Double
    }

    private struct WireForm: Encodable {
        private struct WireField: CodingKey, ExpressibleByStringLiteral {
            let stringValue: String
            var intValue: Int? { nil }

            init(stringLiteral name: String) { stringValue = name }
            init(stringValue: String) { self.stringValue = stringValue }
            init?(intValue: Int) { nil }
        }

        private let wire: WireRecord

        init(_ wire: WireRecord) { self.wire = wire }

        func encode(to encoder: any Encoder) throws {
            var form = encoder.container(keyedBy: WireField.self)
            try form.encodeIfPresent(wire.isReused, forKey: "isReused")
            if wire.moveCount > 0 { try form.encode(wire.moveCount, forKey: "moveCount") }
            try form.encodeIfPresent(wire.address, forKey: "address")
            let dialed = wire.dialed.map { DialForm(address: $0.address, start: $0.start.roundedSeconds) }
            if !dialed.isEmpty { try form.encode(dialed, forKey: "dialed") }
            try form.encodeIfPresent(wire.tlsVersion, forKey: "tlsVersion")
            for (name, time) in WireRecord.phases {
                try form.encodeIfPresent(wire[keyPath: time]?.roundedSeconds, forKey: WireField(stringValue: name))
            }
            try form.encodeIfPresent(wire.sentByteCount, forKey: "sentByteCount")
            try form.encodeIfPresent(wire.receivedByteCount, forKey: "receivedByteCount")
            if !wire.informationalStatuses.isEmpty {
                try form.encode(wire.informationalStatuses, forKey: "informationalStatuses")
            }
        }
    }
}

extension NetworkError: Encodable {
    /// Encodes the error as one object with the members `kind`, `step`, `message` and `attempt`. If known, it also
    /// contains `status`, `host` and `retryAfter` in seconds.
    public func encode(to encoder: any Encoder) throws { try Form(self).encode(to: encoder) }

    private struct Form: Encodable {
        let kind: String
        let step: String
        let message: String
        let status: Int?
        let host: String?
        /// The number of the failed attempt, counted from 1; 0 if nothing was sent.
        let attempt: Int
        let retryAfter: Double?

        init(_ error: NetworkError) {
            kind = error.kind.name
            step = "\(error.step)"
            message = "\(error)"
            status = error.status?.code
            host = error.host
            attempt = error.attempt
            retryAfter = error.retryAfter?.roundedSeconds
        }
    }
}

extension HTTPFields {
    fileprivate var pairs: [[String]] { map { [$0.name.rawName, $0.value] } }
}
