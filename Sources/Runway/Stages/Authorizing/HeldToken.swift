import Foundation

/// A token in memory, with the time span in which it should be renewed.
struct HeldToken: Sendable {
    let token: AccessToken
    /// A number that increases with every change of any token of the layer.
    let version: UInt64
    /// Records whether the service has accepted the token.
    let acceptance = TokenAcceptance()
    /// The time span on the layer's monotonic clock in which the token should be renewed; it ends when the token
    /// expires. `nil` if the expiry is unknown.
    ///
    /// It is computed from the wall clock once, when the token is loaded. Changes of the wall clock while the app runs
    /// therefore cause no renewal.
    let renewalWindow: Range<Duration>?

    /// Creates a token that was just loaded or issued.
    ///
    /// - Parameter isNew: Whether the service has just issued the token. If such a token has already expired by the
    ///   wall clock, the clock is wrong, and the expiry is ignored. Otherwise every call would cause a renewal.
    init(_ token: AccessToken, version: UInt64, leeway: Duration, isNew: Bool, clock: LayerClock) {
        self.token = token
        self.version = version
        guard let seconds = token.expiry?.timeIntervalSince(clock.date), seconds.isFinite, seconds > 0 || !isNew else {
            renewalWindow = nil
            return
        }
        let lifetime = Duration.seconds(min(max(seconds, 0), 1e9))
        let now = clock.now
        renewalWindow = now + max(lifetime - max(leeway, .zero), lifetime / 2)..<now + lifetime
    }

    /// Returns whether the token can be used without a renewal.
    func isFresh(at now: Duration) -> Bool { renewalWindow.map { now < $0.lowerBound } ?? true }
}

/// The time span in which the token of a request should be renewed.
private enum TokenRenewalWindow: StageValueKey {
    static var defaultValue: Range<Duration>? { nil }
}

extension Response {
    /// The time span on the layer's clock in which the request's token should be renewed; it ends when the token
    /// expires. `nil` if no token was sent, if the expiry is unknown, or if the response does not stay open.
    var tokenRenewalWindow: Range<Duration>? {
        get { values[TokenRenewalWindow.self] }
        set { values[TokenRenewalWindow.self] = newValue }
    }
}
