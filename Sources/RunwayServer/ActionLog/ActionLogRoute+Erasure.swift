import HTTPTypes
public import Hummingbird

extension ActionLogRoute where Sink: ActionLogErasing {
    /// Adds the route by which a client has the records of its account erased: `DELETE` at the path of the log.
    ///
    /// ```swift
    /// let route = ActionLogRoute(to: sink)
    /// route.add(to: router)
    /// route.addErasure(to: router) { request, context in account(of: request) }
    /// ```
    ///
    /// The response is 204 after the sink has erased them, 401 if nobody is known to have sent the request, 400 if the name of the account has
    /// the character U+0000, at which databases would cut it, 429 while as many requests run as ``ActionLogRouteLimits`` allow, and 503 if the
    /// sink fails.
    ///
    /// - Parameters:
    ///   - router: The router or group.
    ///   - path: The path below the group's. The default is `log`.
    ///   - account: Returns the account that is proved to have sent a request, as by its token, and never what the request states alone;
    ///     `nil` if there is none. Batches must name the account in the same way.
    public func addErasure<Context: RequestContext>(
        to router: some RouterMethods<Context>, path: RouterPath = "log",
        account: @escaping @Sendable (Request, Context) async throws -> String?
    ) {
        router.delete(path) { request, context in
            guard let account = try await account(request, context), !account.isEmpty else {
                return refusal(.unauthorized)
            }
            if account.utf8.contains(0) { return refusal(.badRequest) }
            guard running.begin(upTo: limits.maximumRunningCount) else { return refusal(.tooManyRequests) }
            defer { running.end() }
            do {
                try await sink.erase(account: account)
                return Response(status: .noContent)
            } catch {
                return refusal(.serviceUnavailable)
            }
        }
    }
}
