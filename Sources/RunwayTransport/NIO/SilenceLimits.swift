import NIOCore
import Runway

/// The maximum times for which a server may be silent.
struct SilenceLimits {
    /// The maximum time in which no byte is written or read.
    var idleTimeout: TimeAmount
    /// The maximum time from the end of the request to the start of the response; `nil` sets no limit.
    var firstByteTimeout: TimeAmount?

    /// Returns the time when the server will have been silent for too long, and the error for this case.
    ///
    /// - Parameters:
    ///   - progress: The time when a byte was last written or read.
    ///   - sent: The time when the whole request was sent; `nil` if it is not sent yet, or the response has begun.
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
