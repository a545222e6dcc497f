import Synchronization

/// Stores access tokens for the app, also after it has ended.
///
/// The layer has the token that it uses in memory: it loads once, saves at every sign-in and renewal, and removes at a
/// sign-out and when a token was refused for good. It makes its changes one at a time. The implementation may be shared
/// by several layers, and may be slow: no call waits for it beyond its own deadline, and nothing waits beyond
/// ``LayerLimits/tokenStoreDeadline``.
///
/// A store that also implements ``signedInAccount(at:)`` and ``setSignedInAccount(_:at:)`` restores who was signed in:
/// the first call after a launch is that account's, as long as the app sets no ``ServiceSettings/account`` itself.
///
/// ``FileTokenStore`` is the choice on Linux, `KeychainTokenStore` on Apple platforms; without a store, tokens are in
/// memory alone.
///
/// ```swift
/// actor DictionaryTokenStore: TokenStore {
///     private var tokens: [TokenKey: AccessToken] = [:]
///
///     func load(_ key: TokenKey) -> AccessToken? { tokens[key] }
///     func save(_ token: AccessToken, at key: TokenKey) { tokens[key] = token }
///     func remove(_ key: TokenKey) { tokens[key] = nil }
/// }
/// ```
public protocol TokenStore: Sendable {
    /// Loads a token; returns `nil` if there is none.
    ///
    /// - Throws: Why it can't be read; records show the detail of a ``NetworkError``, and of any other error its type.
    ///   The call that needs it fails as ``NetworkError/Kind/storage``.
    func load(_ key: TokenKey) async throws -> AccessToken?

    /// Stores a token, instead of the previous one.
    ///
    /// - Throws: Why it can't be saved. If a sign-out has not removed the previous token yet, the layer removes it
    ///   then. A sign-in fails as ``NetworkError/Kind/storage``, and its token is used until the app ends.
    func save(_ token: AccessToken, at key: TokenKey) async throws

    /// Removes a token; does nothing if there is none.
    ///
    /// - Throws: Why it is still there. A sign-out fails as ``NetworkError/Kind/storage``, and the token is not used
    ///   again until the app ends.
    func remove(_ key: TokenKey) async throws

    /// Returns the account that was signed in to a service when the app ended; `nil` if nobody was. The default returns
    /// `nil`.
    ///
    /// The layer calls it before the first call of the service, on the thread of that call, and when the app changes
    /// the environment before anybody has signed in or out: it must return soon.
    ///
    /// - Throws: Why it can't be read, such as a keychain before the device was unlocked. Calls that carry a token then
    ///   fail as ``NetworkError/Kind/storage``, and every later call asks again.
    func signedInAccount(at key: AccountKey) throws -> String?

    /// Stores which account is signed in to a service now; `nil` is nobody. The default stores nothing.
    ///
    /// It is called after a sign-in, when the token is stored, and at a sign-out, before the token is removed.
    ///
    /// - Throws: Why it can't be stored; the sign-in or sign-out fails as ``NetworkError/Kind/storage``.
    func setSignedInAccount(_ account: String?, at key: AccountKey) async throws
}

extension TokenStore {
    /// Nobody: the app sets ``ServiceSettings/account`` at each launch.
    public func signedInAccount(at key: AccountKey) throws -> String? { nil }

    /// Stores nothing.
    public func setSignedInAccount(_ account: String?, at key: AccountKey) async throws {}
}

/// Identifies in a store who is signed in to a service. Two keys are equal if all three parts are.
public struct AccountKey: Sendable, Hashable, Codable {
    /// The name of the layer.
    public var network: String
    /// The name of the service.
    public var service: String
    /// The name of the environment.
    public var environment: String

    /// The key of a service of a layer.
    public init(network: String, service: String, environment: String) {
        self.network = network
        self.service = service
        self.environment = environment
    }
}

/// Identifies a token in a store. Two keys are equal if all four parts are.
public struct TokenKey: Sendable, Hashable, Codable {
    /// The name of the layer.
    public var network: String
    /// The name of the service.
    public var service: String
    /// The name of the environment.
    public var environment: String
    /// The account that the token belongs to.
    public var account: String

    /// The key of the token of an account, at a service of a layer.
    public init(network: String, service: String, environment: String, account: String) {
        self.network = network
        self.service = service
        self.environment = environment
        self.account = account
    }
}

extension NetworkError {
    /// The error of a token store that can't load, save or remove a token.
    static func tokenStore(_ detail: String) -> NetworkError { NetworkError(.storage, in: .authorizing, detail) }
}

/// Stores access tokens in memory, until the app ends: the store of a layer that is passed none.
final class MemoryTokenStore: TokenStore {
    /// Guards the tokens.
    private let tokens = Mutex<[TokenKey: AccessToken]>([:])

    func load(_ key: TokenKey) -> AccessToken? { tokens.withLock { $0[key] } }

    func save(_ token: AccessToken, at key: TokenKey) { tokens.withLock { $0[key] = token } }

    func remove(_ key: TokenKey) { tokens.withLock { _ = $0.removeValue(forKey: key) } }
}
