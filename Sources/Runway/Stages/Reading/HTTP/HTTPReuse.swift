import HTTPTypes

package enum StaleReason: String, Sendable, Hashable {
    /// The request accepts a stale response (`max-stale`, or ``CacheUse/onlyIfCached``).
    case requestAllows = "the request accepts it"
    /// The response allows its stale use while a fresh response is fetched (`stale-while-revalidate`).
    case whileRevalidating = "while a fresh one is fetched"
    /// The response allows its stale use (`stale-while-revalidate`), and the request forbids contacting the origin
    /// (`only-if-cached`).
    case responseAllows = "the response allows it"
    /// No fresh response is available, and the request or the response then allows a stale response (`stale-if-error`).
    case afterError = "no fresh one is available"
    /// The origin could not be reached.
    case disconnected = "the origin could not be reached"
}

/// The way in which a request may use a stored response (RFC 9111 §4).
enum HTTPReuse: Sendable, Equatable {
    /// The response may be returned without validation. It is still fresh for `remaining`.
    case fresh(remaining: Duration)
    /// The response may be returned although it has been stale for this long.
    case stale(by: Duration, StaleReason)
    /// The response must be validated. `staleBy` is the time for which it has been stale; `nil` if it is fresh.
    case validate(staleBy: Duration?)

    init(_ stored: HTTPStoredResponse, for request: RequestDirectives, at now: Duration) {
        let response = stored.directives
        let age = stored.age(at: now)
        let remaining = stored.lifetime - age
        let staleBy: Duration? = remaining > .zero ? nil : .zero - remaining
        if stored.isInvalidated || response.isNoCache || request.isNoCache {
            self = .validate(staleBy: staleBy)
            return
        }
        // An immutable response needs no validation while it is fresh, even if the caller requests a younger one (RFC
        // 8246 §2).
        if staleBy == nil, response.isImmutable, request.minFresh == nil {
            self = .fresh(remaining: remaining)
            return
        }
        // The time by which the response exceeds the age that the request allows. `max-age=0` requires validation.
        let tooOldBy = request.maxAge.flatMap { $0 == .zero || age > $0 ? age - $0 : nil }
        let freshTooShortBy = request.minFresh.flatMap { remaining < $0 ? $0 - remaining : nil }
        let excess = [staleBy, tooOldBy, freshTooShortBy].compactMap { $0 }.max()
        guard let excess else {
            self = .fresh(remaining: remaining)
            return
        }
        if let maxStale = request.maxStale, excess <= maxStale, staleBy == nil || !response.mustRevalidate {
            self = staleBy.map { .stale(by: $0, .requestAllows) } ?? .fresh(remaining: remaining)
        } else if let staleBy, tooOldBy == nil, freshTooShortBy == nil, !response.mustRevalidate,
            let window = response.staleWhileRevalidate, staleBy <= window
        {
            // If the request forbids contacting the origin, a stale response is used without revalidation (RFC 9111
            // §5.2.1.7).
            self = .stale(by: staleBy, request.isOnlyIfCached ? .responseAllows : .whileRevalidating)
        } else {
            self = .validate(staleBy: staleBy)
        }
    }

    /// Returns how long a stored response has been stale, if it may be returned although it could not be validated;
    /// otherwise `nil`.
    ///
    /// - No directive may forbid the use of stale responses (RFC 9111 §4.2.4).
    /// - If the origin could not be reached, a stale response is allowed, unless a limit was set.
    /// - After an error response of the server, a stale response requires an explicit permission (RFC 5861 §4).
    static func afterFailure(
        _ stored: HTTPStoredResponse, for request: RequestDirectives, isDisconnected: Bool, at now: Duration
    ) -> (staleBy: Duration, reason: StaleReason)? {
        let response = stored.directives
        guard !stored.isInvalidated, !response.isNoCache, !request.isNoCache, !response.mustRevalidate else {
            return nil
        }
        let staleBy = max(.zero, stored.age(at: now) - stored.lifetime)
        let limit = [request.staleIfError, response.staleIfError].compactMap { $0 }.max()
        if let limit { return staleBy <= limit ? (staleBy, .afterError) : nil }
        return isDisconnected && request.maxAge == nil && request.minFresh == nil ? (staleBy, .disconnected) : nil
    }
}
