/// Reads and stores the account that is signed in to a service. The names of the service and its environment identify
/// the stored account, which is in the access token store.
struct SignedInAccounts: Sendable {
    /// Returns the account that was signed in when the app ended, or `nil` if none was signed in. Returns immediately.
    let restored: @Sendable (_ service: String, _ environment: String) -> Result<String?, NetworkError>
    /// Stores the account for the next launch, after all earlier changes. Returns immediately, with the pending change.
    let store:
        @Sendable (_ account: String?, _ service: String, _ environment: String) -> Task<Result<Void, any Error>, Never>
}
