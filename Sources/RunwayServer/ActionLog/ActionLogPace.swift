/// What a server asks a client of its action log for.
///
/// ```swift
/// let pace = ActionLogPace(wait: .seconds(600), sampleRate: 0.1)
/// let route = ActionLogRoute(to: sink, pace: { _ in isOverloaded() ? pace : nil })
/// ```
public struct ActionLogPace: Sendable, Hashable {
    /// How long the client sends nothing; at most a day.
    public let wait: Duration
    /// The fraction of records that the client records, from 0 to 1. It holds for ``wait``, for an hour if that is
    /// zero, or until the next response, also over restarts. 0 stops the client: it records again when that time has
    /// passed, and the next response can stop it again.
    public let sampleRate: Double

    /// Asks a client to pause, to record a sample, or both. Values beyond the bounds are limited to them.
    ///
    /// - Parameters:
    ///   - wait: How long the client sends nothing. The default is zero.
    ///   - sampleRate: The fraction of records. The default is all.
    public init(wait: Duration = .zero, sampleRate: Double = 1) {
        self.wait = max(.zero, min(wait, .seconds(86_400)))
        self.sampleRate = sampleRate.isNaN ? 1 : max(0, min(sampleRate, 1))
    }
}
