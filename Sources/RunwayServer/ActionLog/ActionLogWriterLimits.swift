/// The bounds of what waits for a sink's writer.
public struct ActionLogWriterLimits: Sendable, Hashable {
    /// The most batches that wait; further ones are refused with ``ActionLogSinkBusy``. The default is 1,024.
    public var maximumWaitingCount = 1024
    /// The most bytes of batches that wait. The default is 64 MiB.
    public var maximumWaitingByteCount = 64 << 20
    /// The most batches of one transaction. The default is 256.
    public var maximumGroupCount = 256
    /// The most bytes of one transaction. The default is 8 MiB; a larger batch is stored by itself.
    public var maximumGroupByteCount = 8 << 20
    /// Whether a stored batch survives a power loss, for which each transaction waits for the drive. The default is
    /// `true`. It survives the end of the process either way.
    public var survivesPowerLoss = true

    /// Creates limits with their defaults.
    public init() {}

    package var queue: CommitQueueLimits {
        CommitQueueLimits(
            maximumWaitingCount: maximumWaitingCount, maximumWaitingByteCount: maximumWaitingByteCount,
            maximumGroupCount: maximumGroupCount, maximumGroupByteCount: maximumGroupByteCount)
    }
}
