import HTTPTypes

/// Identifies a read request. Two reads with equal keys may share one request.
///
/// The key contains all header fields of the request, because the response's `Vary` is still unknown. The key of a
/// stored response needs only the fields that `Vary` names (RFC 9111 §4.1).
struct ReadKey: Sendable {
    let service: any APIService.Type
    let endpoint: any Endpoint.Type
    let environment: ServiceEnvironment
    let session: AccountSession
    /// The version of the sender's cookies: ``Flight/cookieVersion``.
    let cookieVersion: UInt64
    let head: HTTPRequest
    let body: [UInt8]
    let delivery: ResponseDelivery
    let rule: CachePolicy.Rule
    let use: CacheUse
    /// Separates calls with and without the access token: a call without the token must not share a request that
    /// carries it.
    let authorization: AuthorizationPolicy
    /// Separates calls that fail at once without a network from calls that wait for one. They must not share a request.
    let waitsForNetwork: Bool
    /// Separates calls with different retry policies: a call must not share a failure that it would have retried
    /// itself.
    let retry: RetryPolicy

    /// Creates the key of a request. Returns `nil` if the request can't be shared.
    init?(_ request: Request, in flight: Flight) {
        guard Self.isSharable(request, in: flight) else { return nil }
        service = flight.service
        endpoint = flight.endpoint
        environment = flight.environment
        session = flight.session
        cookieVersion = flight.cookieVersion
        head = request.head
        body = if case .bytes(let bytes) = request.body { bytes } else { [] }
        delivery = request.delivery
        rule = flight.cachePolicy.rule
        use = flight.options.cacheUse
        authorization = flight.authorization
        waitsForNetwork = flight.options.waitsForNetwork
        retry = flight.retryPolicy
    }

    /// Returns whether a request is a read whose request body and response body are in memory.
    static func isSharable(_ request: Request, in flight: Flight) -> Bool {
        guard flight.endpoint.coalesces, reads(request.head.method, by: flight.cachePolicy.rule) else { return false }
        return switch (request.delivery, request.body) {
        case (.streamed, _), (_, .stream): false
        default: true
        }
    }

    /// Returns whether a method only reads. A POST counts as reading only if its responses are stored.
    private static func reads(_ method: HTTPRequest.Method, by rule: CachePolicy.Rule) -> Bool {
        if method == .get || method == .head || method.isQuery { return true }
        return method == .post && (rule == .timeToLive || rule == .untilEvicted)
    }

    /// Whether the outcome is retained after the read, until a call has stored or rejected it. Only calls that accept
    /// stored responses can use a retained outcome.
    var isRetained: Bool { use == .standard && (rule == .timeToLive || rule == .untilEvicted) }

    /// Returns whether a scope includes the response to the read.
    func isCovered(by scope: CacheScope) -> Bool {
        scope.covers(service: service.name, endpoint: endpoint.name, account: session.account)
    }
}

extension ReadKey: Hashable {
    static func == (lhs: ReadKey, rhs: ReadKey) -> Bool {
        lhs.endpoint == rhs.endpoint && lhs.head == rhs.head && lhs.service == rhs.service && lhs.session == rhs.session
            && lhs.environment == rhs.environment && lhs.body == rhs.body && lhs.delivery == rhs.delivery
            && lhs.rule == rhs.rule && lhs.use == rhs.use && lhs.authorization == rhs.authorization
            && lhs.waitsForNetwork == rhs.waitsForNetwork
            && lhs.retry == rhs.retry && lhs.cookieVersion == rhs.cookieVersion
    }

    /// Hashes only a small part of the key, because reads in flight usually differ in path or body.
    func hash(into hasher: inout Hasher) {
        hasher.combine(ObjectIdentifier(endpoint))
        hasher.combine(head.path)
        if !body.isEmpty { hasher.combine(body) }
    }
}
