/// Decides whether a change of the status means that the device is on another network.
package struct NetworkTrack: Sendable {
    /// The last status with a network.
    private var last: NetworkStatus
    /// Whether there was no network at some time after `last`.
    private var wasCut: Bool

    package init(_ status: NetworkStatus) {
        last = status
        wasCut = !status.isReachable
    }

    /// Records a status.
    ///
    /// - Returns: Whether existing connections may be broken.
    package mutating func record(_ status: NetworkStatus) -> Bool {
        guard status.isReachable else {
            wasCut = true
            return false
        }
        defer {
            last = status
            wasCut = false
        }
        if wasCut { return true }
        // If the network was unknown before, or if only its cost has changed, the network is the same.
        return last.link != .unknown && (last.link != status.link || last.identity != status.identity)
    }
}
