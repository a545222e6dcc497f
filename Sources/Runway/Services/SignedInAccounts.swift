/// Reads and stores which account is signed in to a service, by the names of the service and of its environment.
///
/// The store of the access tokens is behind it.
struct SignedInAccounts: Sendable {
    /// Returns the account that was signed in when the app ended; `nil` if none was. Reads at once.
    let restored: @Sendable (_ service: String, _ environment: String) -> Result<String?, NetworkError>
    /// Stores the account for the next launch, after all earlier changes, and returns the pending change. It returns
    /// immediately.
    let store:
        @Sendable (_ account: String?, _ service: String, _ environment: String) -> Task<Result<Void, any Error>, Never>
}
