import Synchronization

/// Stores access tokens, so that they are available after a restart of the app.
///
/// The layer uses the token in memory. It loads a token once, saves it at every sign-in and renewal, and removes it at
/// a sign-out and when the service has permanently refused it. It makes its changes one at a time. Several layers may
/// share an implementation. The implementation may be slow: no call waits for it beyond the call's own deadline, and
/// nothing waits longer than 10 s.
///
/// A store that also implements ``signedInAccount(at:)`` and ``setSignedInAccount(_:at:)`` restores the signed-in
/// account: the first call after a launch is made for that account, unless the app sets ``ServiceSettings/account``
/// itself.
///
/// Use ``FileTokenStore`` on Linux, and `KeychainTokenStore` on Apple platforms. Without a store, tokens are only in
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
    /// Loads a token, or returns `nil` if none is stored.
    ///
    /// - Throws: The reason why the token can't be read. Records show the detail of a ``NetworkError``, and only the
    ///   type of any other error. The call that needs the token fails as ``NetworkError/Kind/storage``.
    func load(_ key: TokenKey) async throws -> AccessToken?

    /// Stores a token in place of the previous one.
    ///
    /// - Throws: The reason why the token can't be saved. If a sign-out has not yet removed the previous token, the
    ///   layer then removes it. A sign-in fails as ``NetworkError/Kind/storage``, and its token is used until the app
    ///   ends.
    func save(_ token: AccessToken, at key: TokenKey) async throws

    /// Removes a token. Does nothing if none is stored.
    ///
    /// - Throws: The reason why the token could not be removed. A sign-out fails as ``NetworkError/Kind/storage``, and
    ///   the token is not used again until the app ends.
    func remove(_ key: TokenKey) async throws

    /// Returns the account that was signed in to a service when the app ended, or `nil` if none was signed in. The
    /// default returns `nil`.
    ///
    /// The layer calls this function before the first call of the service, on the thread of that call. The layer calls
    /// it again if the app changes the environment before any sign-in or sign-out. The implementation must return soon.
    ///
    /// - Throws: The reason why the account can't be read, for example a keychain that is locked until the device is
    ///   unlocked. Calls that carry a token then fail as ``NetworkError/Kind/storage``, and every later call tries
    ///   again.
    func signedInAccount(at key: AccountKey) throws -> String?

    /// Stores the account that is now signed in to a service; `nil` if none is signed in. The default stores nothing.
    ///
    /// Called after a sign-in, when the token is stored, and at a sign-out, before the token is removed.
    ///
    /// - Throws: The reason why the account can't be stored. The sign-in or sign-out fails as
    ///   ``NetworkError/Kind/storage``.
    func setSignedInAccount(_ account: String?, at key: AccountKey) async throws
}

extension TokenStore {
    /// Returns `nil`, the default: the app must set ``ServiceSettings/account`` at each launch.
    public func signedInAccount(at key: AccountKey) throws -> String? { nil }

    /// Stores nothing: the default implementation.
    public func setSignedInAccount(_ account: String?, at key: AccountKey) async throws {}
}

/// Identifies the signed-in account of a service in a store. Two keys are equal if all three parts are equal.
public struct AccountKey: Sendable, Hashable, Codable {
    /// The name of the layer, ``NetworkLayer/name``.
    public var network: String
    /// The name of the service, ``APIService/name``.
    public var service: String
    /// The name of the environment, ``ServiceEnvironment/name``.
    public var environment: String

    /// Creates the key for a service of a layer.
    public init(network: String, service: String, environment: String) {
        self.network = network
        self.service = service
        self.environment = environment
    }
}

/// Identifies a token in a store. Two keys are equal if all four parts are equal.
public struct TokenKey: Sendable, Hashable, Codable {
    /// The name of the layer, ``NetworkLayer/name``.
    public var network: String
    /// The name of the service, ``APIService/name``.
    public var service: String
    /// The name of the environment, ``ServiceEnvironment/name``.
    public var environment: String
    /// The account that the token belongs to.
    public var account: String

    /// Creates the key for the token of an account at a service of a layer.
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

/// Stores access tokens in memory until the app ends. A layer that is created without a token store uses this store.
package final class MemoryTokenStore: TokenStore {
    /// Guards the tokens.
    private let tokens = Mutex<[TokenKey: AccessToken]>([:])

    package init() {}

    package func load(_ key: TokenKey) -> AccessToken? { tokens.withLock { $0[key] } }

    package func save(_ token: AccessToken, at key: TokenKey) { tokens.withLock { $0[key] = token } }

    package func remove(_ key: TokenKey) { tokens.withLock { _ = $0.removeValue(forKey: key) } }
}
