import Foundation
import HTTPTypes
import Runway

/// A flight record for programs. Times are in seconds, and those of steps count from the call.
struct FlightReport: Encodable, Sendable {
    let id: UInt64
    let service: String
    let endpoint: String
    /// When the call was asked for, in RFC 3339.
    let date: String
    let seconds: Double
    /// What became of the call, in one word.
    let outcome: String
    let error: ErrorReport?
    let source: String?
    let decisions: [Decision]
    let attempts: [Attempt]

    struct Decision: Encodable, Sendable {
        let at: Double
        let step: String
        let decision: String
    }

    struct Attempt: Encodable, Sendable {
        let method: String
        let url: String
        let headers: [[String]]
        let requestByteCount: Int?
        let start: Double
        let end: Double?
        let httpVersion: String?
        let status: Int?
        let responseHeaders: [[String]]?
        let responseByteCount: Int?
        let failure: String?
    }

    init(_ record: FlightRecord) {
        id = record.id.number
        service = record.service
        endpoint = record.endpoint
        date = record.date.formatted(Date.ISO8601FormatStyle(includingFractionalSeconds: true))
        seconds = record.duration.inSeconds
        outcome = record.outcome.name
        error = if case .failed(let error) = record.outcome { ErrorReport(error) } else { nil }
        source = record.source?.rawValue
        decisions = record.decisions.map {
            Decision(at: $0.elapsed.inSeconds, step: "\($0.step)", decision: "\($0.decision)")
        }
        attempts = record.attempts.map { attempt in
            Attempt(
                method: attempt.method.rawValue, url: attempt.url, headers: attempt.headerFields.pairs,
                requestByteCount: attempt.requestByteCount, start: attempt.start.inSeconds,
                end: attempt.end?.inSeconds, httpVersion: attempt.httpVersion, status: attempt.status?.code,
                responseHeaders: attempt.responseHeaderFields?.pairs, responseByteCount: attempt.responseByteCount,
                failure: attempt.failure)
        }
    }
}

/// An error for programs.
struct ErrorReport: Encodable, Sendable {
    /// What happened, as ``NetworkError/Kind`` names it.
    let kind: String
    /// The step of the call in which it arose.
    let step: String
    /// One sentence.
    let message: String
    let status: Int?
    let host: String?
    /// Which attempt failed, counted from 1; 0 if nothing was sent.
    let attempt: Int

    init(_ error: NetworkError) {
        // The value that a case carries is no part of its name.
        kind = String("\(error.kind)".prefix { $0 != "(" })
        step = "\(error.step)"
        message = error.description
        status = error.status?.code
        host = error.host
        attempt = error.attempt
    }
}

extension Encodable {
    /// The value as indented JSON with its names in order, and a line feed.
    func jsonText() throws -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        return String(decoding: try encoder.encode(self), as: UTF8.self) + "\n"
    }
}

extension HTTPFields {
    /// Every field as its name and its value, in order.
    var pairs: [[String]] { map { [$0.name.rawName, $0.value] } }
}

extension Duration {
    /// The duration in seconds, to the microsecond.
    var inSeconds: Double {
        let microseconds = components.seconds * 1_000_000 + components.attoseconds / 1_000_000_000_000
        return Double(microseconds) / 1e6
    }
}
