import Synchronization

/// Stores access tokens for the app beyond its end.
///
/// The layer has the token that it uses in memory: it loads once, saves at every sign-in and renewal, and removes at a
/// sign-out and when a token was refused for good. It makes its changes one at a time. The implementation may be shared
/// by several layers, and may be slow: no call waits for it beyond its own deadline, and nothing waits beyond 10
/// s.
///
/// A store that also implements ``signedInAccount(at:)`` and ``setSignedInAccount(_:at:)`` restores the signed-in
/// account: it is the account of the first call after a launch, unless the app sets ``ServiceSettings/account`` itself.
///
/// Use ``FileTokenStore`` on Linux, `KeychainTokenStore` on Apple platforms; without a store, tokens are only in
/// memory.
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
    /// Loads a token; returns `nil` if none is stored.
    ///
    /// - Throws: The reason why it can't be read. Records show the detail of a ``NetworkError``, and only the type of
    ///   any other error. The call that needs the token fails as ``NetworkError/Kind/storage``.
    func load(_ key: TokenKey) async throws -> AccessToken?

    /// Stores a token, instead of the previous one.
    ///
    /// - Throws: The reason why it can't be saved. If a sign-out has not removed the previous token yet, the layer then
    ///   removes it. A sign-in fails as ``NetworkError/Kind/storage``, and its token is used until the app ends.
    func save(_ token: AccessToken, at key: TokenKey) async throws

    /// Removes a token; does nothing if none is stored.
    ///
    /// - Throws: The reason why it could not be removed. A sign-out fails as ``NetworkError/Kind/storage``, and the
    ///   token is not used again until the app ends.
    func remove(_ key: TokenKey) async throws

    /// Returns the account that was signed in to a service when the app ended; `nil` if none was. Returns `nil` by
    /// default.
    ///
    /// The layer calls it before the first call of the service, on the thread of that call, and when the app changes
    /// the environment before anybody has signed in or out: it must return soon.
    ///
    /// - Throws: The reason why it can't be read, for example in a keychain before the device was unlocked. Calls that
    ///   carry a token then fail as ``NetworkError/Kind/storage``, and every later call reads it again.
    func signedInAccount(at key: AccountKey) throws -> String?

    /// Stores the account that is signed in to a service now, or `nil` if none is. Stores nothing by default.
    ///
    /// Called after a sign-in, when the token is stored, and at a sign-out, before the token is removed.
    ///
    /// - Throws: The reason why it can't be stored; the sign-in or sign-out fails as ``NetworkError/Kind/storage``.
    func setSignedInAccount(_ account: String?, at key: AccountKey) async throws
}

extension TokenStore {
    /// Returns `nil`: the app sets ``ServiceSettings/account`` at each launch.
    public func signedInAccount(at key: AccountKey) throws -> String? { nil }

    /// Stores nothing.
    public func setSignedInAccount(_ account: String?, at key: AccountKey) async throws {}
}

/// The key of the account that is signed in to a service. Two keys are equal if all three parts are equal.
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
package final class MemoryTokenStore: TokenStore {
    /// Guards the tokens.
    private let tokens = Mutex<[TokenKey: AccessToken]>([:])

    package init() {}

    package func load(_ key: TokenKey) -> AccessToken? { tokens.withLock { $0[key] } }

    package func save(_ token: AccessToken, at key: TokenKey) { tokens.withLock { $0[key] = token } }

    package func remove(_ key: TokenKey) { tokens.withLock { _ = $0.removeValue(forKey: key) } }
}
