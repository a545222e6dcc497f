import Foundation

/// Decides which scope of a queue waits for events that the app has missed. Pure. Every other scope with changes is
/// due.
struct ChangeDelays: SendPolicy {
    private struct Delay: Sendable {
        let scope: String
        let limit: Duration
        /// The end of the delay; `nil` while the scope could not send anyway.
        var end: Duration?
    }

    /// The delays by their owners. An owner delays one scope at a time.
    private var delays: [UUID: Delay] = [:]
    /// Whether a flush is under way. Delays have no effect then: the app may be suspended before they end.
    private var isFlushing = false

    /// Delays a scope, once it could send, unless the owner delays it already. A delay of another scope by the same
    /// owner ends.
    ///
    /// - Parameter limit: The longest delay; `nil` ends the delay of the owner, whichever scope it is for.
    /// - Returns: Whether a delay has ended.
    @discardableResult
    mutating func delay(_ scope: String, owner: UUID, upTo limit: Duration?) -> Bool {
        let former = delays[owner]
        if limit != nil, former?.scope == scope { return false }
        delays[owner] = limit.map { Delay(scope: scope, limit: $0) }
        return former != nil
    }

    /// Makes delays begin anew after an attempt that failed, and when a network comes back.
    mutating func note(_ event: SendEvent) {
        switch event {
        case .networkReturned: for owner in delays.keys { delays[owner]?.end = nil }
        case .ended(let scope, .failed):
            for (owner, delay) in delays where delay.scope == scope { delays[owner]?.end = nil }
        case .flushing(let isFlushing): self.isFlushing = isFlushing
        case .prompted, .ended: break
        }
    }

    /// Returns the scope itself. Scopes are accounts of services: a pause that one service asks for applies to no other
    /// service, and to no other account.
    func server(of scope: String) -> String { scope }

    /// Returns the end of the delays of a scope. A delay that began while no account was signed in is for the account
    /// of the scope from now on.
    mutating func start(of scope: String, from earliest: Duration, isSuspected: Bool, at now: Duration) -> Duration? {
        if earliest > now || isFlushing || delays.isEmpty { return earliest }
        let former = ChangeScope(scope)?.ofNobody.text
        var latest = earliest
        for (owner, delay) in delays where delay.scope == scope || delay.scope == former {
            let end = delay.end ?? now + delay.limit
            delays[owner] = Delay(scope: scope, limit: delay.limit, end: end)
            latest = max(latest, end)
        }
        return latest
    }
}
