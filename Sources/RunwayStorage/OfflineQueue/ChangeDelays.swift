import Foundation

/// Decides for which scope (an account of a service) a queue waits until the app has received the events that it
/// missed. The changes of all other scopes are sent without this delay. A pure state machine.
struct ChangeDelays: SendPolicy {
    private struct Delay: Sendable {
        let scope: String
        let limit: Duration
        /// The end of the delay; `nil` while the changes of the account could not be sent in any case.
        var end: Duration?
    }

    /// The delays, by the id of the object that asked for the delay (the owner). An owner delays one scope at a time.
    private var delays: [UUID: Delay] = [:]
    /// Whether a flush is in progress. Delays are ignored then, since the app may be suspended before they end.
    private var isFlushing = false

    /// Delays the changes of a scope (an account of a service) from the time at which they could be sent. Does nothing
    /// if the owner delays the scope already. Ends the owner's delay of another scope.
    ///
    /// - Parameter limit: The maximum delay; `nil` ends the delay of the owner for any scope.
    /// - Returns: Whether a delay has ended.
    @discardableResult
    mutating func delay(_ scope: String, owner: UUID, upTo limit: Duration?) -> Bool {
        let former = delays[owner]
        if limit != nil, former?.scope == scope { return false }
        delays[owner] = limit.map { Delay(scope: scope, limit: $0) }
        return former != nil
    }

    /// Restarts the delays after a failed attempt, and when a network returns.
    mutating func note(_ event: SendEvent) {
        switch event {
        case .networkReturned: for owner in delays.keys { delays[owner]?.end = nil }
        case .ended(let scope, .failed):
            for (owner, delay) in delays where delay.scope == scope { delays[owner]?.end = nil }
        case .flushing(let isFlushing): self.isFlushing = isFlushing
        case .prompted, .ended: break
        }
    }

    /// Returns the scope itself. A scope is an account of a service, and the pause that a service asks for applies only
    /// to this account of this service.
    func server(of scope: String) -> String { scope }

    /// Returns the end of the delays of a scope (an account of a service). A delay that began while nobody was signed
    /// in now belongs to the account of this scope.
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
