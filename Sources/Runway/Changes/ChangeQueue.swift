public import HTTPTypes

public import struct Foundation.UUID

/// Stores calls that change something while they can't be sent, and sends them later: see ``OfflinePolicy``.
///
/// Pass one to the initialiser of ``NetworkLayer``; `OfflineQueue` of `RunwayStorage` stores on disk. A queue belongs
/// to one layer.
public protocol ChangeQueue: Sendable {
    /// Connects the queue with its layer, once. The implementation must return immediately, and must not retain the
    /// layer.
    func start(for network: NetworkLayer)
    /// Returns whether the queue can send calls of an endpoint later. It is called in every call of an endpoint that is
    /// queued.
    func accepts(_ endpoint: any Endpoint.Type) -> Bool
    /// Returns whether an earlier change of the same service, environment and account waits, so that this change must
    /// not be sent before it. Changes that wait for the app's decision, and changes held because of such a change,
    /// count only if they have a subject in common with this change.
    func hasToWait(_ change: UnsentChange) async throws -> Bool
    /// Stores a change whose call is about to be sent. If the process ends before the call does, a later run sends the
    /// change, under the same key. Until then the change is in no list of waiting changes, and no other change waits
    /// for it. The default implementation stores nothing.
    ///
    /// - Returns: Identifies the change for ``store(_:)`` and ``removeWritten(_:)``; `nil` if it was not stored.
    /// - Throws: An error that says why the change can't be stored. The call is sent nevertheless.
    func writeAhead(_ change: UnsentChange) async throws -> UUID?
    /// Removes a change that was written ahead, since its call has ended. The implementation must return immediately.
    /// The default implementation does nothing.
    func removeWritten(_ change: UUID)
    /// Stores a change, in place of the one with ``UnsentChange/id`` that was written ahead, if there is one. When it
    /// returns, the change survives the end of the process. It is not sent before ``settle(_:isQueued:)``.
    ///
    /// - Throws: An error that says why the change can't be stored, for example because the queue is full.
    func store(_ change: UnsentChange) async throws -> QueuedChange
    /// Decides about a stored change when its call has ended: it may be sent, or is removed because the call was
    /// cancelled.
    func settle(_ change: UUID, isQueued: Bool) async
    /// Notifies the queue that another account was signed in to a service, or that the service changed.
    func servicesDidChange()
    /// Delays the changes of an account until the events that the app missed have arrived, or `limit` has passed. The
    /// default implementation does nothing.
    ///
    /// The changes of an account wait as long as at least one owner delays them.
    ///
    /// - Parameters:
    ///   - service: The service.
    ///   - environment: The environment of the service.
    ///   - account: The account. `nil` if no account is signed in: the delay is then also for the first account that
    ///     signs in.
    ///   - owner: Identifies the caller, which delays one account at a time: a delay of another account ends the former
    ///     one.
    ///   - limit: The longest time that changes wait, counted from the moment at which they could be sent. `nil` ends
    ///     the delay of the owner, whichever account it is for.
    func delayChanges(
        of service: any APIService.Type, in environment: ServiceEnvironment, for account: String?, owner: UUID,
        upTo limit: Duration?
    )
}

extension ChangeQueue {
    /// Stores nothing.
    public func writeAhead(_ change: UnsentChange) async throws -> UUID? { nil }

    /// Does nothing.
    public func removeWritten(_ change: UUID) {}

    /// Does nothing.
    public func delayChanges(
        of service: any APIService.Type, in environment: ServiceEnvironment, for account: String?, owner: UUID,
        upTo limit: Duration?
    ) {}
}

/// The data of a call that have to be stored in case that it is sent later.
///
/// The data contain no token, cookie or signature: the stages add those whenever the change is sent. The service's
/// common header fields are not part of it either: the change is sent with those that the service has then.
public struct UnsentChange: Sendable {
    /// The endpoint of the call.
    public var endpoint: any Endpoint.Type
    /// The environment of the service in which the call was made.
    public var environment: ServiceEnvironment
    /// The account that made the call; `nil` if no account was signed in.
    public var account: String?
    /// The identifier of the change that was written ahead of the call, as ``ChangeQueue/writeAhead(_:)`` returned it.
    public var id: UUID?
    /// The number of the call, whose order is the order in which changes are sent; `nil` for a change that was read
    /// from storage.
    public var flight: FlightID?
    /// The method of the request.
    public var method: HTTPRequest.Method
    /// Path and query below the service's base URL, beginning with a slash.
    public var target: String
    /// The header fields of the request, without those common to the service.
    public var headerFields: HTTPFields
    /// The body of the request.
    public var body: [UInt8]
    /// The parameters of the call, without those common to the service, for a list of the waiting changes.
    public var parameters: Parameters
    /// The endpoint as JSON, with its ``Unencoded`` properties, for ``QueuedChange/call(as:)``; empty if it is not
    /// `Decodable`.
    public var call: [UInt8]
    /// Whether the call carries the access token of the service: ``CallOptions/authorization``. `nil` is the policy of
    /// its endpoint.
    public var authorization: AuthorizationPolicy?
    /// The subjects that the call changes: ``Endpoint/offlineSubjects``.
    public var subjects: [String]
    /// The stored responses that the call makes wrong: ``Endpoint/invalidates``, by endpoints and services.
    public var invalidates: [CacheScope]
    /// The `Idempotency-Key` of all attempts.
    public var key: UUID
    /// Whether the server may have received the request.
    public var mayHaveBeenSent: Bool
    /// The time that the server asked to wait; `nil` if it did not.
    public var retryAfter: Duration?

    package init(
        endpoint: any Endpoint.Type, environment: ServiceEnvironment, account: String?, flight: FlightID? = nil,
        method: HTTPRequest.Method, target: String, headerFields: HTTPFields, body: [UInt8],
        parameters: Parameters = [:], call: [UInt8] = [], authorization: AuthorizationPolicy? = nil,
        subjects: [String], invalidates: [CacheScope] = [], key: UUID, mayHaveBeenSent: Bool
    ) {
        self.endpoint = endpoint
        self.environment = environment
        self.account = account
        self.flight = flight
        self.method = method
        self.target = target
        self.headerFields = headerFields
        self.body = body
        self.parameters = parameters
        self.call = call
        self.authorization = authorization
        self.subjects = subjects
        self.invalidates = invalidates
        self.key = key
        self.mayHaveBeenSent = mayHaveBeenSent
    }
}

/// The functions of a layer that its ``ChangeQueue`` uses. They work as long as the layer exists.
package struct ChangeLink: Sendable {
    /// The clocks of the layer.
    package var clock: LayerClock
    /// The network that the device has.
    package var status: @Sendable () -> NetworkStatus
    /// The status now, and every change of it.
    package var statuses: AsyncStream<NetworkStatus>
    /// The account and the environment of an endpoint's service now.
    package var current: @Sendable (any Endpoint.Type) -> (account: String?, environment: ServiceEnvironment)
    /// Sends a change, unless another account is signed in by now.
    package var replay: @Sendable (UnsentChange, UUID) async throws(NetworkError) -> RawData
    /// Returns the change that a call with this endpoint would be stored as.
    package var assemble: @Sendable (any Endpoint) throws(NetworkError) -> UnsentChange
    /// Notifies the manager that made the call, if it exists. A change that has ended is not reported again.
    package var report: @Sendable (QueuedChange, Result<RawData, NetworkError>, _ isOver: Bool) async -> Void
    /// Stops notifying the manager of a change that the app removed.
    package var forget: @Sendable (UUID) -> Void
    /// Asks the system for time in the background; `nil` if the app can't.
    package var beginGrace: @Sendable (_ name: String) -> GraceHold?
}
