public import Runway

/// The limits of an ``ActionLog``, its redaction, and the moments at which it sends.
///
/// These are the same for every log:
///
/// - A record has at most 32 KiB as JSON; a larger one is rejected and counted. A request has at most 512 KiB of
///   records before compression.
/// - After a failure the log waits for 1 s, and twice as long after each further one, up to 10 minutes. A longer
///   `Retry-After` is followed, up to a day.
/// - A server may fail five times on a batch by a fault of its own, such as status 500 or 404 or a malformed body. Then
///   the batch is halved, or a batch of a single record is set aside. At most 1,000 records are set aside.
/// - At most 10,000 records of 16 MiB wait in memory while the disk fails; the oldest of the lowest priority are
///   dropped.
/// - A session ends with 30 minutes without a record, and with the run.
///
/// ```swift
/// var options = ActionLogOptions()
/// options.interval = .seconds(60)
/// options.sampleRates = ["scrolled": 0.01]
/// options.allowsNetwork = { $0.isReachable && !$0.isExpensive }
/// ```
public struct ActionLogOptions: Sendable {
    /// The most records that are sent in one request, and the number of waiting ones that are sent unasked. The default
    /// is 30; at least 1. Raise it for apps that record many actions a minute.
    public var batchSize = 30
    /// The time after its recording at which a record is sent although fewer than ``batchSize`` wait; in a later run,
    /// by the clock of the file. The default, `nil`, is until the app asks (``ActionLog/flush()``), or starts again.
    /// Set it if the server should know sooner, at the price of the radio.
    public var interval: Duration?
    /// The pause between two batches. The default is 20 ms. Lower it to send a long backlog sooner, which the server
    /// then receives faster.
    public var gap = Duration.milliseconds(20)
    /// The most records that wait on disk. The default is 100,000. Those that exceed a bound are evicted, oldest of the
    /// lowest priority first. Raise it for devices that are offline for weeks.
    public var maximumCount = 100_000
    /// The most bytes of records that wait on disk. The default is 64 MiB. Lower it if the app has to be small.
    public var maximumByteCount = 64 << 20
    /// The longest time that a record may wait. The default is 30 days. The date has no influence on it while the
    /// system runs. Lower it if a rule of privacy demands it.
    public var maximumAge = Duration.seconds(30 * 86_400)
    /// Whether a committed record survives a power loss, for which every commit waits for the drive. The default is
    /// `true`. Records survive the end of the process either way. Turn it off if losing the last seconds costs less
    /// than waiting for the drive.
    public var survivesPowerLoss = true
    /// Removes secrets from properties, by their names, and from URLs in them and in names of records, before they are
    /// written to disk. The default is `Redaction.default`.
    public var redaction = Redaction.default
    /// Encrypts records before they are written to disk. The default, `nil`, stores them as they are.
    public var sealing: (any PayloadSealing)?
    /// The fraction of records of a name that is recorded, from 0 to 1. The default is all of every name. Records that
    /// are left out are counted.
    public var sampleRates: [String: Double] = [:]
    /// Returns whether records may be sent over a network. The default is any that reaches a host.
    public var allowsNetwork: @Sendable (NetworkStatus) -> Bool = { $0.isReachable }

    /// The most bytes of records in one request, before compression; a larger record is sent by itself.
    package var maximumBatchByteCount = 512 << 10
    /// The number of times that a server may fail on one batch by a fault of its own, such as status 500 or 404 or a
    /// malformed body, before the batch is halved, or a batch of a single record is set aside. It is also the number of
    /// times that the server may refuse an erasure. At least 1. `docs/storage.md` describes batches to which no
    /// response comes.
    package var maximumServerFaults = 5
    /// The most records that are set aside; the oldest are evicted. While a server seems to refuse everything, none is
    /// evicted: no record is then set aside beyond this number.
    package var maximumSetAsideCount = 1000
    /// The most bytes of one record as JSON. A larger one is rejected and counted.
    package var maximumRecordByteCount = 32 << 10
    /// The most records in memory that are not on disk yet, because they are being written or because the disk fails;
    /// the oldest of the lowest priority are dropped.
    package var maximumBufferedCount = 10_000
    /// The most bytes of names and properties of such records; the oldest of the lowest priority are dropped.
    package var maximumBufferedByteCount = 16 << 20
    /// The silence after which the next record begins a new session. Every run of the app begins one.
    package var sessionTimeout = Duration.seconds(30 * 60)
    /// The backoff after the first failure; it doubles with every further one.
    package var baseWait = Duration.seconds(1)
    /// The longest backoff, before jitter. A longer `Retry-After` is followed, up to a day.
    package var longestWait = Duration.seconds(600)

    /// Creates options with their defaults.
    public init() {}
}

extension ActionLogOptions {
    /// Half of each wait is certain: devices that failed together do not return together, nor at once.
    var backoff: Backoff { Backoff(base: baseWait, longest: longestWait, certainPart: 0.5) }

    var limits: JournalLimits {
        JournalLimits(
            maximumCount: maximumCount, maximumByteCount: maximumByteCount, maximumAge: maximumAge,
            maximumSetAsideCount: maximumSetAsideCount)
    }

    var durability: StorageDatabase.Durability { survivesPowerLoss ? .full : .normal }
}

/// The priority of a record of an ``ActionLog``: it decides which records are evicted first, and whether a record waits
/// for others before it is sent.
public enum ActionPriority: Int, Sendable, Comparable {
    /// A record that is evicted first.
    case low
    /// The default.
    case normal
    /// A record that is evicted last, and sent at once.
    case high

    /// Whether `lhs` is evicted before `rhs`.
    public static func < (lhs: Self, rhs: Self) -> Bool { lhs.rawValue < rhs.rawValue }
}
