public import HTTPTypes

/// The script that determines the response to each request. Lines can be added and replaced at any time, also while
/// requests arrive.
///
/// The response comes from the first of these lines with a response left:
///
/// 1. the line for the method and the target,
/// 2. the line for any method and the target,
/// 3. the line for the method and the path (the target without its query),
/// 4. the line for any method and the path,
/// 5. the line of ``otherwise(respond:)``.
///
/// A request without a matching line is added to ``unexpectedRequests``, and its response is a 404 that states so.
/// Responses are used in the order in which the heads of requests arrive.
extension ScriptedOrigin {
    /// The moment at which a response begins.
    public enum ResponseMoment: Sendable, Hashable {
        /// After the whole request was read. A client that expects status 100 receives it first (RFC 9110 §10.1.1).
        case afterRequest
        /// After the whole request was read. Status 100 (Continue) is never sent.
        case afterRequestWithoutContinue
        /// After the head of the request was read. The body is still read and recorded.
        case afterHead
    }

    /// Sets the response to all requests with a method and path. It replaces an earlier line for the same method and
    /// path.
    ///
    /// - Parameters:
    ///   - method: The method; `nil` matches every method.
    ///   - path: A path without a query, to match every query, or a whole target including the query.
    ///   - moment: When the response begins. The default is after the request.
    ///   - response: The response.
    public func on(
        _ method: HTTPRequest.Method?, _ path: String, responding moment: ResponseMoment = .afterRequest,
        respond response: ScriptedResponse
    ) { on(method, path, responding: moment, respond: [response]) }

    /// Sets the response to all requests for a path, with any method.
    public func on(
        _ path: String, responding moment: ResponseMoment = .afterRequest, respond response: ScriptedResponse
    ) { on(nil, path, responding: moment, respond: [response]) }

    /// Sets the responses to requests with a method and path, one after another.
    ///
    /// If `repeatingLast` is `true`, the default, the last response repeats. Otherwise later requests do not match this
    /// line.
    public func on(
        _ method: HTTPRequest.Method?, _ path: String, responding moment: ResponseMoment = .afterRequest,
        respond responses: [ScriptedResponse], repeatingLast: Bool = true
    ) {
        let replies = responses.map { ScriptedReply.response($0) }
        let line = OriginScript.Line(replies: replies[...], repeatsLast: repeatingLast, moment: moment)
        script.set(line, for: OriginScript.Route(method: method, path: path))
    }

    /// Sets the responses to requests for a path, with any method, one after another.
    public func on(
        _ path: String, responding moment: ResponseMoment = .afterRequest, respond responses: [ScriptedResponse],
        repeatingLast: Bool = true
    ) { on(nil, path, responding: moment, respond: responses, repeatingLast: repeatingLast) }

    /// Sets a closure that returns the response to each request with a method and path.
    ///
    /// With ``ResponseMoment/afterHead``, the closure receives the request without its body. The closure's task is
    /// cancelled when the connection ends.
    ///
    /// - Parameters:
    ///   - method: The method; `nil` matches every method.
    ///   - path: A path without a query, to match every query, or a whole target including the query.
    ///   - moment: When the response begins. The default is after the request.
    ///   - respond: Returns the response. If it throws, the response is a 500 whose body names the error.
    public func on(
        _ method: HTTPRequest.Method?, _ path: String, responding moment: ResponseMoment = .afterRequest,
        _ respond: @escaping @Sendable (ReceivedRequest) async throws -> ScriptedResponse
    ) {
        let line = OriginScript.Line(replies: [.closure(respond)], repeatsLast: true, moment: moment)
        script.set(line, for: OriginScript.Route(method: method, path: path))
    }

    /// Sets a closure that returns the response to each request for a path, with any method. If it throws, the response
    /// is a 500 whose body names the error.
    public func on(
        _ path: String, responding moment: ResponseMoment = .afterRequest,
        _ respond: @escaping @Sendable (ReceivedRequest) async throws -> ScriptedResponse
    ) { on(nil, path, responding: moment, respond) }

    /// Sets the response to requests without another matching line. These requests no longer count as unexpected.
    public func otherwise(respond response: ScriptedResponse) {
        script.setFallback(OriginScript.Line(replies: [.response(response)], repeatsLast: true, moment: .afterRequest))
    }

    /// Sets a closure that responds to requests without another matching line. These requests no longer count as
    /// unexpected.
    ///
    /// If the closure throws, the response is a 500 with the error. The closure's task is cancelled when the connection
    /// ends.
    public func otherwise(_ respond: @escaping @Sendable (ReceivedRequest) async throws -> ScriptedResponse) {
        script.setFallback(OriginScript.Line(replies: [.closure(respond)], repeatsLast: true, moment: .afterRequest))
    }

    /// Sets the behaviour of the next connections, one after another. The last behaviour repeats.
    ///
    /// By default, and with an empty array, every connection is served.
    public func onConnections(_ connections: [ScriptedConnection]) {
        script.set(connections: connections)
    }
}
