/// Whether any part of a call's requests was sent before the failure.
///
/// The state decides whether a request that changes data may be sent again. A transport reports ``notSent`` only if it
/// is certain. ``unknown`` is treated like ``sent``.
public enum SendState: String, Sendable, Hashable {
    /// Certainly nothing was sent: there was no connection, the TLS handshake was incomplete, or the server reported
    /// that it processed no part of the request (RFC 9113 §8.7).
    case notSent
    /// At least a part of the request was sent.
    case sent
    /// The transport does not know whether anything was sent.
    case unknown

    /// Combines the state of a call's earlier requests with the state of a later request.
    ///
    /// A call may send several requests, such as retries or redirects. The combined state is ``notSent`` only if the
    /// state of every request is ``notSent``.
    package func and(_ later: SendState) -> SendState {
        if self == .sent || later == .sent { return .sent }
        return self == .unknown || later == .unknown ? .unknown : .notSent
    }
}
