import Synchronization

/// Limits how often a token is renewed while the service refuses tokens that it has just issued.
///
/// A renewal is futile if the service refuses the new token without having accepted it before. Each futile renewal
/// doubles the delay before the next one, so that not every refused call causes a renewal. If an endpoint refuses
/// tokens that other endpoints accept, ``EndpointBackoffs`` limits the renewals that it causes.
struct RenewalBackoff: Sendable {
    /// The delays after futile renewals. They are not random, because no other client renews the same token.
    static let delays = Backoff(base: .seconds(1), longest: .seconds(60), certainPart: 1)

    /// The number of consecutive futile renewals.
    private var futileCount = 0
    private var lastRenewal: Duration?

    /// Records that the service refused a token.
    mutating func refused(_ held: HeldToken, at now: Duration) {
        if held.acceptance.isAccepted {
            futileCount = 0
        } else if lastRenewal != nil {
            futileCount += 1
        }
    }

    /// Records a renewal that only one endpoint causes, while other endpoints accept the token.
    mutating func renewing(at now: Duration) { (futileCount, lastRenewal) = (futileCount + 1, now) }

    /// Returns the backoff that applies after a renewal.
    func renewed(at now: Duration) -> RenewalBackoff {
        var backoff = self
        backoff.lastRenewal = now
        return backoff
    }

    /// Returns the time for which the next renewal must wait, or `nil` if it need not wait.
    func delay(at now: Duration) -> Duration? {
        guard futileCount > 0, let lastRenewal else { return nil }
        let end = lastRenewal + Self.delays.bound(after: futileCount)
        return end > now ? end - now : nil
    }
}

/// Limits how often an endpoint causes futile renewals while other endpoints accept the tokens.
///
/// An endpoint that refuses every token would otherwise cause a renewal with each of its calls. An endpoint is
/// remembered from the renewal that it causes until it accepts a renewed token.
struct EndpointBackoffs: Sendable {
    /// The maximum number of remembered endpoints for an account. While that many are delayed, no other endpoint causes
    /// a renewal.
    static let maximumCount = 32

    private var backoffs: [(endpoint: ObjectIdentifier, backoff: RenewalBackoff)] = []

    /// Records that the endpoint causes a renewal. ``isTooSoon(for:at:)`` must be `false`.
    mutating func renewing(for endpoint: any Endpoint.Type, at now: Duration) {
        var known = remove(endpoint) ?? RenewalBackoff()
        known.renewing(at: now)
        if backoffs.count == Self.maximumCount,
            let index = backoffs.firstIndex(where: { $0.backoff.delay(at: now) == nil })
        {
            backoffs.remove(at: index)
        }
        backoffs.append((ObjectIdentifier(endpoint), known))
    }

    /// Records that the endpoint accepted a renewed token.
    mutating func accepted(_ endpoint: any Endpoint.Type) { _ = remove(endpoint) }

    /// Returns whether it is too soon for another renewal, because the last one did not help this endpoint.
    func isTooSoon(for endpoint: any Endpoint.Type, at now: Duration) -> Bool {
        if let known = backoffs.first(where: { $0.endpoint == ObjectIdentifier(endpoint) }) {
            return known.backoff.delay(at: now) != nil
        }
        return backoffs.count == Self.maximumCount && backoffs.allSatisfy { $0.backoff.delay(at: now) != nil }
    }

    private mutating func remove(_ endpoint: any Endpoint.Type) -> RenewalBackoff? {
        backoffs.firstIndex { $0.endpoint == ObjectIdentifier(endpoint) }.map { backoffs.remove(at: $0).backoff }
    }
}

/// Records whether the service has accepted a token. All copies of the token share it.
final class TokenAcceptance: Sendable {
    private let state = Atomic(false)

    var isAccepted: Bool { state.load(ordering: .relaxed) }

    /// Records that the service accepted the token. It writes only the first time, because every call runs this code.
    func accept() {
        if !isAccepted { state.store(true, ordering: .relaxed) }
    }
}
