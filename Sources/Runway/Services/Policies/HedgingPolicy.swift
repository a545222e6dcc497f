/// Whether a read that is slow gets a second attempt beside the first, and after how long.
///
/// ```swift
/// static let hedging = HedgingPolicy.learned()
/// ```
///
/// Hedged are GET and HEAD whose bodies are in memory, each attempt by itself: what is sent again after a failure, a redirect or a
/// renewed token may be hedged, too. Where no good head has come within the delay, the request is sent a second time, where the
/// transport can over another connection and to another address; the first good head wins, and the other attempt is called off. A
/// first attempt that fails while the second flies waits for it. A status of 5xx, 408, 425 or 429 is no good head. Calls that share a
/// request share its hedge; requests that are merged have none. How often it happens is bounded by ``HedgeLimits``.
public enum HedgingPolicy: Sendable, Hashable {
    /// There is one attempt at a time. The default.
    case off
    /// After this long.
    case after(Duration)
    /// After the time within which 95 of 100 of the endpoint's answers began of late, at this host, but within these bounds. Until 16
    /// answers were seen it is the longest.
    case learned(shortest: Duration = .milliseconds(50), longest: Duration = .seconds(2))

    /// How long a request has until the second attempt, given what was learned; `nil` where there is none.
    func delay(knowing percentile: Duration?) -> Duration? {
        switch self {
        case .off: nil
        case .after(let delay): max(delay, .zero)
        case .learned(let shortest, let longest):
            max(min(percentile ?? longest, longest), shortest, .zero)
        }
    }
}
