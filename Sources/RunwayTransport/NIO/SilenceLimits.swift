import NIOCore
import Runway

/// Limits for the time for which a server may be silent.
struct SilenceLimits {
    /// The longest time in which no byte is written or read.
    var idleTimeout: TimeAmount
    /// The longest time from the request to the start of the response; `nil` for no limit.
    var firstByteTimeout: TimeAmount?

    /// Returns the time at which the server will have been silent for too long, and the error for that case.
    ///
    /// - Parameters:
    ///   - progress: The time at which a byte was last written or read.
    ///   - sent: The time at which the request was sent in full, if the response has not begun; otherwise `nil`.
    func due(after progress: NIODeadline, awaitedSince sent: NIODeadline?) -> (due: NIODeadline, error: WireError) {
        let due = progress + idleTimeout
        guard let firstByteTimeout, let sent, sent + firstByteTimeout < due else { return (due, .silent) }
        return (sent + firstByteTimeout, .noFirstByte)
    }
}

extension SilenceLimits {
    init(_ configuration: TransportConfiguration) {
        self.init(
            idleTimeout: TimeAmount(configuration.idleTimeout),
            firstByteTimeout: configuration.wire.firstByteTimeout.map { TimeAmount($0) })
    }
}
