/// Limits for the elements that wait for a sink's writer.
public struct ActionLogWriterLimits: Sendable, Hashable {
    /// The most bytes of batches that wait; further ones are refused with ``ActionLogSinkBusy``, as is a batch for
    /// which 1,024 others wait. The default is 64 MiB. Lower it for a server with little memory.
    public var maximumWaitingByteCount = 64 << 20
    /// The most batches that wait.
    package var maximumWaitingCount = 1024
    /// Whether a stored batch survives a power loss, for which each transaction waits for the drive. The default is
    /// `true`. It survives the end of the process either way. Turn it off if losing the last seconds costs less than a
    /// slow drive does.
    public var survivesPowerLoss = true

    /// Creates limits with their defaults.
    public init() {}

    package var queue: CommitQueueLimits {
        CommitQueueLimits(
            maximumWaitingCount: maximumWaitingCount, maximumWaitingByteCount: maximumWaitingByteCount,
            maximumGroupCount: 256, maximumGroupByteCount: 8 << 20)
    }
}
