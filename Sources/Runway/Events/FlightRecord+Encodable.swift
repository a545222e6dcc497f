import Foundation
import HTTPTypes

/// A record for programs: times in seconds, sizes in bytes, what is not known left out.
extension FlightRecord: Encodable {
    private enum Key: String, CodingKey {
        case id, network, service, endpoint, date, duration, parameters, decisions, attempts, source, outcome, error,
            running
        case elapsed, step, decision
        case method, url, headers, requestBytes, start, end, status, responseHeaders, responseBytes, httpVersion,
            failure
        case kind, message, host, attempt
    }

    /// Encodes the record as one object.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: Key.self)
        try container.encode(id.number, forKey: .id)
        try container.encode(network, forKey: .network)
        try container.encode(service, forKey: .service)
        try container.encode(endpoint, forKey: .endpoint)
        try container.encode(date.formatted(.iso8601), forKey: .date)
        try container.encode(duration.seconds, forKey: .duration)
        // The same text as in a query, which every reader of the record knows.
        try container.encode((try? QueryStyle.default.text(parameters)) ?? "", forKey: .parameters)
        try container.encodeIfPresent(source?.rawValue, forKey: .source)
        try container.encode(outcome.name, forKey: .outcome)
        if case .ignored(let running) = outcome { try container.encode(running.number, forKey: .running) }
        if let error = outcome.error { try Self.encode(error, to: &container) }

        var decided = container.nestedUnkeyedContainer(forKey: .decisions)
        for decision in decisions {
            var entry = decided.nestedContainer(keyedBy: Key.self)
            try entry.encode(decision.elapsed.seconds, forKey: .elapsed)
            try entry.encode("\(decision.step)", forKey: .step)
            try entry.encode("\(decision.decision)", forKey: .decision)
        }
        var tried = container.nestedUnkeyedContainer(forKey: .attempts)
        for attempt in attempts {
            var entry = tried.nestedContainer(keyedBy: Key.self)
            try Self.encode(attempt, to: &entry)
        }
    }

    private static func encode(_ attempt: Attempt, to entry: inout KeyedEncodingContainer<Key>) throws {
        try entry.encode(attempt.method.rawValue, forKey: .method)
        try entry.encode(attempt.url, forKey: .url)
        try entry.encode(attempt.headerFields.pairs, forKey: .headers)
        try entry.encodeIfPresent(attempt.requestByteCount, forKey: .requestBytes)
        try entry.encode(attempt.start.seconds, forKey: .start)
        try entry.encodeIfPresent(attempt.end?.seconds, forKey: .end)
        try entry.encodeIfPresent(attempt.status?.code, forKey: .status)
        try entry.encodeIfPresent(attempt.responseHeaderFields?.pairs, forKey: .responseHeaders)
        try entry.encodeIfPresent(attempt.responseByteCount, forKey: .responseBytes)
        try entry.encodeIfPresent(attempt.httpVersion, forKey: .httpVersion)
        try entry.encodeIfPresent(attempt.failure, forKey: .failure)
    }

    private static func encode(_ error: NetworkError, to container: inout KeyedEncodingContainer<Key>) throws {
        var entry = container.nestedContainer(keyedBy: Key.self, forKey: .error)
        try entry.encode(error.kind.name, forKey: .kind)
        try entry.encode("\(error.step)", forKey: .step)
        try entry.encode("\(error)", forKey: .message)
        try entry.encodeIfPresent(error.host, forKey: .host)
        try entry.encode(error.attempt, forKey: .attempt)
        try entry.encodeIfPresent(error.status?.code, forKey: .status)
    }
}

extension FlightOutcome {
    /// The error that the call failed with, if it did.
    public var error: NetworkError? {
        if case .failed(let error) = self { error } else { nil }
    }
}

extension NetworkError.Kind {
    /// The kind in one word, without what it carries.
    public var name: String {
        if case .service = self { "service" } else { "\(self)" }
    }
}

extension HTTPFields {
    /// Names and values in order, since a name may stand more than once.
    fileprivate var pairs: [[String]] { map { [$0.name.rawName, $0.value] } }
}
