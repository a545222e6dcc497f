import Synchronization

/// Keeps access tokens until the app ends.
public final class MemoryTokenStore: TokenStore {
    /// Guards the tokens.
    private let kept = Mutex<[TokenPlace: AccessToken]>([:])

    /// Makes an empty store.
    public init() {}

    /// The token that is kept at a place.
    public func load(_ place: TokenPlace) -> AccessToken? { kept.withLock { $0[place] } }

    /// Keeps a token.
    public func save(_ token: AccessToken, at place: TokenPlace) { kept.withLock { $0[place] = token } }

    /// Forgets a token.
    public func remove(_ place: TokenPlace) { kept.withLock { _ = $0.removeValue(forKey: place) } }
}
