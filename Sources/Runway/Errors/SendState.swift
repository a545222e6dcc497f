/// Whether any of a request, or of one that was sent for the same call before it, reached the wire before its attempt failed.
///
/// It decides whether a request that changes something may be sent again. Only a transport that is certain says
/// ``notSent``; whatever is ``unknown`` is treated as sent.
public enum SendState: String, Sendable, Hashable {
    /// Certainly nothing: there was no connection, or TLS was not set up on it, or the server said that it acted on none of it
    /// (RFC 9113 §8.7).
    case notSent
    /// Something, and maybe all of it.
    case sent
    /// Nobody can say.
    case unknown

    /// What is true of a call of which an earlier request has this state and a later one has `later`.
    ///
    /// A call of several requests, such as retries or followed redirects, is not sent only if none of them was.
    package func and(_ later: SendState) -> SendState {
        if self == .sent || later == .sent { return .sent }
        return self == .unknown || later == .unknown ? .unknown : .notSent
    }
}
