import Crypto
public import Hummingbird
import RunwayFormats
import RunwaySignatures

extension ActionLogRoute where Sink: ActionLogErasing {
    /// Adds the two routes with which a client erases its records. `DELETE` at the path of the log erases the records
    /// of the client's account. The route of ``addAnonymousErasure(to:path:)`` erases the records that its installation
    /// sent without an account.
    ///
    /// ```swift
    /// let route = ActionLogRoute(to: sink)
    /// route.add(to: router)
    /// route.addErasure(to: router) { request, context in account(of: request) }
    /// ```
    ///
    /// The response to a `DELETE` has one of these statuses. All except 204 are problems (RFC 9457).
    ///
    /// - 204 after the sink has erased the records, even if no record matched
    /// - 400 if the name of the account contains U+0000, at which databases would truncate it
    /// - 401 if the sender of the request is unknown
    /// - 429 if the route's limit of running requests is reached
    /// - 503 if the sink fails
    ///
    /// - Parameters:
    ///   - router: The router or group.
    ///   - path: The path below the group's. The default is `log`.
    ///   - account: Returns the verified account that sent a request, for example by its token; `nil` if there is no
    ///     such account. It must not return an account that the request only claims. The accounts in batches must have
    ///     the same names.
    public func addErasure<Context: RequestContext>(
        to router: some RouterMethods<Context>, path: RouterPath = "log",
        account: @escaping @Sendable (Request, Context) async throws -> String?
    ) {
        router.delete(path) { request, context in
            guard let account = try await account(request, context), !account.isEmpty else {
                throw ActionLogProblem(.account)
            }
            if account.utf8.contains(0) { throw ActionLogProblem(.rejected, "The account contains U+0000.") }
            return try await erase { try await sink.erase(account: account) }
        }
        addAnonymousErasure(to: router, path: path)
    }

    /// Adds the route by which a client erases the records that its installation sent without an account: `POST` at
    /// `erasure` below the path of the log.
    ///
    /// Use it for servers that cannot verify accounts. ``addErasure(to:path:account:)`` also adds this route: call only
    /// one of the two.
    ///
    /// The request needs no account. Its body has the secret from which the client computed its installation id; do not
    /// log the body. The status of the response is:
    ///
    /// - 204 after the sink has erased the records, even if no record matched
    /// - 400 if the body has no secret
    /// - 413 if the body has more than 1 KiB
    /// - 429 if the route's limit of running requests is reached
    /// - 503 if the sink fails
    ///
    /// - Parameters:
    ///   - router: The router or group.
    ///   - path: The path of the log below the group's. The default is `log`.
    public func addAnonymousErasure<Context: RequestContext>(
        to router: some RouterMethods<Context>, path: RouterPath = "log"
    ) {
        router.post(path.appendingPath("erasure")) { request, _ in try await eraseAnonymousRecords(for: request) }
    }

    private func eraseAnonymousRecords(for request: Request) async throws -> Response {
        let body = try await body(of: request, upTo: ErasureRequest.maximumByteCount)
        guard let secret = ErasureRequest.secret(in: body).flatMap({ Base64.decoded($0) }),
            secret.count == ErasureRequest.secretByteCount
        else {
            throw ActionLogProblem(.malformed, "secret is not 32 bytes in Base64.")
        }
        let installation = ErasureRequest.installation(ofDigest: Array(SHA256.hash(data: secret)))
        return try await erase { try await sink.erase(anonymousRecordsOf: installation) }
    }

    /// Makes the sink erase records, unless the maximum number of requests is running.
    private func erase(_ records: () async throws -> Void) async throws(ActionLogProblem) -> Response {
        try begin()
        defer { running.end() }
        do {
            try await records()
        } catch let refusal as StoreRefusal {
            throw ActionLogProblem(refusal)
        } catch {
            throw failure
        }
        return Response(status: .noContent)
    }
}
