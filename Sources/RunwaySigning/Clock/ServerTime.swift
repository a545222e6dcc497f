import Foundation
import HTTPTypes
import Runway
import RunwaySignatures
import Synchronization

/// The time by the server's clock: that of the device until a server has refused it, and then the server's, counted on by the
/// monotonic clock, so that a change of the device's clock has no effect.
final class ServerTime: Sendable {
    private struct Correction {
        /// The server's time.
        let time: UnixTime
        /// The instant on the layer's clock at which the server's time was received.
        let instant: Duration
    }

    /// Guards what was learned from the server.
    private let correction = Mutex<Correction?>(nil)

    /// A difference below this is no reason for a refusal: dates are whole seconds.
    private static let tolerance = Duration.seconds(2)

    func now(by clock: LayerClock) -> UnixTime {
        guard let correction = correction.withLock({ $0 }) else { return Self.deviceTime(clock) }
        return correction.time + (clock.now - correction.instant)
    }

    /// Adopts the time in a response, if it is not between the sending of its request and now.
    ///
    /// Returns the difference to the time that was assumed before. Returns `nil`, and changes nothing, if the time was right, or if the
    /// server's differs from the device's by more than `maximum`.
    func adopt(_ server: UnixTime, sent: UnixTime, within maximum: Duration, _ clock: LayerClock) -> Duration? {
        let received = now(by: clock)
        guard server < sent - Self.tolerance || server > received + Self.tolerance else { return nil }
        let device = Self.deviceTime(clock)
        guard server >= device - maximum, server <= device + maximum else { return nil }
        correction.withLock { $0 = Correction(time: server, instant: clock.now) }
        return .seconds(server.seconds - received.seconds)
    }

    /// The field `Date` of a response; `nil` if it is absent or malformed.
    static func date(of response: Response, _ clock: LayerClock) -> UnixTime? {
        response.head.headerFields[.date].flatMap { HTTPDate($0, now: HTTPDate(clock.date)) }
            .map { UnixTime(seconds: $0.seconds) }
    }

    private static func deviceTime(_ clock: LayerClock) -> UnixTime { UnixTime(seconds: HTTPDate(clock.date).seconds) }
}
