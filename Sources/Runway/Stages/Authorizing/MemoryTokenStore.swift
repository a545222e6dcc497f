import Synchronization

/// Stores access tokens in memory, until the app ends: the store of a layer that is passed none.
final class MemoryTokenStore: TokenStore {
    /// Guards the tokens.
    private let tokens = Mutex<[TokenPlace: AccessToken]>([:])

    func load(_ place: TokenPlace) -> AccessToken? { tokens.withLock { $0[place] } }

    func save(_ token: AccessToken, at place: TokenPlace) { tokens.withLock { $0[place] = token } }

    func remove(_ place: TokenPlace) { tokens.withLock { _ = $0.removeValue(forKey: place) } }
}
