import HTTPTypes

/// A redirect that was followed, so that its response can be stored under its own target.
struct RedirectHop: Sendable {
    /// The most hops that one call follows.
    static let maximumCount = 10

    /// The request that was redirected.
    var request: Request
    /// The response that redirected it.
    var response: Response
    /// The request that followed the redirect.
    var following: HTTPRequest
    /// Whether `response` has its body. A body that was to be streamed was discarded, and is empty here.
    var isBodyThere = true
    /// The instant on the layer's clock at which the request was sent.
    var requested: Duration
    /// The instant on the layer's clock at which the response was received.
    var received: Duration

    /// Returns the times of this exchange. Its response has almost the same date as the last one.
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
    var hasChangedMethod: Bool { hops.hasChangedMethod }

    /// Whether the server has processed the call's request before this response: a redirect replaced the method, in
    /// this attempt or in an earlier one whose token was refused.
    var followsProcessedRequest: Bool {
        get { hasChangedMethod || values[FollowsProcessedRequest.self] }
        set { values[FollowsProcessedRequest.self] = newValue }
    }

    /// Returns whether redirects led to another origin than the request's. That server received none of the request's
    /// credentials.
    func hasChangedOrigin(since request: Request) -> Bool {
        if hops.isEmpty { return false }
        // Credentials that were dropped once do not come back, also where a later redirect leads to the first origin again.
        let origin = Origin(request.head)
        return hops.contains { Origin($0.following) != origin }
    }

    /// Whether a redirect changed the method or the origin, so that a refusal in this response does not concern
    /// `request`.
    func hasChangedMethodOrOrigin(since request: Request) -> Bool {
        hasChangedMethod || hasChangedOrigin(since: request)
    }
}

extension [RedirectHop] {
    /// Whether a followed redirect replaced the method.
    var hasChangedMethod: Bool { contains { $0.request.head.method != $0.following.method } }
}

extension RedirectHop: StageValueKey {
    static var defaultValue: [RedirectHop] { [] }
}

/// Whether an earlier attempt of the call was processed; see ``Response/followsProcessedRequest``.
private enum FollowsProcessedRequest: StageValueKey {
    static var defaultValue: Bool { false }
}

extension NetworkError {
    /// Returns the error of a request that followed a redirect, as the error of the whole call.
    ///
    /// The server received the request that it redirected, so that something was sent; and the error says nothing about
    /// the host that redirected.
    func afterRedirect(to following: HTTPRequest) -> NetworkError {
        var error = self
        error.sending = SendState.sent.and(sending)
        // A later redirect has set it already.
        if error.redirectedOrigin == nil { error.redirectedOrigin = Origin(following) }
        if error.host == nil { error.host = error.redirectedOrigin?.host }
        return error
    }
}

/// Whether a redirect was followed, for the record.
package enum RedirectDecision: StageDecision, Equatable {
    /// The redirect was followed.
    ///
    /// - Parameters:
    ///   - status: The status of the response that redirected.
    ///   - hop: The number of redirects that the call had followed by then.
    case followed(status: Int, hop: Int)
    /// The target is not allowed for this request, or its body can't be sent again.
    case notFollowed
    /// The redirect leads to a request that the call has sent before, with nothing new in it.
    case alreadySent

    package static var step: FlightStep { .redirecting }

    package var entry: DecisionRecord {
        switch self {
        case .followed(let status, let hop):
            .init("followed", ["status": status, "hop": hop], "following \(status), hop \(hop)")
        case .notFollowed:
            .init("notFollowed", "not followed: the target is not allowed, or the body can't be sent again")
        case .alreadySent: .init("alreadySent", "not followed: it leads to a request that was sent already")
        }
    }
}
