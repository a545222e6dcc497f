import Foundation

/// A token in memory, and when it is time for the next.
struct HeldToken: Sendable {
    let token: AccessToken
    /// Counted up with every change of any token of the layer.
    let version: UInt64
    /// Whether the service has accepted it.
    let acceptance = TokenAcceptance()
    /// The instant on the layer's monotonic clock from which the token ends soon; `nil` where nothing is known of its end.
    ///
    /// It is made of the wall clock once, when the token comes into memory: a wall clock that is set while the app runs renews nothing.
    private let nearEnd: Duration?

    /// Makes a token of one that came into memory now.
    ///
    /// - Parameter isNew: The service gave the token just now. If it has ended already by the wall clock, then the clock is wrong, and
    ///   only the service can say when the token has ended: without that, every call would ask for another.
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

    /// Whether the token can be used without asking for the next.
    func isFresh(at now: Duration) -> Bool { nearEnd.map { now < $0 } ?? true }
}
