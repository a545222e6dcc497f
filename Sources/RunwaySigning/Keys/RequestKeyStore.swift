public import Runway

/// Finds the key that signs the requests of an owner.
///
/// Prefer ``DeviceKeys``, whose keys are made on the device. Implement the protocol over another place of keys, for
/// example for short-lived keys that the server issues after login.
///
/// ```swift
/// struct ShopKeys: RequestKeyStore {
///     let enrolment: Enrolment
///
///     func key(for owner: KeyOwner) async throws -> RequestKey? {
///         guard let account = owner.account else { return nil }
///         return try await enrolment.key(of: account).map { RequestKey(id: $0.id, signer: $0) }
///     }
/// }
/// ```
public protocol RequestKeyStore: Sendable {
    /// Returns the key for the requests of an owner; `nil` to send them unsigned, for example before login. Called for
    /// every request that is sent, unless the key is in memory (``keyInMemory(for:)``).
    ///
    /// The wait counts towards the deadline of the call; a store that does not return by then is abandoned. If the
    /// function throws a `NetworkError`, the call fails with that error as not sent; after any other error it fails as
    /// `NetworkError.Kind.storage`, and the text of the error is not recorded.
    func key(for owner: KeyOwner) async throws -> RequestKey?

    /// Returns the key for the requests of an owner, if the store has it in memory. By default the function returns
    /// `nil`, and ``key(for:)`` is called.
    ///
    /// The function must return at once, and return the same key as ``key(for:)``. A request without a streamed body is
    /// then signed in the task of its call if the key is a `SigningKey` or belongs to a ``SoftwareKeyMaker``: that
    /// saves the separate task that makes it possible to abandon a store or a signer at the deadline.
    func keyInMemory(for owner: KeyOwner) -> RequestKey?
}

extension RequestKeyStore {
    /// Returns `nil`: ``key(for:)`` finds the key.
    public func keyInMemory(for owner: KeyOwner) -> RequestKey? { nil }
}

/// The owner of a request key: a service in an environment, and the account that is signed in.
public struct KeyOwner: Sendable, Hashable {
    /// The name of the service.
    public let service: String
    /// The environment of the service.
    public let environment: ServiceEnvironment
    /// The account that was signed in when the call was made; `nil` if none was.
    public let account: String?

    /// Creates an owner, for tests of a store.
    public init(service: String, environment: ServiceEnvironment, account: String?) {
        (self.service, self.environment, self.account) = (service, environment, account)
    }
}
