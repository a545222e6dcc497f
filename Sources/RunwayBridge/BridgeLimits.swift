/// Limits for the calls of one document, that is of one page that a web view has loaded. Calls that exceed a limit are
/// refused and recorded.
///
/// The defaults suit pages that show and edit lists. Raise a limit for a page that needs more, up to the limits of
/// `runway.js`, which hold for every page: 256 calls in flight, and 1 MiB for each input.
public struct BridgeLimits: Sendable, Hashable {
    /// The greatest number of calls in flight. The default is 32.
    public var maximumCallsInFlight: Int
    /// The sustained number of calls per second, which is also the largest burst. The default is 200.
    public var callsPerSecond: Int
    /// The size of the input of a call as JSON. The default, and the most, is 1 MiB.
    public var maximumInputByteCount: Int
    /// The depth to which arrays and objects of an input are nested. The default is 64.
    public var maximumDepth: Int
    /// The greatest number of values that a command may have sent before the page has received the first of them; see
    /// ``CommandCall/send(_:)``. The default is 8.
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
