import HTTPTypes

/// The freshness lifetime and the age of a response (RFC 9111 §4.2).
enum HTTPFreshness {
    /// The longest heuristic freshness lifetime: a day.
    static var maximumHeuristicLifetime: Duration { .seconds(86_400) }

    /// Returns the freshness lifetime of a response (RFC 9111 §4.2.1, §4.2.2).
    ///
    /// - Parameters:
    ///   - response: The response.
    ///   - directives: The response's `Cache-Control` directives.
    ///   - received: The date of receipt, which replaces a missing date of the response.
    static func lifetime(
        of response: HTTPResponse, _ directives: ResponseDirectives, received: HTTPDate
    ) -> (duration: Duration, isHeuristic: Bool) {
        if let maxAge = directives.maxAge { return (maxAge, false) }
        let fields = response.headerFields
        let date = fields[.date].flatMap { HTTPDate($0, now: received) } ?? received
        let expires = fields[values: .expires]
        if let first = expires.first {
            // Two that differ can't both be right; an invalid date has passed (RFC 9111 §5.3).
            guard expires.allSatisfy({ $0 == first }), let expiry = HTTPDate(first, now: received) else {
                return (.zero, false)
            }
            return (max(.zero, expiry.since(date)), false)
        }
        guard response.status.isHeuristicallyCacheable || directives.isPublic || directives.isPrivate,
            let modified = fields[.lastModified].flatMap({ HTTPDate($0, now: received) })
        else { return (.zero, true) }
        // A tenth of the time for which it had not changed when it was sent.
        return (min(max(.zero, date.since(modified) / 10), maximumHeuristicLifetime), true)
    }

    /// Returns the age of a response when it was received (RFC 9111 §4.2.3).
    ///
    /// - Parameters:
    ///   - fields: The fields of the response.
    ///   - delay: The time from its request to its receipt, on a monotonic clock.
    ///   - received: The date of receipt, on the wall clock.
    static func initialAge(_ fields: HTTPFields, delay: Duration, received: HTTPDate) -> Duration {
        let date = fields[.date].flatMap { HTTPDate($0, now: received) } ?? received
        let apparentAge = max(.zero, received.since(date))
        return max(apparentAge, age(fields) + max(.zero, delay))
    }

    /// Returns the value of the `Age` field: its first member, zero if that is not a number (RFC 9111 §5.1).
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

    /// Whether the cache implements all that the status requires of caches, for `must-understand` (RFC 9111 §3).
    ///
    /// The statuses of RFC 9110 §15 that require nothing special of caches.
    var isUnderstood: Bool {
        switch code {
        case 200...206, 300...303, 305, 307, 308, 400...411, 413...415, 417, 421, 422, 426, 500...505: true
        default: false
        }
    }
}
