/// Identifies a token by service, environment and account.
struct TokenIdentity: Sendable, Hashable {
    let service: any APIService.Type
    let environment: ServiceEnvironment
    /// The account; `nil` if no account is signed in.
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

/// Identifies the renewals of one account in one session. A call of a later session never waits for a renewal of an
/// earlier one.
struct TokenRenewal: Sendable, Hashable {
    let identity: TokenIdentity
    let session: AccountSession
}
