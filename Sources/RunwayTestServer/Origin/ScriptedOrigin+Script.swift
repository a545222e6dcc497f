public import HTTPTypes

/// A script says what is answered to whom. Lines can be added and replaced at any time, also while requests come.
///
/// A request is answered by the first of these that has a response left: the line for its method and target, for any
/// method and its target, for its method and its path (the target without its query), for any method and its path;
/// then what ``otherwise(respond:)`` says. A request that finds none gets a 404 that says so, and stands in
/// ``unexpectedRequests``. Requests take their turn when their head has arrived.
extension ScriptedOrigin {
    /// When a response begins.
    public enum ResponseMoment: Sendable, Hashable {
        /// When the request was read to its end. A client that expects it is sent 100 (Continue) first (RFC 9110 §10.1.1).
        case afterRequest
        /// As `afterRequest`, but 100 (Continue) is never sent.
        case afterRequestWithoutContinue
        /// When the request's head was read, whatever comes of its body; that is read on and recorded.
        case afterHead
    }

    /// Answers every request of `method` for `path` with `response`.
    ///
    /// This replaces an earlier line for the same method and path.
    ///
    /// - Parameters:
    ///   - method: the method; nil means every method.
    ///   - path: the path without a query, which then is not looked at, or a whole target, query included.
    ///   - moment: when the response begins; default: after the request.
    ///   - response: the response.
    public func on(
        _ method: HTTPRequest.Method?,
        _ path: String,
        responding moment: ResponseMoment = .afterRequest,
        respond response: ScriptedResponse
    ) {
        on(method, path, responding: moment, respond: [response])
    }

    /// Answers every request for `path`, whatever its method, with `response`.
    public func on(
        _ path: String, responding moment: ResponseMoment = .afterRequest, respond response: ScriptedResponse
    ) {
        on(nil, path, responding: moment, respond: [response])
    }

    /// Answers the requests of `method` for `path` with `responses`, one after another.
    ///
    /// With `repeatingLast`, the default, the last response serves all later requests; without, they find no response here.
    public func on(
        _ method: HTTPRequest.Method?,
        _ path: String,
        responding moment: ResponseMoment = .afterRequest,
        respond responses: [ScriptedResponse],
        repeatingLast: Bool = true
    ) {
        let answers = responses.map { ScriptedReply.response($0) }
        let line = OriginScript.Line(answers: answers[...], repeatsLast: repeatingLast, moment: moment)
        script.set(line, for: OriginScript.Route(method: method, path: path))
    }

    /// Answers the requests for `path`, whatever their method, with `responses`, one after another.
    public func on(
        _ path: String,
        responding moment: ResponseMoment = .afterRequest,
        respond responses: [ScriptedResponse],
        repeatingLast: Bool = true
    ) {
        on(nil, path, responding: moment, respond: responses, repeatingLast: repeatingLast)
    }

    /// Answers every request of `method` (nil: any) for `path` with what `answer` makes of it.
    ///
    /// With ``ResponseMoment/afterHead`` the closure is given the request without its body. Its task is cancelled when the
    /// connection ends.
    ///
    /// - Parameters:
    ///   - method: the method; nil means every method.
    ///   - path: the path without a query, which then is not looked at, or a whole target, query included.
    ///   - moment: when the response begins; default: after the request.
    ///   - answer: makes the response. When it throws, the response is a 500 whose body says what was thrown.
    public func on(
        _ method: HTTPRequest.Method?,
        _ path: String,
        responding moment: ResponseMoment = .afterRequest,
        _ answer: @escaping @Sendable (ReceivedRequest) async throws -> ScriptedResponse
    ) {
        let line = OriginScript.Line(answers: [.closure(answer)], repeatsLast: true, moment: moment)
        script.set(line, for: OriginScript.Route(method: method, path: path))
    }

    /// Answers every request for `path`, whatever its method, with what `answer` makes of it; a 500 when it throws.
    public func on(
        _ path: String,
        responding moment: ResponseMoment = .afterRequest,
        _ answer: @escaping @Sendable (ReceivedRequest) async throws -> ScriptedResponse
    ) {
        on(nil, path, responding: moment, answer)
    }

    /// Answers every request that no other line answers with `response`; such requests are no longer unexpected.
    public func otherwise(respond response: ScriptedResponse) {
        script.setFallback(OriginScript.Line(answers: [.response(response)], repeatsLast: true, moment: .afterRequest))
    }

    /// Answers every request that no other line answers with what `answer` makes of it; such requests are no longer unexpected.
    ///
    /// When it throws, the response is a 500 whose body says what was thrown. It is cancelled when the connection ends.
    public func otherwise(_ answer: @escaping @Sendable (ReceivedRequest) async throws -> ScriptedResponse) {
        script.setFallback(OriginScript.Line(answers: [.closure(answer)], repeatsLast: true, moment: .afterRequest))
    }

    /// Treats the connections to come as `connections` says, one after another; the last one repeats.
    ///
    /// Without this, and with an empty list, every connection is served.
    public func onConnections(_ connections: [ScriptedConnection]) {
        script.set(connections: connections)
    }
}
