public import Runway

/// The limits of an ``OfflineQueue``, and the moments at which it sends.
///
/// These are the same for every queue:
///
/// - The call of a change of more than 1 MiB fails.
/// - A server may fail five times in one run on a change by a fault of its own, such as status 500. Then the change is
///   handed to the app.
/// - There are 50 ms between two changes. After a failure the queue waits for 1 s, and twice as long after each further
///   one, up to 10 minutes; a longer `Retry-After` is followed, up to a day. If nothing else makes it, the queue looks
///   every 5 minutes for changes that it can send.
///
/// ```swift
/// var options = OfflineQueueOptions()
/// options.maximumAge = .seconds(7 * 86_400)
/// options.allowsNetwork = { $0.isReachable && !$0.isConstrained }
/// ```
public struct OfflineQueueOptions: Sendable {
    /// The most changes in the queue, those that the app has to decide about included. The default is 1,000. A full
    /// queue refuses further changes, whose calls fail; it removes none. Raise it for apps that are used offline for
    /// days.
    public var maximumCount = 1000
    /// The most bytes of all changes. The default is 16 MiB. Raise it for changes with large contents.
    public var maximumByteCount = 16 << 20
    /// The longest time that a change may wait to be sent. The default is 30 days. After that it is reported to the app
    /// as `QueuedChange.State.expired`. While the system runs, the date has no influence, unless the server may have
    /// received the change. If it may have, or if the system was started since the change was stored, as before a
    /// backup was restored, the date counts: a change whose date is further away than this time, in the past or in the
    /// future, is reported, too, when its turn comes.
    ///
    /// The time must be shorter, by a day, than the one for which the server stores responses under their keys:
    /// `IdempotencyMiddleware` stores them for 31 days (`IdempotencyRules.lifetime`). A change that is sent again after
    /// that has a second effect.
    public var maximumAge = Duration.seconds(30 * 86_400)
    /// Encrypts changes before they are written to disk. The default, `nil`, stores them as they are.
    public var sealing: (any PayloadSealing)?
    /// Whether changes may be sent over a network. The default is any that reaches a host.
    public var allowsNetwork: @Sendable (NetworkStatus) -> Bool = { $0.isReachable }
    /// Whether a stored change survives a power loss, for which every commit waits for the drive. The default is
    /// `true`. Changes survive the end of the process either way. Turn it off if losing the last seconds costs less
    /// than waiting for the drive.
    public var survivesPowerLoss = true

    /// The most bytes of one change. The call of a larger one fails.
    package var maximumChangeByteCount = 1 << 20
    /// The number of times in one run that a server may fail on one change by a fault of its own, such as status 500,
    /// before the change is reported to the app. `docs/storage.md` describes changes to which no response comes.
    package var maximumServerFaults = 5
    /// The pause between two changes.
    package var gap = Duration.milliseconds(50)
    /// The time after which the queue looks for changes that it can send, if nothing else makes it.
    package var interval = Duration.seconds(300)
    /// The backoff after the first failure; it doubles with every further one.
    package var baseWait = Duration.seconds(1)
    /// The longest backoff, before jitter. A longer `Retry-After` is followed, up to a day.
    package var longestWait = Duration.seconds(600)

    /// Creates options with their defaults.
    public init() {}
}

extension OfflineQueueOptions {
    /// Half of each wait is certain: devices that failed together do not return together, nor at once.
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
/// If the endpoint is `Decodable`, the closure gets the call as it was made, with its `Unencoded` properties. For any
/// other endpoint, the closure has two parameters, and `QueuedChange.parameters` has the sent parameters.
public struct ReplayedEndpoint: Sendable {
    /// A function that is called with a change and its result.
    public typealias Handler = @Sendable (QueuedChange, Result<RawData, NetworkError>) async -> Void

    /// A function that is called with the call, the change and its result. The call is `nil` if it was stored by a
    /// version of the app in which the endpoint was not `Decodable` or had other properties: the change then has its
    /// parameters.
    public typealias CallHandler<E: Endpoint> =
        @Sendable (
            E?, QueuedChange, Result<RawData, NetworkError>
        ) async -> Void

    let endpoint: any Endpoint.Type
    let onResult: Handler

    /// Names an endpoint by its type, and restores its calls for the handler.
    ///
    /// - Parameters:
    ///   - endpoint: The endpoint. All its stored properties are stored with a change, including those that are
    ///     `Unencoded`.
    ///   - onResult: Called like `onResult` of ``init(_:onResult:)``, with the call that was made as an additional
    ///     argument.
    public init<E: Endpoint & Decodable>(_ endpoint: E.Type, onResult: @escaping CallHandler<E>) {
        self.init(endpoint) { change, result in await onResult(change.call(as: E.self), change, result) }
    }

    /// Names an endpoint by its type.
    ///
    /// - Parameters:
    ///   - endpoint: The endpoint. Its name must be unique among the endpoints of its service, and must not change from
    ///     one version of the app to the next.
    ///   - onResult: Called when a change was sent and has succeeded, when the server refused it, and when it expired;
    ///     in this run of the app or a later one. The queue sends nothing until the handler returns. A success is
    ///     reported once in a run and, if the app ends before the handler returns or before the change could be removed
    ///     from disk, again in the next. If the server has executed the change and does not have its response any more,
    ///     this is a success whose response has status 409 and says so. The handler is not called for a change that the
    ///     app cancels, discards or erases.
    public init<E: Endpoint>(_ endpoint: E.Type, onResult: @escaping Handler = { _, _ in }) {
        self.endpoint = endpoint
        self.onResult = onResult
    }
}
