import Foundation
import HTTPTypes
import Runway
import RunwaySignatures
import Synchronization

/// The time by the server's clock. Until a server has refused a time, it is the device's; after that it is the
/// server's, advanced by the monotonic clock, so that a change of the device's clock has no effect.
final class ServerTime: Sendable {
    /// A time, and the instant on the layer's clock at which it was the time.
    struct Moment: Sendable {
        let time: UnixTime
        let instant: Duration
    }

    /// Guards the time learned from the server.
    private let correction = Mutex<Moment?>(nil)

    /// A difference below this is no reason for a refusal: dates are whole seconds.
    private static let tolerance = Duration.seconds(2)

    func now(by clock: LayerClock) -> UnixTime { moment(by: clock).time }

    /// Returns the time, and the instant at which it was read.
    func moment(by clock: LayerClock) -> Moment {
        let instant = clock.now
        guard let correction = correction.withLock({ $0 }) else {
            return Moment(time: Self.deviceTime(clock), instant: instant)
        }
        return Moment(time: correction.time + (instant - correction.instant), instant: instant)
    }

    /// Adopts the time in a response, if it is not between the sending of its request and now, by the clock of the
    /// request.
    ///
    /// Returns the difference to the time that the request assumed. Returns `nil`, and changes nothing, if that was
    /// right, or if the server's time differs from the device's by more than `maximum`.
    func adopt(_ server: UnixTime, sent: Moment, within maximum: Duration, _ clock: LayerClock) -> Duration? {
        // By the clock that was in use then: a response to another request may have corrected it since.
        let (instant, device) = (clock.now, Self.deviceTime(clock))
        let received = sent.time + (instant - sent.instant)
        guard server < sent.time - Self.tolerance || server > received + Self.tolerance else { return nil }
        guard server >= device - maximum, server <= device + maximum else { return nil }
        correction.withLock { $0 = Moment(time: server, instant: instant) }
        return .seconds(server.seconds - received.seconds)
    }

    /// Returns the field `Date` of a response; `nil` if it is absent or malformed, or if the response has `Age`, and so
    /// is from a cache.
    static func date(of response: Response, _ clock: LayerClock) -> UnixTime? {
        if response.head.headerFields.contains(.age) { return nil }
        return response.head.headerFields[.date].flatMap { HTTPDate($0, now: HTTPDate(clock.date)) }
            .map { UnixTime(seconds: $0.seconds) }
    }

    private static func deviceTime(_ clock: LayerClock) -> UnixTime { UnixTime(seconds: HTTPDate(clock.date).seconds) }
}
