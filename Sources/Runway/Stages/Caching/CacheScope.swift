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
        covers(service: key.service, endpoint: key.endpoint, account: key.account)
    }

    func covers(service: String, endpoint: String, account: String?) -> Bool {
        switch self {
        case .everything: true
        case .service(let own): service == own
        case .endpoint(let own, let ownService): service == ownService && endpoint == own
        case .account(let own, let ownService): account == own && (ownService ?? service) == service
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
