/// Limits for the batches that are pending in a sink.
public struct ActionLogWriterLimits: Sendable, Hashable {
    /// The maximum size of pending batches in bytes. The default is 64 MiB. Lower it for a server with little memory.
    ///
    /// Further batches are refused with ``StoreRefusal/busy``, as are batches beyond 1,024 pending ones.
    public var maximumWaitingByteCount = 64 << 20
    package var maximumWaitingCount = 1024
    /// Whether a stored batch survives a power loss. The default is `true`: each transaction waits for the drive.
    ///
    /// A stored batch survives the end of the process either way. Set it to `false` if a slow drive costs more than
    /// losing the last seconds.
    public var survivesPowerLoss = true

    /// Creates limits with the default values.
    public init() {}

    package var queue: CommitQueueLimits {
        CommitQueueLimits(
            maximumWaitingCount: maximumWaitingCount, maximumWaitingByteCount: maximumWaitingByteCount,
            maximumGroupCount: 256, maximumGroupByteCount: 8 << 20)
    }
}
