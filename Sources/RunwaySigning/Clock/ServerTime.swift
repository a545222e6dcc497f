import Foundation
import HTTPTypes
import Runway
import RunwaySignatures
import Synchronization

/// The server's time as the app knows it. Until a server refuses a time, it is the device's time. Afterwards it is the
/// server's time, advanced by the monotonic clock, so that changes of the device's clock have no effect.
final class ServerTime: Sendable {
    /// A time, with the instant on the layer's clock at which it was read.
    struct Moment: Sendable {
        let time: UnixTime
        let instant: Duration
    }

    /// Guards the time learned from the server.
    private let correction = Mutex<Moment?>(nil)

    /// Smaller differences cannot cause a refusal, since dates are whole seconds.
    private static let tolerance = Duration.seconds(2)

    func now(by clock: LayerClock) -> UnixTime { moment(by: clock).time }

    /// Returns the current time and the instant at which it was read.
    func moment(by clock: LayerClock) -> Moment {
        let instant = clock.now
        guard let correction = correction.withLock({ $0 }) else {
            return Moment(time: Self.deviceTime(clock), instant: instant)
        }
        return Moment(time: correction.time + (instant - correction.instant), instant: instant)
    }

    /// Adopts the server's time in a response if it shows that the request assumed a wrong time. The assumed time was
    /// right if the server's time lies between the sending of the request and now, by the clock that the request used.
    ///
    /// Returns the difference to the time that the request assumed. Returns `nil` without a change if the assumed time
    /// was right, or if the server's time differs from the device's by more than `maximum`.
    func adopt(_ server: UnixTime, sent: Moment, within maximum: Duration, _ clock: LayerClock) -> Duration? {
        // Uses the time that the request assumed. A response to another request may have corrected the time since then.
        let (instant, device) = (clock.now, Self.deviceTime(clock))
        let received = sent.time + (instant - sent.instant)
        guard server < sent.time - Self.tolerance || server > received + Self.tolerance else { return nil }
        guard server >= device - maximum, server <= device + maximum else { return nil }
        correction.withLock { $0 = Moment(time: server, instant: instant) }
        return .seconds(server.seconds - received.seconds)
    }

    /// Returns the `Date` of a response; `nil` if it is absent or malformed, or if `Age` shows that the response is
    /// from a cache.
    static func date(of response: Response, _ clock: LayerClock) -> UnixTime? {
        if response.head.headerFields.contains(.age) { return nil }
        return response.head.headerFields[.date].flatMap { HTTPDate($0, now: HTTPDate(clock.date)) }
            .map { UnixTime(seconds: $0.seconds) }
    }

    private static func deviceTime(_ clock: LayerClock) -> UnixTime { UnixTime(seconds: HTTPDate(clock.date).seconds) }
}
