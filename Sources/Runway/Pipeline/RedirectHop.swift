import HTTPTypes

/// A redirect that was followed. It is recorded so that its response can be stored under its own target.
struct RedirectHop: Sendable {
    /// The maximum number of redirects that one call follows.
    static let maximumCount = 10

    /// The request that was redirected.
    var request: Request
    /// The response that redirected the request.
    var response: Response
    var following: HTTPRequest
    /// Whether `response` contains its body. A body that would have been streamed is discarded and therefore empty.
    var isBodyThere = true
    /// The time on the layer's clock at which the request was sent.
    var requested: Duration
    /// The time on the layer's clock at which the response was received.
    var received: Duration

    /// Returns the times of this exchange. The date of receipt is taken from `last`, whose response arrived at almost
    /// the same time.
    func times(like last: ExchangeTimes) -> ExchangeTimes {
        let later = (last.received - received).components.seconds
        return ExchangeTimes(
            requested: requested, received: received,
            receivedDate: HTTPDate(seconds: last.receivedDate.seconds - later))
    }
}

extension Response {
    /// The redirects that led to this response, in order.
    var hops: [RedirectHop] {
        get { values[RedirectHop.self] }
        set { values[RedirectHop.self] = newValue }
    }

    /// The origin that redirects led to; `nil` if no redirect was followed.
    var redirectedOrigin: Origin? { hops.last.map { Origin($0.following) } }

    /// Whether a followed redirect replaced the method, as 303 does (RFC 9110 §15.4.4).
    ///
    /// The server has then processed the original request. A later refusal concerns only the request that followed.
    var hasChangedMethod: Bool { hops.hasChangedMethod }

    /// Whether the server processed the call's request before this response. That is the case if a redirect replaced
    /// the method, in this attempt or in an earlier attempt whose token was refused.
    var followsProcessedRequest: Bool {
        get { hasChangedMethod || values[FollowsProcessedRequest.self] }
        set { values[FollowsProcessedRequest.self] = newValue }
    }

    /// Returns whether redirects led to another origin. The server at that origin received none of the request's
    /// credentials.
    func hasChangedOrigin(since request: Request) -> Bool {
        if hops.isEmpty { return false }
        // Credentials that were removed once are not added again, even if a later redirect leads back to the first
        // origin.
        let origin = Origin(request.head)
        return hops.contains { Origin($0.following) != origin }
    }

    /// Returns whether a redirect changed the method or the origin. If so, a refusal in this response does not concern
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

/// Whether the server processed an earlier attempt of the call; see ``Response/followsProcessedRequest``.
private enum FollowsProcessedRequest: StageValueKey {
    static var defaultValue: Bool { false }
}

extension NetworkError {
    /// Converts the error of a request that followed a redirect into the error of the whole call.
    ///
    /// Something was sent, because the server received the redirected request. The error says nothing about the host
    /// that redirected.
    func afterRedirect(to following: HTTPRequest) -> NetworkError {
        var error = self
        error.sending = SendState.sent.and(sending)
        // The request that followed the last redirect has already set the origin of that redirect, which takes
        // precedence.
        if error.redirectedOrigin == nil { error.redirectedOrigin = Origin(following) }
        if error.host == nil { error.host = error.redirectedOrigin?.host }
        return error
    }
}

package enum RedirectDecision: StageDecision, Equatable {
    /// The redirect was followed.
    ///
    /// - Parameters:
    ///   - status: The status of the response that redirected.
    ///   - hop: The number of redirects that the call has followed so far.
    case followed(status: Int, hop: Int)
    /// The redirect was not followed, because its target is not allowed or the body can't be sent again.
    case notFollowed
    /// The redirect leads to a request that the call has already sent unchanged.
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
