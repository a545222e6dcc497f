/// A server's request to a client of its action log: to pause, to record only a sample, or both.
///
/// ```swift
/// let pace = ActionLogPace(wait: .seconds(600), sampleRate: 0.1)
/// let route = ActionLogRoute(to: sink, pace: { _ in isOverloaded() ? pace : nil })
/// ```
public struct ActionLogPace: Sendable, Hashable {
    /// The time for which the client sends nothing; at most one day.
    public let wait: Duration
    /// The fraction of the user's actions that the client records, from 0 to 1.
    ///
    /// The client applies it until the next response, but at most for ``wait``, or for one hour if ``wait`` is zero,
    /// even across restarts. With 0, the client records nothing for that time and then records again; the next response
    /// can repeat the request.
    public let sampleRate: Double

    /// Asks a client to pause, to record a sample, or both. Values out of range are clamped. By default, the client
    /// does not pause and records all actions.
    public init(wait: Duration = .zero, sampleRate: Double = 1) {
        self.wait = max(.zero, min(wait, .seconds(86_400)))
        self.sampleRate = sampleRate.isNaN ? 1 : max(0, min(sampleRate, 1))
    }
}
