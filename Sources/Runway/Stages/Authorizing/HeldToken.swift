import Foundation

/// A token in memory, and the time from which it should be renewed.
struct HeldToken: Sendable {
    let token: AccessToken
    /// Incremented with every change of any token of the layer.
    let version: UInt64
    /// Whether the service has accepted it.
    let acceptance = TokenAcceptance()
    /// The instant on the layer's monotonic clock from which the token ends soon; `nil` if its end is not known.
    ///
    /// It is computed from the wall clock once, when the token is loaded: setting the wall clock while the app runs causes no
    /// renewal.
    private let nearEnd: Duration?

    /// Creates a token that was loaded or issued now.
    ///
    /// - Parameter isNew: Whether the service issued the token just now. If such a token has ended already by the wall clock,
    ///   the clock is wrong, and only the service can say when the token ends: without that, every call would cause a renewal.
    init(_ token: AccessToken, version: UInt64, leeway: Duration, isNew: Bool, clock: LayerClock) {
        self.token = token
        self.version = version
        guard let seconds = token.expiry?.timeIntervalSince(clock.date), seconds.isFinite, seconds > 0 || !isNew else {
            nearEnd = nil
            return
        }
        let lifetime = Duration.seconds(min(max(seconds, 0), 1e9))
        nearEnd = clock.now + max(lifetime - max(leeway, .zero), lifetime / 2)
    }

    /// Whether the token can be used without a renewal.
    func isFresh(at now: Duration) -> Bool { nearEnd.map { now < $0 } ?? true }
}
