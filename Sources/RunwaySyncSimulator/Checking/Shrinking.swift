package import RunwaySyncCore

extension Simulation {
    /// Removes events as long as a run still fails, and returns what is left.
    ///
    /// - Parameter attempts: The largest number of runs. The default is 2,000.
    package static func shrink(
        seed: UInt64, _ events: [SimulatedEvent], devices: Int = 3, bug: PlantedBug? = nil,
        direction: SyncDevice.Direction = .both, attempts: Int = 2_000
    ) throws -> [SimulatedEvent] {
        var (events, size, left) = (events, max(events.count / 2, 1), attempts)
        while true {
            var (start, isSmaller) = (0, false)
            while start < events.count, left > 0 {
                var fewer = events
                fewer.removeSubrange(start..<min(start + size, fewer.count))
                left -= 1
                if try run(seed: seed, fewer, devices: devices, bug: bug, direction: direction).failure != nil {
                    (events, isSmaller) = (fewer, true)
                } else {
                    start += size
                }
            }
            if left == 0 || size == 1 && !isSmaller { return events }
            size = max(size / 2, 1)
        }
    }
}
