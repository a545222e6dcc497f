/// Limits the failures of one source that are examined. 4,096 sources are remembered; a further one replaces another.
///
/// These failures do not count: requests without a signature, with a wrong clock, or with a nonce that was used or is
/// unknown to the server, failures of a store, and bodies that are refused because of their `Content-Length`.
public struct FailureLimits: Sendable, Hashable {
    /// The most failures of a source at once. The default is 100. Raise it if many clients share an address.
    public var burst: Int
    /// The number of further failures that are allowed with each second. The default is 10.
    public var perSecond: Int
    /// The greatest number of sources that are remembered, 32 bytes each; a source beyond it replaces another.
    var maximumSources = 4_096

    /// Bounds the failed verifications of a source. Each bound is at least 1; see the properties for the defaults.
    public init(burst: Int = 100, perSecond: Int = 10) {
        precondition(burst > 0 && perSecond > 0, "Limits of failures are at least 1")
        (self.burst, self.perSecond) = (burst, perSecond)
    }
}
