/// Whether any part of a request, or of an earlier request of the same call, reached the wire before the failure.
///
/// The state decides whether a request that changes something may be sent again. A transport reports ``notSent`` only
/// if it is certain; ``unknown`` is treated as sent.
public enum SendState: String, Sendable, Hashable {
    /// Certainly nothing was sent: there was no connection, or its TLS handshake was incomplete, or the server reported
    /// that it processed no part of the request (RFC 9113 §8.7).
    case notSent
    /// Some of it was sent, maybe all of it.
    case sent
    /// The transport does not know whether anything was sent.
    case unknown

    /// Returns the state of a call whose earlier requests have this state and whose later request has the state
    /// `later`.
    ///
    /// A call of several requests, such as retries or followed redirects, is ``notSent`` only if each of them is.
    package func and(_ later: SendState) -> SendState {
        if self == .sent || later == .sent { return .sent }
        return self == .unknown || later == .unknown ? .unknown : .notSent
    }
}
