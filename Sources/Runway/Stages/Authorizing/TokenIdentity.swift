/// Identifies a token: an account of a service in an environment.
struct TokenIdentity: Sendable, Hashable {
    let service: any APIService.Type
    let environment: ServiceEnvironment
    /// The account; `nil` if none is signed in.
    let account: String?

    static func == (lhs: TokenIdentity, rhs: TokenIdentity) -> Bool {
        lhs.service == rhs.service && lhs.environment == rhs.environment && lhs.account == rhs.account
    }

    func hash(into hasher: inout Hasher) {
        hasher.combine(ObjectIdentifier(service))
        hasher.combine(environment)
        hasher.combine(account)
    }
}

/// One account's renewals in one session: no call of a later session waits for a renewal of an earlier one.
struct TokenRenewal: Sendable, Hashable {
    let identity: TokenIdentity
    let session: AccountSession
}
