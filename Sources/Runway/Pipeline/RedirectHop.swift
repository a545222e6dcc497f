import HTTPTypes

/// A redirect that was followed, for whoever keeps answers under the target that they are of.
struct RedirectHop: Sendable {
    /// The most hops that one call follows.
    static let maximumCount = 10

    /// What was sent.
    var request: Request
    /// The answer that redirected it.
    var response: Response
    /// The request that followed the redirect.
    var following: HTTPRequest
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

extension Response {
    /// The redirects that were followed to this response, the first one first.
    var hops: [RedirectHop] {
        get { values[RedirectHop.self] }
        set { values[RedirectHop.self] = newValue }
    }

    /// The origin that redirects led to; `nil` if none was followed.
    var redirectedOrigin: Origin? { hops.last.map { Origin($0.following) } }

    /// Whether a followed redirect replaced the method, as 303 does (RFC 9110 §15.4.4).
    ///
    /// The server has then processed the original request; a later refusal concerns only the request that followed.
    var hasChangedMethod: Bool { hops.contains { $0.request.head.method != $0.following.method } }

    /// Whether redirects led to another origin than that of the request. Its server was sent none of the request's credentials.
    func isOfOtherOrigin(than request: Request) -> Bool {
        if hops.isEmpty { return false }
        // Credentials that were dropped once do not come back, also where a later redirect leads to the first origin again.
        let origin = Origin(request.head)
        return hops.contains { Origin($0.following) != origin }
    }

    /// Whether a redirect changed the method or the origin, so that a refusal in this response does not concern `request`.
    func isElsewhere(than request: Request) -> Bool { hasChangedMethod || isOfOtherOrigin(than: request) }
}

extension RedirectHop: StageValueKey {
    static var defaultValue: [RedirectHop] { [] }
}

extension NetworkError {
    /// The error of a request that followed a redirect, as the error of the whole call.
    ///
    /// The server received the request that it redirected, so that something was sent; and the error says nothing about the host that
    /// redirected.
    func afterRedirect(to following: HTTPRequest) -> NetworkError {
        var error = self
        error.sending = SendState.sent.and(sending)
        // A redirect further on knows better.
        if error.redirectedOrigin == nil { error.redirectedOrigin = Origin(following) }
        if error.host == nil { error.host = error.redirectedOrigin?.host }
        return error
    }
}

/// Where a redirect led, for the record.
package enum Redirect: StageDecision, Equatable {
    /// The redirect was followed.
    ///
    /// - Parameters:
    ///   - status: The status of the answer that redirected.
    ///   - hop: How many redirects the call followed by then.
    case followed(status: Int, hop: Int)
    /// The answer points where this request may not go, or its body can't be sent again.
    case notFollowed

    package static var step: FlightStep { .stage(.redirecting) }

    package var entry: DecisionEntry {
        switch self {
        case .followed(let status, let hop):
            .init("followed", ["status": status, "hop": hop], "following \(status), hop \(hop)")
        case .notFollowed:
            .init("notFollowed", "not followed: the target is not allowed, or the body can't be sent again")
        }
    }
}
