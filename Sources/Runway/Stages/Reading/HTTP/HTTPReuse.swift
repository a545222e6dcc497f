import HTTPTypes

/// The reason why a stale response was used.
package enum StaleReason: String, Sendable, Hashable {
    /// The request accepts it (`max-stale`, or ``CacheUse/onlyIfCached``).
    case requestAllows = "the request accepts it"
    /// The response allows it while a fresh one is fetched (`stale-while-revalidate`).
    case whileRevalidating = "while a fresh one is fetched"
    /// The response allows it (`stale-while-revalidate`), and the request allows nothing to be sent (`only-if-cached`).
    case responseAllows = "the response allows it"
    /// No fresh response is available, and request or response allow a stale one then (`stale-if-error`).
    case afterError = "no fresh one is available"
    /// The origin could not be reached.
    case disconnected = "the origin could not be reached"
}

/// The use that one request may make of one stored response (RFC 9111 §4).
enum HTTPReuse: Sendable, Equatable {
    /// The response may be returned without validation; it stays fresh for this long.
    case fresh(remaining: Duration)
    /// The response may be returned although it is stale by this much.
    case stale(by: Duration, StaleReason)
    /// The response has to be validated; `nil` if it is not stale.
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
        // A response that does not change while it is fresh needs no validation, even if the caller requests a younger one (RFC
        // 8246 §2).
        if staleBy == nil, response.isImmutable, request.minFresh == nil {
            self = .fresh(remaining: remaining)
            return
        }
        // By how much it is older than the request allows. `max-age=0` requests validation.
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
            // If nothing may be sent, a stale response is used without revalidation (RFC 9111 §5.2.1.7).
            self = .stale(by: staleBy, request.isOnlyIfCached ? .responseAllows : .whileRevalidating)
        } else {
            self = .validate(staleBy: staleBy)
        }
    }

    /// Returns the time by which a stored response is stale that may be returned because it can't be validated; `nil`
    /// if it may not be returned.
    ///
    /// No directive may forbid that the response is used stale (RFC 9111 §4.2.4). An error response of the server does
    /// not permit it by itself; an origin that can't be reached does, unless a limit was set (RFC 5861 §4).
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
