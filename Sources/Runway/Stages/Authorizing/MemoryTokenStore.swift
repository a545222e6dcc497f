import Synchronization

/// Stores access tokens in memory, until the app ends.
public final class MemoryTokenStore: TokenStore {
    /// Guards the tokens.
    private let tokens = Mutex<[TokenPlace: AccessToken]>([:])

    /// Creates an empty store.
    public init() {}

    /// Returns the token of a place; `nil` if there is none.
    public func load(_ place: TokenPlace) -> AccessToken? { tokens.withLock { $0[place] } }

    /// Stores a token.
    public func save(_ token: AccessToken, at place: TokenPlace) { tokens.withLock { $0[place] = token } }

    /// Removes a token.
    public func remove(_ place: TokenPlace) { tokens.withLock { _ = $0.removeValue(forKey: place) } }
}
