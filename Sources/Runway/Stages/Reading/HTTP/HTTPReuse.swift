import HTTPTypes

/// Why a stale response was used.
package enum StaleReason: String, Sendable, Hashable {
    /// The request accepts it (`max-stale`, or ``CacheUse/onlyIfCached``).
    case requestAllows = "the request accepts it"
    /// The response allows it while a fresh one is fetched (`stale-while-revalidate`).
    case whileRevalidating = "while a fresh one is fetched"
    /// The response allows it (`stale-while-revalidate`), and the request allows nothing to be sent (`only-if-cached`).
    case responseAllows = "the response allows it"
    /// No fresh one could be had, and request or response allow it then (`stale-if-error`).
    case afterError = "no fresh one could be had"
    /// The origin could not be reached.
    case disconnected = "the origin could not be reached"
}

/// How one stored response may be used for one request (RFC 9111 §4).
enum HTTPReuse: Sendable, Equatable {
    /// It may be returned as it is; it stays fresh for so long.
    case fresh(remaining: Duration)
    /// It may be returned although it is stale by so much.
    case stale(by: Duration, StaleReason)
    /// It has to be validated; `nil` if it is not stale.
    case validate(staleBy: Duration?)

    init(_ stored: StoredResponse, for request: RequestDirectives, at now: Duration) {
        let response = stored.directives
        let age = stored.age(at: now)
        let remaining = stored.lifetime - age
        let staleBy: Duration? = remaining > .zero ? nil : .zero - remaining
        if stored.isInvalidated || response.isNoCache || request.isNoCache {
            self = .validate(staleBy: staleBy)
            return
        }
        // What does not change while it is fresh needs no validation, even if the caller wants a younger one (RFC 8246 §2).
        if staleBy == nil, response.isImmutable, request.minFresh == nil {
            self = .fresh(remaining: remaining)
            return
        }
        // By how much it is older than the request wants. A wish for no age at all is a wish for validation.
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

    /// By how much a stored answer that has to be validated is stale, where it may be given because that can't be done; `nil` where it
    /// may not.
    ///
    /// Nothing that forbids its stale use may be there (RFC 9111 §4.2.4). A server that answers with an error is no permission by
    /// itself; an origin that can't be reached is one, unless a limit was set (RFC 5861 §4).
    static func afterFailure(
        _ stored: StoredResponse, for request: RequestDirectives, isDisconnected: Bool, at now: Duration
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
