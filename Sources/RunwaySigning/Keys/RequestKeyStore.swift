public import Runway

/// Finds the key with which requests are signed.
///
/// ``DeviceKeys`` is one for keys that are made on the device, which is best. An app implements the protocol over
/// another place where it holds keys, such as short-lived ones that the server issued after login.
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
    /// The key of the requests of an owner, called for every request that is sent, unless the key is in memory
    /// (``keyInMemory(for:)``). `nil` if they are sent unsigned, such as before
    /// login.
    ///
    /// The wait counts towards the deadline of the call; a store that does not return by then is left behind. If it
    /// throws a `NetworkError`, the call fails with that as not sent, and otherwise as `NetworkError.Kind.storage`; the
    /// text of other errors is not recorded.
    func key(for owner: KeyOwner) async throws -> RequestKey?

    /// The key of the requests of an owner, if the store has it in memory. The default returns `nil`, and ``key(for:)``
    /// is called.
    ///
    /// It must return at once, and the same key as ``key(for:)``. A request without a streamed body is then signed in
    /// the task of its call if the key is a `SigningKey` or of a ``SoftwareKeyMaker``: that saves the task in which a
    /// store or a signer is left behind at the deadline.
    func keyInMemory(for owner: KeyOwner) -> RequestKey?
}

extension RequestKeyStore {
    /// Returns `nil`: ``key(for:)`` finds the key.
    public func keyInMemory(for owner: KeyOwner) -> RequestKey? { nil }
}

/// Whose requests are signed.
public struct KeyOwner: Sendable, Hashable {
    /// The name of the service.
    public let service: String
    /// The environment of the service.
    public let environment: ServiceEnvironment
    /// The account that was signed in when the call was made; `nil` if none was.
    public let account: String?

    /// An owner, for a test of a store.
    public init(service: String, environment: ServiceEnvironment, account: String?) {
        (self.service, self.environment, self.account) = (service, environment, account)
    }
}
