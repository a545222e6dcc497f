import HTTPTypes

/// What tells reads apart: two of the same key may share one request.
struct ReadKey: Sendable {
    let service: ObjectIdentifier
    let endpoint: ObjectIdentifier
    let environment: ServiceEnvironment
    let account: String?
    let head: HTTPRequest
    let body: [UInt8]
    let delivery: ResponseDelivery
    let rule: CachePolicy.Rule
    let use: CacheUse

    /// Makes the key of a request that can be shared; `nil` for all others.
    init?(_ request: Request, in flight: Flight) {
        guard Self.isSharable(request, in: flight) else { return nil }
        service = ObjectIdentifier(flight.service)
        endpoint = ObjectIdentifier(flight.endpoint)
        environment = flight.environment
        account = flight.account
        head = request.head
        body = if case .bytes(let bytes) = request.body { bytes } else { [] }
        delivery = request.delivery
        rule = flight.cachePolicy.rule
        use = flight.options.cacheUse
    }

    /// Whether a request reads, and both bodies are in memory.
    static func isSharable(_ request: Request, in flight: Flight) -> Bool {
        guard request.head.method == .get || request.head.method == .head, flight.endpoint.coalesces else {
            return false
        }
        return switch (request.delivery, request.body) {
        case (.streamed, _), (_, .stream): false
        default: true
        }
    }
}

extension ReadKey: Hashable {
    /// Takes in little of the key: almost every read differs from all others under way by its path, and those that don't are equal.
    func hash(into hasher: inout Hasher) {
        hasher.combine(endpoint)
        hasher.combine(head.path)
    }
}
