/// Determines whether a slow read gets a second, parallel attempt, and after which time.
///
/// ```swift
/// static let hedging = HedgingPolicy.learned()
/// ```
///
/// GET and HEAD requests without a streamed body are hedged. If no good response has begun within the delay, the
/// request is sent a second time, over another connection and to another address if the transport can. The first good
/// response wins, and the other attempt is cancelled. A response with status 5xx, 408, 425 or 429 is not good. If the
/// first attempt fails while the second is in flight, the call waits for the second.
///
/// Each retry, each redirect and each repetition with a renewed token is hedged separately. Calls that share a request
/// also share its second attempt. Merged requests are not hedged. ``LayerLimits/hedging`` limits the number of second
/// attempts.
public enum HedgingPolicy: Sendable, Hashable {
    /// There is only one attempt at a time. This is the default.
    case off
    /// A second attempt starts after a fixed time.
    case after(Duration)
    /// A second attempt starts after a time learned from earlier responses. It is the 95th percentile of the recent
    /// times to the first byte for this endpoint and host, limited to these bounds. Until 16 responses were received,
    /// it is `longest`.
    case learned(shortest: Duration = .milliseconds(50), longest: Duration = .seconds(2))

    /// Returns the time until the second attempt, or `nil` if none is made.
    func delay(knowing percentile: Duration?) -> Duration? {
        switch self {
        case .off: nil
        case .after(let delay): max(delay, .zero)
        case .learned(let shortest, let longest):
            max(min(percentile ?? longest, longest), shortest, .zero)
        }
    }
}
