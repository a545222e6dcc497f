/// Which of the kept answers are meant, when they are cleared.
public enum CacheScope: Sendable, Hashable {
    /// All of them.
    case everything
    /// Those of the service of this name, in every environment and for every account.
    case service(String)
    /// Those of the endpoint of this name.
    case endpoint(String, service: String)
    /// Those of an account, of one service or, with `nil`, of all.
    case account(String, service: String?)

    /// Whether the answer of a key is one of them.
    public func covers(_ key: CacheKey) -> Bool {
        switch self {
        case .everything: true
        case .service(let service): key.service == service
        case .endpoint(let endpoint, let service): key.service == service && key.endpoint == endpoint
        case .account(let account, let service): key.account == account && (service ?? key.service) == key.service
        }
    }
}

extension CacheKey {
    /// The scopes that cover the key, but for everything.
    var scopes: [CacheScope] {
        let service = service
        let scopes = [CacheScope.service(service), .endpoint(endpoint, service: service)]
        guard let account else { return scopes }
        return scopes + [.account(account, service: service), .account(account, service: nil)]
    }
}
