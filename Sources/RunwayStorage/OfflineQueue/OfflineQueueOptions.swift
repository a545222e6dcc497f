public import Runway

/// The limits of an ``OfflineQueue``, and the moments at which it sends.
///
/// These are the same for every queue:
///
/// - A call whose change has more than 1 MiB fails.
/// - A server may fail five times in one run on a change by a fault of its own, such as status 500. Then the change is
///   handed to the app.
/// - There are 50 ms between two changes.
/// - After a failure the queue waits for 1 s. Each further failure doubles the wait, up to 10 minutes. A longer
///   `Retry-After` is followed, up to a day.
/// - Every 5 minutes at the latest, the queue looks for changes that it can send.
///
/// ```swift
/// var options = OfflineQueueOptions()
/// options.maximumAge = .seconds(7 * 86_400)
/// options.allowsNetwork = { $0.isReachable && !$0.isConstrained }
/// ```
public struct OfflineQueueOptions: Sendable {
    /// The maximum number of changes in the queue, including those that the app has to decide about. The default is
    /// 1,000. A full queue refuses further changes, and their calls fail; it never removes changes to make room. Raise
    /// it for apps that are used offline for days.
    public var maximumCount = 1000
    /// The maximum size of all changes together, in bytes. The default is 16 MiB. Raise it for changes with large
    /// bodies.
    public var maximumByteCount = 16 << 20
    /// The maximum time that a change may wait to be sent. The default is 30 days. After it, the change is reported to
    /// the app as `QueuedChange.State.expired`.
    ///
    /// While the system runs, changes of its date have no effect on this time. But the date counts if the server may
    /// have received the change, or if the system was restarted since the change was stored. Then a change whose date
    /// is further away than this time, in the past or future, is reported when it should be sent.
    ///
    /// This time must be shorter, by a day, than the time for which the server stores responses under their keys.
    /// `IdempotencyMiddleware` stores them for 31 days (`IdempotencyRules.lifetime`). A change that is sent again after
    /// the server has removed its key has a second effect.
    public var maximumAge = Duration.seconds(30 * 86_400)
    /// Encrypts changes before they are written to disk. The default, `nil`, stores them unencrypted.
    public var sealing: (any PayloadSealing)?
    /// Returns whether changes may be sent over a network. The default allows every reachable network.
    public var allowsNetwork: @Sendable (NetworkStatus) -> Bool = { $0.isReachable }
    /// Whether a stored change survives a power loss. Each commit then waits for the drive. The default is `true`.
    ///
    /// Changes survive the end of the process in either case. Turn it off if losing the last seconds matters less than
    /// the time of the drive.
    public var survivesPowerLoss = true

    /// The maximum size of one change in bytes. The call of a larger change fails.
    package var maximumChangeByteCount = 1 << 20
    /// The number of server faults on one change in one run, such as status 500, after which it is reported to the app.
    /// `docs/storage.md` describes changes without a response.
    package var maximumServerFaults = 5
    package var gap = Duration.milliseconds(50)
    /// The time after which the queue looks for changes to send, if no other event makes it look.
    package var interval = Duration.seconds(300)
    /// The backoff after the first failure. It doubles with every further failure.
    package var baseWait = Duration.seconds(1)
    /// The maximum backoff, before jitter. A longer `Retry-After` is respected, up to a day.
    package var longestWait = Duration.seconds(600)

    /// Creates options with their default values.
    public init() {}
}

extension OfflineQueueOptions {
    /// Half of each delay is certain, so that no device retries at once. The other half is random, so that devices that
    /// failed together do not retry together.
    var backoff: Backoff { Backoff(base: baseWait, longest: longestWait, certainPart: 0.5) }

    var limits: JournalLimits {
        JournalLimits(
            maximumCount: maximumCount, maximumByteCount: maximumByteCount, maximumAge: maximumAge,
            maximumSetAsideCount: maximumCount)
    }
}

/// An endpoint whose calls an ``OfflineQueue`` sends later, and the handler of the results.
///
/// ```swift
/// let endpoint = ReplayedEndpoint(RenameNote.self) { rename, _, result in await notes.finish(rename, result) }
/// ```
///
/// If the endpoint is `Decodable`, the closure receives the call as it was made, with its `Unencoded` properties. For
/// any other endpoint, the closure has two parameters, and the sent parameters are in `QueuedChange.parameters`.
public struct ReplayedEndpoint: Sendable {
    /// Receives a change and its result. The queue sends nothing until the handler returns.
    public typealias Handler = @Sendable (QueuedChange, Result<RawData, NetworkError>) async -> Void

    /// Receives the call, the change and its result. The call is `nil` if another version of the app stored it, and the
    /// endpoint was not `Decodable` or had other properties in that version. The change still has its parameters.
    public typealias CallHandler<E: Endpoint> =
        @Sendable (
            E?, QueuedChange, Result<RawData, NetworkError>
        ) async -> Void

    let endpoint: any Endpoint.Type
    let onResult: Handler

    /// Registers a `Decodable` endpoint, and restores its calls for the handler.
    ///
    /// - Parameters:
    ///   - endpoint: The endpoint. All its stored properties, including `Unencoded` ones, are stored with a change.
    ///   - onResult: Called like `onResult` of ``init(_:onResult:)``, with the original call as an additional argument.
    public init<E: Endpoint & Decodable>(_ endpoint: E.Type, onResult: @escaping CallHandler<E>) {
        self.init(endpoint) { change, result in await onResult(change.call(as: E.self), change, result) }
    }

    /// Registers an endpoint.
    ///
    /// - Parameters:
    ///   - endpoint: The endpoint. Its name must be unique within its service, and must not change between versions of
    ///     the app.
    ///   - onResult: Called when a change has succeeded, was refused by the server, or has expired, in this run or a
    ///     later one. The queue sends nothing until the handler returns.
    ///
    /// A success is reported once per run. If the app ends before the handler returns, or before the change is removed
    /// from disk, the next run reports it again. If the server has executed the change but no longer has the response,
    /// this is a success with a 409 response that states so. The handler is not called for a change that the app
    /// cancels, discards or erases.
    public init<E: Endpoint>(_ endpoint: E.Type, onResult: @escaping Handler = { _, _ in }) {
        self.endpoint = endpoint
        self.onResult = onResult
    }
}
