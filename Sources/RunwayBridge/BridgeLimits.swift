/// Bounds the calls of one document. What exceeds a bound is refused and recorded.
///
/// The defaults suit pages that list and edit things. Raise a bound for a page that needs more; `runway.js` has bounds
/// of its own, 256 calls in flight and inputs of 1 MiB, which hold for every page.
public struct BridgeLimits: Sendable, Hashable {
    /// The greatest number of calls in flight. The default is 32.
    public var maximumCallsInFlight: Int
    /// The number of calls per second, over time; a burst may have as many at once. The default is 200.
    public var callsPerSecond: Int
    /// The size of the input of a call as JSON. The default, and the most, is 1 MiB.
    public var maximumInputByteCount: Int
    /// The depth to which arrays and objects of an input are nested. The default is 64.
    public var maximumDepth: Int
    /// The number of parts that a command sends before the page has taken the first of them. The default is 8.
    public var partsAhead: Int

    /// Creates bounds; each has its default.
    public init(
        maximumCallsInFlight: Int = 32, callsPerSecond: Int = 200, maximumInputByteCount: Int = 1 << 20,
        maximumDepth: Int = 64, partsAhead: Int = 8
    ) {
        self.maximumCallsInFlight = maximumCallsInFlight
        self.callsPerSecond = callsPerSecond
        self.maximumInputByteCount = maximumInputByteCount
        self.maximumDepth = maximumDepth
        self.partsAhead = partsAhead
    }
}
