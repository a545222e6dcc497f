import Runway

/// The access token of an account.
enum CrashToken {
    static let prefix = "token-of-"

    /// Signs an account in, or signs out if `account` is `nil`.
    static func signIn<Service: APIService>(
        _ account: String?, to service: Service.Type, on network: NetworkLayer
    ) async throws {
        if let account {
            try await network.signIn(AccessToken(prefix + account, account: account), to: service)
        } else {
            try await network.signOut(of: service)
        }
    }
}

/// Credentials that need no renewal.
struct CrashCredentials: Credentials {
    func refresh(_ token: AccessToken, on network: NetworkLayer) async throws -> AccessToken { token }
}
