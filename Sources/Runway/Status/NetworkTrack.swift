/// Decides whether a change of the status means that the device is on another network.
package struct NetworkTrack: Sendable {
    /// The last status that was one of a network.
    private var last: NetworkStatus
    /// Whether there was no network since.
    private var wasCut: Bool

    package init(_ status: NetworkStatus) {
        last = status
        wasCut = !status.isReachable
    }

    /// Records a status.
    ///
    /// - Returns: Whether earlier connections may be broken.
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
        // A network that was unknown before has not changed, and neither has one whose cost changes.
        return last.link != .unknown && (last.link != status.link || last.identity != status.identity)
    }
}
