import Synchronization

/// Limits how often a token is renewed while the service refuses tokens that it has just issued.
///
/// A renewal is futile if the service refuses the new token before it has accepted it once. Each futile renewal doubles the delay before
/// the next one, so that refused calls can't cause one renewal each.
struct TokenTrials: Sendable {
    /// The wait after the first renewal in vain.
    static let firstDelay = Duration.seconds(1)
    /// The longest wait.
    static let maximumDelay = Duration.seconds(60)

    /// How many of the last renewals were in vain, one after the other.
    private var vainCount = 0
    private var lastRenewal: Duration?

    /// The service refused a token.
    mutating func refused(_ held: HeldToken, at now: Duration) {
        if held.acceptance.isAccepted {
            vainCount = 0
        } else if lastRenewal != nil {
            vainCount += 1
        }
    }

    /// The trials after another renewal.
    func renewed(at now: Duration) -> TokenTrials {
        var trials = self
        trials.lastRenewal = now
        return trials
    }

    /// How long the next renewal has to wait; `nil` if it need not.
    func delay(at now: Duration) -> Duration? {
        guard vainCount > 0, let lastRenewal else { return nil }
        let delay = min(Self.firstDelay * (1 << min(vainCount - 1, 6)), Self.maximumDelay)
        let end = lastRenewal + delay
        return end > now ? end - now : nil
    }
}

/// Whether the service has accepted a token, shared by all copies of it.
final class TokenAcceptance: Sendable {
    private let state = Atomic(false)

    var isAccepted: Bool { state.load(ordering: .relaxed) }

    /// Notes that the service accepted the token. Written once, since every call comes by here.
    func accept() {
        if !isAccepted { state.store(true, ordering: .relaxed) }
    }
}
