import Foundation

/// A token in memory, and the window in which it should be renewed.
struct HeldToken: Sendable {
    let token: AccessToken
    /// Incremented with every change of any token of the layer.
    let version: UInt64
    /// Whether the service has accepted it.
    let acceptance = TokenAcceptance()
    /// The time in which the token should be renewed, until it expires, on the layer's monotonic clock; `nil` if its
    /// expiry is not known.
    ///
    /// The window is computed from the wall clock once, when the token is loaded: setting the wall clock while the app
    /// runs causes no renewal.
    let renewalWindow: Range<Duration>?

    /// Creates a token that was loaded or issued now.
    ///
    /// - Parameter isNew: Whether the service issued the token just now. If such a token has ended already by the wall
    ///   clock, the clock is wrong, and only the service can say when the token ends: without that, every call would
    ///   cause a renewal.
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

    /// Whether the token can be used without a renewal.
    func isFresh(at now: Duration) -> Bool { renewalWindow.map { now < $0.lowerBound } ?? true }
}

/// The window in which the token of a request should be renewed.
private enum TokenRenewalWindow: StageValueKey {
    static var defaultValue: Range<Duration>? { nil }
}

extension Response {
    /// The time in which the token of the request should be renewed, until it expires, on the layer's clock; `nil` if
    /// no token was sent, if its expiry is not known, and for all responses that do not stay open.
    var tokenRenewalWindow: Range<Duration>? {
        get { values[TokenRenewalWindow.self] }
        set { values[TokenRenewalWindow.self] = newValue }
    }
}
