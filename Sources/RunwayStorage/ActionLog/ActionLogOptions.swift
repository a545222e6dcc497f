public import Runway

/// The bounds of an ``ActionLog``, what it redacts, and when it sends.
///
/// ```swift
/// var options = ActionLogOptions()
/// options.interval = .seconds(60)
/// options.sampleRates = ["scrolled": 0.01]
/// options.allowsNetwork = { $0.isReachable && !$0.isExpensive }
/// ```
public struct ActionLogOptions: Sendable {
    /// How many records are sent in one request, and how many wait before they are sent unasked. The default is 30; at
    /// least 1.
    public var batchSize = 30
    /// The most bytes of records in one request, before compression. The default is 512 KiB; a larger record is sent
    /// alone.
    public var maximumBatchByteCount = 512 << 10
    /// How long after it was recorded a record is sent although fewer than ``batchSize`` wait; in a later run, by the
    /// clock of the file. The default, `nil`, is until the app asks (``ActionLog/flush()``), or starts again.
    public var interval: Duration?
    /// The pause between two batches. The default is 20 ms.
    public var gap = Duration.milliseconds(20)
    /// How often a server may fail on one batch by a fault of its own, such as status 500 or 404 or a malformed body,
    /// before the batch is halved, or a batch of a single record is set aside; and how often it may refuse an erasure.
    /// The default is 5; at least 1. If no response comes to a batch, see `docs/storage.md`.
    public var maximumServerFaults = 5
    /// The most records that wait on disk. The default is 100,000. Those that exceed a bound are evicted, oldest of the
    /// lowest priority first.
    public var maximumCount = 100_000
    /// The most bytes of records that wait on disk. The default is 64 MiB.
    public var maximumByteCount = 64 << 20
    /// How long a record may wait. The default is 30 days. The date has no influence on it while the system runs.
    public var maximumAge = Duration.seconds(30 * 86_400)
    /// The most records that are set aside. The default is 1,000; the oldest are evicted. While a server seems to
    /// refuse everything, none is evicted: no record is then set aside beyond this number.
    public var maximumSetAsideCount = 1000
    /// The most bytes of one record as JSON. The default is 32 KiB. A larger one is rejected and counted.
    public var maximumRecordByteCount = 32 << 10
    /// The most records in memory that are not on disk yet, because they are being written or because the disk fails.
    /// The default is 10,000; the oldest of the lowest priority are dropped.
    public var maximumBufferedCount = 10_000
    /// The most bytes of names and properties of such records. The default is 16 MiB; the oldest of the lowest priority
    /// are dropped.
    public var maximumBufferedByteCount = 16 << 20
    /// Whether a committed record survives a power loss, for which every commit waits for the drive. The default is
    /// `true`. Records survive the end of the process either way.
    public var survivesPowerLoss = true
    /// Removes secrets from properties, by their names, and from URLs in them and in names of records, before they are
    /// written to disk. The default is `Redaction.default`.
    public var redaction = Redaction.default
    /// Encrypts records before they are written to disk. The default, `nil`, stores them as they are.
    public var sealing: (any PayloadSealing)?
    /// The fraction of records of a name that is recorded, from 0 to 1. The default is all of every name. What is not
    /// recorded is counted.
    public var sampleRates: [String: Double] = [:]
    /// Whether records may be sent over a network. The default is any that reaches a host.
    public var allowsNetwork: @Sendable (NetworkStatus) -> Bool = { $0.isReachable }
    /// The silence after which the next record begins a new session. The default is 30 minutes. Every run of the app
    /// begins one.
    public var sessionTimeout = Duration.seconds(30 * 60)
    /// The backoff after the first failure; it doubles with every further one. The default is 1 s.
    public var baseWait = Duration.seconds(1)
    /// The longest backoff, before jitter. The default is 10 minutes. A longer `Retry-After` is followed, up to a day.
    public var longestWait = Duration.seconds(600)

    /// Creates options with their defaults.
    public init() {}
}

extension ActionLogOptions {
    var limits: JournalLimits {
        JournalLimits(
            maximumCount: maximumCount, maximumByteCount: maximumByteCount, maximumAge: maximumAge,
            maximumSetAsideCount: maximumSetAsideCount)
    }

    var durability: StorageDatabase.Durability { survivesPowerLoss ? .full : .normal }
}

/// Which records of an ``ActionLog`` are evicted first, and whether one waits for others before it is sent.
public enum ActionPriority: Int, Sendable, Comparable {
    /// Evicted first.
    case low
    /// The default.
    case normal
    /// Evicted last, and sent at once.
    case high

    /// Whether `lhs` is evicted before `rhs`.
    public static func < (lhs: Self, rhs: Self) -> Bool { lhs.rawValue < rhs.rawValue }
}
