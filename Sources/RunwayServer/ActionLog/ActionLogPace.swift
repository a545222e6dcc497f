/// A server's request to a client of its action log: to pause, to record only a sample, or both.
///
/// ```swift
/// let pace = ActionLogPace(wait: .seconds(600), sampleRate: 0.1)
/// let route = ActionLogRoute(to: sink, pace: { _ in isOverloaded() ? pace : nil })
/// ```
public struct ActionLogPace: Sendable, Hashable {
    /// The time for which the client sends nothing; at most a day.
    public let wait: Duration
    /// The fraction of records that the client records, from 0 to 1. It applies for ``wait``, or for an hour if that is
    /// zero, or until the next response; it survives restarts. 0 stops the client: it records again when that time has
    /// passed, and the next response can stop it again.
    public let sampleRate: Double

    /// Asks a client to pause, to record a sample, or both. Values outside the bounds are clamped to them.
    ///
    /// - Parameters:
    ///   - wait: The time for which the client sends nothing. The default is zero.
    ///   - sampleRate: The fraction of records that the client records. The default is 1, all records.
    public init(wait: Duration = .zero, sampleRate: Double = 1) {
        self.wait = max(.zero, min(wait, .seconds(86_400)))
        self.sampleRate = sampleRate.isNaN ? 1 : max(0, min(sampleRate, 1))
    }
}
