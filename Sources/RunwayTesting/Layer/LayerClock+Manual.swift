public import Runway

public import struct Foundation.Date

extension LayerClock {
    /// Creates a layer's clock that a test advances. Its date advances with it.
    ///
    /// - Parameters:
    ///   - clock: The clock that the test advances.
    ///   - start: The date at which the clock starts. The default is the first second of 2026, UTC.
    public init(_ clock: ManualClock, startingAt start: Date = Date(timeIntervalSince1970: 1_767_225_600)) {
        let origin = clock.now
        self.init(clock) {
            let (seconds, attoseconds) = origin.duration(to: clock.now).components
            return start.addingTimeInterval(Double(seconds) + Double(attoseconds) / 1e18)
        }
    }
}
