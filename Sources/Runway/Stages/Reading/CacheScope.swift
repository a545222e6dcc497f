/// Selects the stored responses that a clear removes.
public enum CacheScope: Sendable, Hashable {
    /// All responses.
    case everything
    /// The responses of the service of this name, in every environment and for every account.
    case service(String)
    /// The responses of the endpoint of this name.
    case endpoint(String, service: String)
    /// The responses of an account, or with `nil` those without an account; of one service or, with `nil`, of all.
    case account(String?, service: String?)

    /// Returns whether the scope includes the response of a key.
    func covers(_ key: CacheKey) -> Bool {
        covers(service: key.service, endpoint: key.endpoint, account: key.account)
    }

    /// Returns whether the scope includes the entry of a key. One without an endpoint belongs to its service: the scope
    /// of any endpoint of the service includes it.
    public func covers(_ key: CacheTierKey) -> Bool {
        covers(service: key.service, endpoint: key.endpoint, account: key.account)
    }

    /// Returns whether the scope includes the responses in a partition, which belong to a service and to none of its
    /// endpoints.
    func covers(_ partition: CachePartition) -> Bool {
        covers(service: partition.serviceName, endpoint: nil, account: partition.account)
    }

    package func covers(service: String, endpoint: String?, account: String?) -> Bool {
        switch self {
        case .everything: true
        case .service(let own): service == own
        case .endpoint(let own, let ownService): service == ownService && endpoint ?? own == own
        case .account(let own, let ownService): account == own && (ownService ?? service) == service
        }
    }
}

extension CacheKey {
    /// The scopes that cover the key, except ``CacheScope/everything``.
    var scopes: [CacheScope] {
        let (service, account) = (service, account)
        return [
            .service(service), .endpoint(endpoint, service: service), .account(account, service: service),
            .account(account, service: nil),
        ]
    }
}

extension CacheInvalidation {
    /// The invalidation as a scope that can be stored. For a single call this is the scope of its endpoint.
    var scope: CacheScope {
        func endpoint<E: Endpoint>(_ endpoint: E.Type) -> CacheScope { .endpoint(E.name, service: E.Service.name) }
        func endpoint<E: Endpoint>(of call: E) -> CacheScope { endpoint(E.self) }
        return switch subject {
        case .service(let service): .service(service.name)
        case .endpoint(let type): endpoint(type)
        case .call(let call): endpoint(of: call)
        }
    }
}
