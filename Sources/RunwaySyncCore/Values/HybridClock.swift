/// A time of a hybrid logical clock: milliseconds since 1970 in 48 bits, then a counter in 16 bits (rule 8).
///
/// A counter that overflows carries into the milliseconds, since both are one number.
package struct HybridTime: Hashable, Comparable, Sendable {
    package let bits: UInt64

    /// Makes the first time of a millisecond. Times before 1970 become 1970, and times after the year 6429 become the
    /// limit in that year.
    package init(milliseconds: Int64) { bits = UInt64(min(max(milliseconds, 0), 1 << 47)) << 16 }

    /// Reads a time; `nil` if it is after the year 8659, so that a clock can count on from every time it receives.
    package init?(bits: UInt64) {
        if bits >> 62 == 3 { return nil }
        self.bits = bits
    }

    private init(counted bits: UInt64) { self.bits = bits }

    package static let zero = HybridTime(milliseconds: 0)

    package var milliseconds: Int64 { Int64(bits >> 16) }

    /// The smallest larger time.
    package var next: HybridTime { HybridTime(counted: bits &+ 1) }

    package static func < (left: Self, right: Self) -> Bool { left.bits < right.bits }
}

/// The clock of one device. Each time is larger than all times that the clock returned or received before (rule 8). It
/// accepts every received time.
package struct HybridClock: Hashable, Sendable {
    package private(set) var last = HybridTime.zero

    package init() {}

    /// Returns the time of an event on this device.
    ///
    /// - Parameter milliseconds: The reading of the system's clock.
    package mutating func tick(at milliseconds: Int64) -> HybridTime {
        last = max(HybridTime(milliseconds: milliseconds), last.next)
        return last
    }

    /// Advances past a time of another device.
    package mutating func receive(_ time: HybridTime) { last = max(last, time) }

    /// The largest span by which a time may be ahead of the server's clock, in milliseconds.
    package static let maximumLead: Int64 = 60_000

    /// Returns the time under which the server stores an operation. It is at most a minute ahead of the server, but
    /// larger than `former`, the largest time of that device, so that clamped operations stay in order.
    ///
    /// An operation that is older than `former` keeps its time: it waited for the user's decision, and the device
    /// previews it with that time (rule 12).
    package static func clamp(_ time: HybridTime, after former: HybridTime, at milliseconds: Int64) -> HybridTime {
        if time <= former { return time }
        return max(min(time, HybridTime(milliseconds: milliseconds + maximumLead)), former.next)
    }
}
