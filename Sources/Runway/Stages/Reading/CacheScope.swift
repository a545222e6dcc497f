/// Selects the stored responses that a clear removes.
public enum CacheScope: Sendable, Hashable {
    /// All responses of the cache.
    case everything
    /// The responses of the service with this name, in every environment and for every account.
    case service(String)
    /// The responses of the endpoint with this name.
    case endpoint(String, service: String)
    /// The responses of an account, or the responses without an account if the account is `nil`. They belong to
    /// `service`, or to all services if `service` is `nil`.
    case account(String?, service: String?)

    /// Returns whether the scope includes the response under a key.
    func covers(_ key: CacheKey) -> Bool {
        covers(service: key.service, endpoint: key.endpoint, account: key.account)
    }

    /// Returns whether the scope includes the stored response under a key. A response without an endpoint belongs to
    /// its service, so the scope of any endpoint of that service includes it.
    public func covers(_ key: CacheTierKey) -> Bool {
        covers(service: key.service, endpoint: key.endpoint, account: key.account)
    }

    /// Returns whether the scope includes the responses of the user that the partition identifies. Such responses
    /// belong to a service, but not to an endpoint.
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
    /// The scopes that include the key, except ``CacheScope/everything``.
    var scopes: [CacheScope] {
        let (service, account) = (service, account)
        return [
            .service(service), .endpoint(endpoint, service: service), .account(account, service: service),
            .account(account, service: nil),
        ]
    }
}

extension CacheInvalidation {
    /// The scope that can be stored for this invalidation. For a single call, it is the scope of the whole endpoint.
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
