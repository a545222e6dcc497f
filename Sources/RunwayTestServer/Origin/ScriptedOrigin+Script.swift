public import HTTPTypes

/// A script determines the response to each request. Lines can be added and replaced at any time, even while requests
/// are received.
///
/// A request gets its response from the first of these lines that has one left:
///
/// 1. the line for its method and target,
/// 2. the line for any method and its target,
/// 3. the line for its method and its path (the target without its query),
/// 4. the line for any method and its path,
/// 5. the line of ``otherwise(respond:)``.
///
/// A request without a matching line gets a 404 that says so, and is added to ``unexpectedRequests``. Requests are
/// ordered by the arrival of their heads.
extension ScriptedOrigin {
    /// The moment at which a response begins.
    public enum ResponseMoment: Sendable, Hashable {
        /// After the request was read to its end. A client that expects status 100 (Continue) receives it first (RFC
        /// 9110 §10.1.1).
        case afterRequest
        /// Like `afterRequest`, but 100 (Continue) is never sent.
        case afterRequestWithoutContinue
        /// After the request's head was read. The body is still read and recorded.
        case afterHead
    }

    /// Responds to every request of `method` for `path` with `response`.
    ///
    /// This replaces an earlier line for the same method and path.
    ///
    /// - Parameters:
    ///   - method: The method; `nil` means every method.
    ///   - path: The path without a query, which matches any query, or a whole target, including the query.
    ///   - moment: The moment at which the response begins. The default is after the request.
    ///   - response: The response.
    public func on(
        _ method: HTTPRequest.Method?, _ path: String, responding moment: ResponseMoment = .afterRequest,
        respond response: ScriptedResponse
    ) { on(method, path, responding: moment, respond: [response]) }

    /// Responds to every request for `path`, whatever its method, with `response`.
    public func on(
        _ path: String, responding moment: ResponseMoment = .afterRequest, respond response: ScriptedResponse
    ) { on(nil, path, responding: moment, respond: [response]) }

    /// Responds to the requests of `method` for `path` with `responses`, one after another.
    ///
    /// With `repeatingLast`, the default, the last response serves all later requests; otherwise these have no response
    /// here.
    public func on(
        _ method: HTTPRequest.Method?, _ path: String, responding moment: ResponseMoment = .afterRequest,
        respond responses: [ScriptedResponse], repeatingLast: Bool = true
    ) {
        let replies = responses.map { ScriptedReply.response($0) }
        let line = OriginScript.Line(replies: replies[...], repeatsLast: repeatingLast, moment: moment)
        script.set(line, for: OriginScript.Route(method: method, path: path))
    }

    /// Responds to the requests for `path`, whatever their method, with `responses`, one after another.
    public func on(
        _ path: String, responding moment: ResponseMoment = .afterRequest, respond responses: [ScriptedResponse],
        repeatingLast: Bool = true
    ) { on(nil, path, responding: moment, respond: responses, repeatingLast: repeatingLast) }

    /// Responds to every request of `method` (`nil`: any) for `path` with the response that `respond` returns.
    ///
    /// With ``ResponseMoment/afterHead`` the closure receives the request without its body. Its task is cancelled when
    /// the connection ends.
    ///
    /// - Parameters:
    ///   - method: The method; `nil` means every method.
    ///   - path: The path without a query, which matches any query, or a whole target, including the query.
    ///   - moment: The moment at which the response begins. The default is after the request.
    ///   - respond: Returns the response. If it throws, the response is a 500 whose body names the error.
    public func on(
        _ method: HTTPRequest.Method?, _ path: String, responding moment: ResponseMoment = .afterRequest,
        _ respond: @escaping @Sendable (ReceivedRequest) async throws -> ScriptedResponse
    ) {
        let line = OriginScript.Line(replies: [.closure(respond)], repeatsLast: true, moment: moment)
        script.set(line, for: OriginScript.Route(method: method, path: path))
    }

    /// Responds to every request for `path`, whatever its method, with the response that `respond` returns; with 500 if
    /// it throws.
    public func on(
        _ path: String, responding moment: ResponseMoment = .afterRequest,
        _ respond: @escaping @Sendable (ReceivedRequest) async throws -> ScriptedResponse
    ) { on(nil, path, responding: moment, respond) }

    /// Responds to every request without another matching line with `response`; such requests are no longer unexpected.
    public func otherwise(respond response: ScriptedResponse) {
        script.setFallback(OriginScript.Line(replies: [.response(response)], repeatsLast: true, moment: .afterRequest))
    }

    /// Responds to every request without another matching line with the response of `respond`; such requests are no
    /// longer unexpected.
    ///
    /// If it throws, the response is a 500 whose body names the error. It is cancelled when the connection ends.
    public func otherwise(_ respond: @escaping @Sendable (ReceivedRequest) async throws -> ScriptedResponse) {
        script.setFallback(OriginScript.Line(replies: [.closure(respond)], repeatsLast: true, moment: .afterRequest))
    }

    /// Treats the following connections by `connections`, one after another; the last one repeats.
    ///
    /// Without this, and with an empty list, every connection is served.
    public func onConnections(_ connections: [ScriptedConnection]) {
        script.set(connections: connections)
    }
}
