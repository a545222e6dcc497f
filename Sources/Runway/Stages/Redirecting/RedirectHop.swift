import HTTPTypes

/// A redirect that was followed, for whoever keeps answers under the target that they are of.
struct RedirectHop: Sendable {
    /// What was sent.
    var request: Request
    /// The answer that redirected it.
    var response: Response
    /// Whether the answer has the body that came; one that was to be streamed was let go, and stands empty.
    var isBodyThere = true
    /// The instant on the layer's clock at which the request was sent.
    var requested: Duration
    /// The instant on the layer's clock at which the answer came.
    var received: Duration

    /// The times of this exchange, whose answer came at much the same date as that of the last.
    func times(like last: ExchangeTimes) -> ExchangeTimes {
        let later = (last.received - received).components.seconds
        return ExchangeTimes(
            requested: requested, received: received,
            receivedDate: HTTPDate(seconds: last.receivedDate.seconds - later))
    }
}

extension Request {
    /// Takes back the preconditions that a cache put in, which hold for one target alone (RFC 9110 §15.4).
    mutating func dropOwnConditions() {
        guard let own = ownConditions else { return }
        for name in HTTPField.Name.cacheConditions { head.headerFields[values: name] = own[values: name] }
        ownConditions = nil
    }
}
