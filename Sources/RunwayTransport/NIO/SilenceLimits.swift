import NIOCore
import Runway

/// How long a server may be silent.
struct SilenceLimits {
    /// How long no byte may be written or read.
    var idleTimeout: TimeAmount
    /// How long after the request the response may begin; `nil` for no limit.
    var firstByteTimeout: TimeAmount?

    /// When the server will have been silent for too long, and the error then.
    ///
    /// - Parameters:
    ///   - progress: When a byte was last written or read.
    ///   - sent: When the request was sent in full, if the response has not begun; `nil` otherwise.
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
