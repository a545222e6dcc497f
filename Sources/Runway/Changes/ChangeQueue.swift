public import HTTPTypes

public import struct Foundation.UUID

/// Stores calls that change data if they can't be sent now, and sends them later: see ``OfflinePolicy``.
///
/// Pass a queue to the initialiser of ``NetworkLayer``. `OfflineQueue` of `RunwayStorage` stores changes on disk. A
/// queue belongs to one layer.
public protocol ChangeQueue: Sendable {
    /// Connects the queue with its layer. Called once. The implementation must return immediately, and must not retain
    /// the layer.
    func start(for network: NetworkLayer)
    /// Returns whether the queue can send calls of an endpoint later. Called for every call of an endpoint whose
    /// ``OfflinePolicy`` allows queueing.
    func accepts(_ endpoint: any Endpoint.Type) -> Bool
    /// Returns whether the change must wait, because an earlier change of the same service, environment and account is
    /// waiting. Some earlier changes wait for the app's decision, or are held because of such a change. They count only
    /// if they change an object that `change` also changes (``UnsentChange/subjects``).
    func hasToWait(_ change: UnsentChange) async throws -> Bool
    /// Stores a change whose call is about to be sent. If the process ends before the call does, a later run sends the
    /// change under the same idempotency key. While the call is in flight, the change is not listed as waiting, and no
    /// other change waits for it. The default implementation stores nothing.
    ///
    /// - Returns: The identifier for ``store(_:)`` and ``removeWritten(_:)``; `nil` if the change was not stored.
    /// - Throws: An error that says why the change can't be stored. The call is sent nevertheless.
    func writeAhead(_ change: UnsentChange) async throws -> UUID?
    /// Removes a change that ``writeAhead(_:)`` stored, since its call has ended. The implementation must return
    /// immediately. The default implementation does nothing.
    func removeWritten(_ change: UUID)
    /// Stores a change. Replaces the change that ``writeAhead(_:)`` stored with the same ``UnsentChange/id``, if any.
    /// After the return, the change survives the end of the process. The queue must not send it before
    /// ``settle(_:isQueued:)``.
    ///
    /// - Throws: An error that says why the change can't be stored, for example because the queue is full.
    func store(_ change: UnsentChange) async throws -> QueuedChange
    /// Decides about a stored change when its call has ended. If `isQueued` is true, the queue may send the change.
    /// Otherwise the call was cancelled, and the queue removes the change.
    func settle(_ change: UUID, isQueued: Bool) async
    /// Notifies the queue that another account signed in to a service, or that the settings of a service changed.
    func servicesDidChange()
    /// Delays the changes of an account until the app has received the events that it missed, or until `limit` has
    /// passed. The default implementation does nothing.
    ///
    /// Several callers can delay the same account. Its changes wait until no caller delays them.
    ///
    /// - Parameters:
    ///   - service: The service.
    ///   - environment: The environment of the service.
    ///   - account: The account. `nil` if no account is signed in; the delay then also applies to the first account
    ///     that signs in.
    ///   - owner: Identifies the caller. An owner delays one account at a time: delaying another account ends the first
    ///     delay.
    ///   - limit: The maximum wait, counted from the moment at which the changes could be sent. `nil` ends the owner's
    ///     delay for every account.
    func delayChanges(
        of service: any APIService.Type, in environment: ServiceEnvironment, for account: String?, owner: UUID,
        upTo limit: Duration?
    )
}

extension ChangeQueue {
    /// Stores nothing: the default implementation.
    public func writeAhead(_ change: UnsentChange) async throws -> UUID? { nil }

    /// Does nothing: the default implementation.
    public func removeWritten(_ change: UUID) {}

    /// Does nothing: the default implementation.
    public func delayChanges(
        of service: any APIService.Type, in environment: ServiceEnvironment, for account: String?, owner: UUID,
        upTo limit: Duration?
    ) {}
}

/// The data of a call, stored so that the call can be sent later.
///
/// The data contain no token, cookie or signature; the layer adds them when it sends the change. The common header
/// fields of the service are not stored either: the change is sent with the common fields that the service has at that
/// time.
public struct UnsentChange: Sendable {
    /// The endpoint type of the call.
    public var endpoint: any Endpoint.Type
    /// The environment of the service in which the call was made.
    public var environment: ServiceEnvironment
    /// The account that made the call; `nil` if no account was signed in.
    public var account: String?
    /// The identifier that ``ChangeQueue/writeAhead(_:)`` returned for the change; `nil` if the change was not stored
    /// before the call was sent.
    public var id: UUID?
    /// The number of the call. Changes are sent in the order of their numbers. `nil` for a change that was read from
    /// storage.
    public var flight: FlightID?
    /// The HTTP method of the request.
    public var method: HTTPRequest.Method
    /// The path and query relative to the service's base URL, beginning with a slash.
    public var target: String
    /// The header fields of the request, without the common header fields of the service.
    public var headerFields: HTTPFields
    /// The request body; empty if the request has none.
    public var body: [UInt8]
    /// The parameters of the call, without the common parameters of the service. A list of waiting changes can display
    /// them.
    public var parameters: Parameters
    /// The endpoint as JSON, including its ``Unencoded`` properties, for ``QueuedChange/call(as:)``. Empty if the
    /// endpoint is not `Decodable`.
    public var call: [UInt8]
    /// Determines whether the call carries the service's access token; `nil` applies the policy of the endpoint. See
    /// ``CallOptions/authorization``.
    public var authorization: AuthorizationPolicy?
    /// The names of the objects that the call changes; see ``Endpoint/offlineSubjects``.
    public var subjects: [String]
    /// The endpoints and services whose stored responses the call invalidates; see ``Endpoint/invalidates``.
    public var invalidates: [CacheScope]
    /// The value of the `Idempotency-Key` field, equal in all attempts.
    public var key: UUID
    /// Whether the server may have received the request.
    public var mayHaveBeenSent: Bool
    /// The wait that the server asked for; `nil` if it asked for none.
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

/// The functions of a layer that its ``ChangeQueue`` uses. They have no effect after the layer is released.
package struct ChangeLink: Sendable {
    package var clock: LayerClock
    /// Returns the current network status.
    package var status: @Sendable () -> NetworkStatus
    /// The current network status, followed by every change of it.
    package var statuses: AsyncStream<NetworkStatus>
    /// Returns the current account and environment of an endpoint's service.
    package var current: @Sendable (any Endpoint.Type) -> (account: String?, environment: ServiceEnvironment)
    /// Sends a change, unless another account has signed in.
    package var replay: @Sendable (UnsentChange, UUID) async throws(NetworkError) -> RawData
    /// Returns the change that the queue would store for a call of an endpoint.
    package var assemble: @Sendable (any Endpoint) throws(NetworkError) -> UnsentChange
    /// Notifies the manager that made the call, if that manager still exists. Once `isOver` is true, the change is not
    /// reported again.
    package var report: @Sendable (QueuedChange, Result<RawData, NetworkError>, _ isOver: Bool) async -> Void
    /// Stops reporting a change to its manager. Called when the app removes the change.
    package var forget: @Sendable (UUID) -> Void
    /// Requests background time from the system. Returns `nil` if the app can't get any.
    package var beginGrace: @Sendable (_ name: String) -> GraceHold?
}
