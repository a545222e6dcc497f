/// Limits how many failed verifications of one source are permitted. Counts for 4,096 sources are stored; a further
/// source replaces another.
///
/// The following failures do not count:
///
/// - requests without a signature or with a wrong clock
/// - requests with a nonce that was used or is unknown to the server
/// - failures of a store
/// - bodies that are refused because of their `Content-Length`
public struct FailureLimits: Sendable, Hashable {
    /// The maximum number of failures of a source in a burst. The default is 100. Raise it if many clients share an
    /// address.
    public var burst: Int
    /// The number of further failures that are permitted per second. The default is 10.
    public var perSecond: Int
    /// The maximum number of sources whose counts are stored, at 32 bytes each.
    var maximumSources = 4_096

    /// Creates limits, each at least 1. Each parameter has the default of its property.
    public init(burst: Int = 100, perSecond: Int = 10) {
        precondition(burst > 0 && perSecond > 0, "Limits of failures are at least 1")
        (self.burst, self.perSecond) = (burst, perSecond)
    }
}
