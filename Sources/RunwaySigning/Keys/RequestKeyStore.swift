public import Runway

/// Finds the key that signs the requests of an owner.
///
/// Prefer ``DeviceKeys``, whose keys are made on the device. Implement the protocol for keys from elsewhere, such as
/// short-lived keys that the server issues after login.
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
    /// Returns the key for the requests of an owner, or `nil` to send them unsigned, for example before login. Called
    /// for every request, unless the key is in memory (``keyInMemory(for:)``).
    ///
    /// The wait counts towards the deadline of the call; a store that does not return by then is abandoned. If the
    /// function throws a `NetworkError`, the call fails with this error, marked as not sent. After any other error, the
    /// call fails as `NetworkError.Kind.storage`, without the text of the error.
    func key(for owner: KeyOwner) async throws -> RequestKey?

    /// Returns the key for the requests of an owner if the store has it in memory, otherwise `nil`. The default returns
    /// `nil`, so that ``key(for:)`` is called.
    ///
    /// The function must not block, and must return the same key as ``key(for:)``. If the returned key signs with a
    /// `SigningKey` or a key of ``DeviceKeyMaker/software``, a request without a streamed body is signed directly in
    /// the task of its call. This saves the separate task that is otherwise needed to abandon a store or a signer at
    /// the deadline.
    func keyInMemory(for owner: KeyOwner) -> RequestKey?
}

extension RequestKeyStore {
    /// Returns `nil`, so that ``key(for:)`` is called.
    public func keyInMemory(for owner: KeyOwner) -> RequestKey? { nil }
}

/// The owner of a request key: a service in an environment, and the signed-in account.
public struct KeyOwner: Sendable, Hashable {
    /// The name of the service.
    public let service: String
    /// The environment of the service.
    public let environment: ServiceEnvironment
    /// The account that was signed in when the call was made; `nil` if nobody was signed in.
    public let account: String?

    /// Creates an owner, for tests of a store.
    public init(service: String, environment: ServiceEnvironment, account: String?) {
        (self.service, self.environment, self.account) = (service, environment, account)
    }
}
