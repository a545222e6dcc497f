public import Runway

/// The limits of an ``ActionLog``, its redaction, and the moments at which it sends.
///
/// These are the same for every log:
///
/// - A record has at most 32 KiB as JSON; a larger one is rejected and counted. A request has at most 512 KiB of
///   records before compression.
/// - After a failure the log waits for 1 s. Each further failure doubles the wait, up to 10 minutes. A longer
///   `Retry-After` is followed, up to a day.
/// - A server may fail five times on a batch by a fault of its own, such as status 500 or 404 or a malformed body. Then
///   the batch is halved, or a batch of a single record is set aside. At most 1,000 records are set aside.
/// - At most 10,000 records of 16 MiB wait in memory while the disk fails. Beyond that, the oldest records of the
///   lowest priority are dropped.
/// - A session ends after 30 minutes without a record, and when the run ends.
///
/// ```swift
/// var options = ActionLogOptions()
/// options.interval = .seconds(60)
/// options.sampleRates = ["scrolled": 0.01]
/// options.allowsNetwork = { $0.isReachable && !$0.isExpensive }
/// ```
public struct ActionLogOptions: Sendable {
    /// The maximum number of records per request. When this many records wait, the log sends them. The default is 30,
    /// and the minimum 1. Raise it for apps that record many actions per minute.
    public var batchSize = 30
    /// The time after which a record is sent although fewer than ``batchSize`` records wait. After a restart it is
    /// measured by the times in the file.
    ///
    /// With the default, `nil`, such records wait until the app calls ``ActionLog/flush()`` or starts again. Set an
    /// interval if the server should have the records sooner, which costs battery.
    public var interval: Duration?
    /// The pause between two batches. The default is 20 ms. With a shorter pause, a long backlog is sent sooner, and
    /// the server has more load.
    public var gap = Duration.milliseconds(20)
    /// The maximum number of records that wait on disk. The default is 100,000. Beyond a limit, the oldest records of
    /// the lowest priority are evicted. Raise it for devices that are offline for weeks.
    public var maximumCount = 100_000
    /// The maximum size of the records that wait on disk, in bytes. The default is 64 MiB. Lower it if the app should
    /// use little space.
    public var maximumByteCount = 64 << 20
    /// The maximum time that a record may wait. The default is 30 days. While the system runs, changes of its date have
    /// no effect on this time. Lower it if a privacy rule requires it.
    public var maximumAge = Duration.seconds(30 * 86_400)
    /// Whether a committed record survives a power loss. Each commit then waits for the drive. The default is `true`.
    ///
    /// Records survive the end of the process in either case. Turn it off if losing the last seconds matters less than
    /// the time of the drive.
    public var survivesPowerLoss = true
    /// Redacts secrets before records are written to disk: in properties by their names, and in URLs in properties and
    /// record names. The default is `Redaction.default`.
    public var redaction = Redaction.default
    /// Encrypts records before they are written to disk. The default, `nil`, stores them unencrypted.
    public var sealing: (any PayloadSealing)?
    /// The fraction of records to record, from 0 to 1, by record name. By default all records are recorded. Records
    /// that are left out are counted.
    public var sampleRates: [String: Double] = [:]
    /// Returns whether records may be sent over a network. The default allows every reachable network.
    public var allowsNetwork: @Sendable (NetworkStatus) -> Bool = { $0.isReachable }

    /// The maximum size of the records in one request, before compression, in bytes. A larger record is sent by itself.
    package var maximumBatchByteCount = 512 << 10
    /// The number of server faults on one batch after which the batch is halved, or a single record is set aside. A
    /// fault is a status such as 500 or 404, or a malformed body. It is also the number of refusals after which an
    /// erasure is given up. The minimum is 1. `docs/storage.md` describes batches without a response.
    package var maximumServerFaults = 5
    /// The maximum number of records that are set aside; the oldest are evicted. While a server seems to refuse
    /// everything, no further record is set aside beyond this number, and none is evicted.
    package var maximumSetAsideCount = 1000
    /// The maximum size of one record as JSON, in bytes. A larger record is rejected and counted.
    package var maximumRecordByteCount = 32 << 10
    /// The maximum number of records in memory that are not on disk yet. Beyond it, the oldest records of the lowest
    /// priority are dropped.
    package var maximumBufferedCount = 10_000
    /// The maximum size of the names and properties of the records in memory, in bytes. Beyond it, the oldest records
    /// of the lowest priority are dropped.
    package var maximumBufferedByteCount = 16 << 20
    /// The time without records after which the next record begins a new session. Each run of the app begins one, too.
    package var sessionTimeout = Duration.seconds(30 * 60)
    /// The backoff after the first failure. It doubles with every further failure.
    package var baseWait = Duration.seconds(1)
    /// The maximum backoff, before jitter. A longer `Retry-After` is respected, up to a day.
    package var longestWait = Duration.seconds(600)

    /// Creates options with their default values.
    public init() {}
}

extension ActionLogOptions {
    /// Half of each delay is certain, so that no device retries at once. The other half is random, so that devices that
    /// failed together do not retry together.
    var backoff: Backoff { Backoff(base: baseWait, longest: longestWait, certainPart: 0.5) }

    var limits: JournalLimits {
        JournalLimits(
            maximumCount: maximumCount, maximumByteCount: maximumByteCount, maximumAge: maximumAge,
            maximumSetAsideCount: maximumSetAsideCount)
    }

    var durability: StorageDatabase.Durability { survivesPowerLoss ? .full : .normal }
}

/// The priority of a record in an ``ActionLog``. It decides which records are evicted first or sent at once.
public enum ActionPriority: Int, Sendable, Comparable {
    /// The record is evicted before all others.
    case low
    /// The default priority.
    case normal
    /// The record is evicted last, and sent at once.
    case high

    /// Returns whether the first priority is lower than the second.
    public static func < (lhs: Self, rhs: Self) -> Bool { lhs.rawValue < rhs.rawValue }
}
