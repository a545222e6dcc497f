import HTTPTypes

/// Computes the freshness lifetime and the age of a response (RFC 9111 §4.2).
enum HTTPFreshness {
    /// The maximum heuristic freshness lifetime: a day.
    static var maximumHeuristicLifetime: Duration { .seconds(86_400) }

    /// Returns the freshness lifetime of a response (RFC 9111 §4.2.1, §4.2.2), and whether it is heuristic.
    ///
    /// - Parameters:
    ///   - response: The response.
    ///   - directives: The response's `Cache-Control` directives.
    ///   - received: The date of receipt, used if the response has no date.
    static func lifetime(
        of response: HTTPResponse, _ directives: ResponseDirectives, received: HTTPDate
    ) -> (duration: Duration, isHeuristic: Bool) {
        if let maxAge = directives.maxAge { return (maxAge, false) }
        let fields = response.headerFields
        let date = fields[.date].flatMap { HTTPDate($0, now: received) } ?? received
        let expires = fields[values: .expires]
        if let first = expires.first {
            // Two different values can't both be right. Such fields, and an invalid date, count as a date in the past
            // (RFC 9111 §5.3).
            guard expires.allSatisfy({ $0 == first }), let expiry = HTTPDate(first, now: received) else {
                return (.zero, false)
            }
            return (max(.zero, expiry.since(date)), false)
        }
        guard response.status.isHeuristicallyCacheable || directives.isPublic || directives.isPrivate,
            let modified = fields[.lastModified].flatMap({ HTTPDate($0, now: received) })
        else { return (.zero, true) }
        // The heuristic lifetime is a tenth of the time for which the resource had not changed before.
        return (min(max(.zero, date.since(modified) / 10), maximumHeuristicLifetime), true)
    }

    /// Returns the age of a response at the time of receipt (RFC 9111 §4.2.3).
    ///
    /// - Parameters:
    ///   - fields: The header fields of the response.
    ///   - delay: The time from its request to its receipt, on a monotonic clock.
    ///   - received: The date of receipt, on the wall clock.
    static func initialAge(_ fields: HTTPFields, delay: Duration, received: HTTPDate) -> Duration {
        let date = fields[.date].flatMap { HTTPDate($0, now: received) } ?? received
        let apparentAge = max(.zero, received.since(date))
        return max(apparentAge, age(fields) + max(.zero, delay))
    }

    /// Returns the first value of the `Age` field; zero if it is not a number (RFC 9111 §5.1).
    static func age(_ fields: HTTPFields) -> Duration {
        guard let first = fields[values: .age].first?.split(separator: ",", omittingEmptySubsequences: false).first
        else { return .zero }
        return FieldList.seconds(first.trimmingWhitespace) ?? .zero
    }
}

extension HTTPResponse.Status {
    /// Whether responses with this status have a heuristic freshness lifetime (RFC 9110 §15.1).
    var isHeuristicallyCacheable: Bool {
        [200, 203, 204, 206, 300, 301, 308, 404, 405, 410, 414, 501].contains(code)
    }

    /// Whether the cache implements everything that the status requires of caches, for `must-understand` (RFC 9111 §3).
    /// It is `true` for the statuses of RFC 9110 §15 that require nothing special.
    var isUnderstood: Bool {
        switch code {
        case 200...206, 300...303, 305, 307, 308, 400...411, 413...415, 417, 421, 422, 426, 500...505: true
        default: false
        }
    }
}
