/// Whether any part of a request, or of an earlier request of the same call, reached the wire before the failure.
///
/// It decides whether a request that changes something may be sent again. A transport reports ``notSent`` only if it is
/// certain; ``unknown`` is treated as sent.
public enum SendState: String, Sendable, Hashable {
    /// Certainly nothing: there was no connection, or its TLS handshake was incomplete, or the server reported that it
    /// processed none of it (RFC 9113 §8.7).
    case notSent
    /// Something, and maybe all of it.
    case sent
    /// It is not known.
    case unknown

    /// The state of a call whose earlier requests have this state and whose later request has `later`.
    ///
    /// A call of several requests, such as retries or followed redirects, is ``notSent`` only if each of them is.
    package func and(_ later: SendState) -> SendState {
        if self == .sent || later == .sent { return .sent }
        return self == .unknown || later == .unknown ? .unknown : .notSent
    }
}
