/// Bounds the calls of one document. Calls that exceed a bound are refused and recorded.
///
/// The defaults suit pages that list and edit things. Raise a bound for a page that needs more; `runway.js` has bounds
/// of its own, 256 calls in flight and inputs of 1 MiB, which hold for every page.
public struct BridgeLimits: Sendable, Hashable {
    /// The greatest number of calls in flight. The default is 32.
    public var maximumCallsInFlight: Int
    /// The sustained number of calls per second, which is also the largest burst. The default is 200.
    public var callsPerSecond: Int
    /// The size of the input of a call as JSON. The default, and the most, is 1 MiB.
    public var maximumInputByteCount: Int
    /// The depth to which arrays and objects of an input are nested. The default is 64.
    public var maximumDepth: Int
    /// The greatest number of parts that were sent and not yet taken by the page. The default is 8.
    public var partsAhead: Int

    /// Creates bounds. The default of each parameter is that of its property.
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
