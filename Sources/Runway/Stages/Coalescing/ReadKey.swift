import HTTPTypes

/// What tells reads apart: two of the same key may share one request.
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
    /// A call that is to fail at once where there is no network shares nothing with one that waits for it.
    let waitsForNetwork: Bool
    /// A call shares no failure that it would have tried again itself.
    let retry: RetryPolicy

    /// Makes the key of a request that can be shared; `nil` for all others.
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
        waitsForNetwork = flight.options.waitsForNetwork
        retry = flight.retryPolicy
    }

    /// Whether a request reads, and both bodies are in memory.
    static func isSharable(_ request: Request, in flight: Flight) -> Bool {
        guard flight.endpoint.coalesces, reads(request.head.method, by: flight.cachePolicy.rule) else { return false }
        return switch (request.delivery, request.body) {
        case (.streamed, _), (_, .stream): false
        default: true
        }
    }

    /// Whether a method asks for no change. A POST may ask for one, unless its answers are kept: then it only reads.
    private static func reads(_ method: HTTPRequest.Method, by rule: CachePolicy.Rule) -> Bool {
        if method == .get || method == .head || method.isQuery { return true }
        return method == .post && (rule == .timeToLive || rule == .untilEvicted)
    }

    /// Whether the answer may be kept by the client's own time or by room, for calls that take what is kept.
    var isKeptByTime: Bool { use == .standard && (rule == .timeToLive || rule == .untilEvicted) }

    /// Whether what is kept of the read is in a scope.
    func isCovered(by scope: CacheScope) -> Bool {
        scope.covers(service: service.name, endpoint: endpoint.name, account: session.account)
    }
}

extension ReadKey: Hashable {
    static func == (lhs: ReadKey, rhs: ReadKey) -> Bool {
        lhs.endpoint == rhs.endpoint && lhs.head == rhs.head && lhs.service == rhs.service && lhs.session == rhs.session
            && lhs.environment == rhs.environment && lhs.body == rhs.body && lhs.delivery == rhs.delivery
            && lhs.rule == rhs.rule && lhs.use == rhs.use && lhs.waitsForNetwork == rhs.waitsForNetwork
            && lhs.retry == rhs.retry && lhs.cookieVersion == rhs.cookieVersion
    }

    /// Takes in little of the key: almost every read differs from all others under way by its path or body, and those that don't are equal.
    func hash(into hasher: inout Hasher) {
        hasher.combine(ObjectIdentifier(endpoint))
        hasher.combine(head.path)
        if !body.isEmpty { hasher.combine(body) }
    }
}
