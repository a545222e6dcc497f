import HTTPTypes

/// Identifies a read: two reads of equal keys may share one request.
///
/// All fields of the request are part of the key, unlike those of a stored response: before there is a response, no
/// `Vary` says which fields select it (RFC 9111 §4.1).
struct ReadKey: Sendable {
    let service: any APIService.Type
    let endpoint: any Endpoint.Type
    let environment: ServiceEnvironment
    let session: AccountSession
    /// ``Flight/cookieVersion``.
    let cookieVersion: UInt64
    let head: HTTPRequest
    let body: [UInt8]
    let delivery: ResponseDelivery
    let rule: CachePolicy.Rule
    let use: CacheUse
    /// A call without the access token shares no request with one that carries it.
    let authorization: AuthorizationPolicy
    /// A call that fails at once without a network shares no request with one that waits for it.
    let waitsForNetwork: Bool
    /// A call shares no failure that it would have retried itself.
    let retry: RetryPolicy

    /// The key of a request; `nil` if it can't be shared.
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

    /// Returns whether a request is a read with both bodies in memory.
    static func isSharable(_ request: Request, in flight: Flight) -> Bool {
        guard flight.endpoint.coalesces, reads(request.head.method, by: flight.cachePolicy.rule) else { return false }
        return switch (request.delivery, request.body) {
        case (.streamed, _), (_, .stream): false
        default: true
        }
    }

    /// Returns whether a method requests no change. A POST may request one, unless its responses are stored: then it
    /// only reads.
    private static func reads(_ method: HTTPRequest.Method, by rule: CachePolicy.Rule) -> Bool {
        if method == .get || method == .head || method.isQuery { return true }
        return method == .post && (rule == .timeToLive || rule == .untilEvicted)
    }

    /// Whether the outcome is retained until the first call has stored it, for calls that accept stored responses.
    var isRetained: Bool { use == .standard && (rule == .timeToLive || rule == .untilEvicted) }

    /// Returns whether the response to the read is in a scope.
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

    /// Hashes a small part of the key: reads in flight differ by path or body, or are equal.
    func hash(into hasher: inout Hasher) {
        hasher.combine(ObjectIdentifier(endpoint))
        hasher.combine(head.path)
        if !body.isEmpty { hasher.combine(body) }
    }
}
