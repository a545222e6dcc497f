/// Limits of one update, which The Update Framework leaves to the application.
public struct UpdateLimits: Sendable, Hashable {
    /// The maximum length of root metadata in bytes (W in §5.3.3). The default is 512,000.
    public var rootByteCount = 512_000
    /// The maximum length of timestamp metadata in bytes (X in §5.4.1). The default is 16,384.
    public var timestampByteCount = 16_384
    /// The maximum length of snapshot metadata in bytes, also if the timestamp lists more (§5.5.1). The default is
    /// 2,000,000.
    public var snapshotByteCount = 2_000_000
    /// The maximum length of targets metadata in bytes, also if the snapshot lists more (§5.6.1). The default is
    /// 5,000,000.
    public var targetsByteCount = 5_000_000
    /// The maximum number of root versions that one update reads (Y in §5.3.3). The default is 32; the next update
    /// continues with the rest.
    public var rootRotations = 32
    /// The maximum number of roles that the search for one target visits (§5.6.7.1). The default is 32.
    public var visitedRoles = 32

    /// Creates the default limits.
    public init() {}
}
