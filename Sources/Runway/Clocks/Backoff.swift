/// Delays repeated attempts that fail one after the other: exponential backoff with jitter.
///
/// After *n* failures in a row the next attempt waits for a time that is chosen uniformly between
/// `certainPart` · bound and bound, where bound = min(`base` · 2ⁿ⁻¹, `longest`).
package struct Backoff: Sendable, Equatable {
    private let base: Duration
    private let longest: Duration
    private let certainPart: Double
    /// The attempts that failed since the last success.
    package private(set) var failures = 0
    /// The instant before which no attempt is made.
    package var end = Duration.zero

    /// Creates the backoff of an attempt that has not failed yet.
    ///
    /// - Parameters:
    ///   - base: The bound after the first failure.
    ///   - longest: The greatest bound. A shorter one than `base` bounds the first wait, too.
    ///   - certainPart: The part of the bound that is always waited, from 0 to 1. The default is 0 (full jitter), which
    ///     spreads clients best. Choose more for attempts that would fail again at once, and 1 if no other client makes
    ///     them.
    package init(base: Duration, longest: Duration, certainPart: Double = 0) {
        self.base = max(.zero, min(base, longest))
        self.longest = longest
        self.certainPart = certainPart
    }

    /// Returns the longest wait after this many failures in a row, counted from 1.
    package func bound(after failures: Int) -> Duration {
        var bound = base
        // Doubled step by step up to the limit, so that nothing overflows.
        for _ in 1..<max(1, failures) {
            if bound >= longest || bound == .zero { break }
            bound = bound > longest / 2 ? longest : bound * 2
        }
        return bound
    }

    /// Chooses the wait after this many failures in a row, counted from 1.
    package func wait(
        after failures: Int, using random: inout any RandomNumberGenerator & Sendable
    ) -> Duration {
        bound(after: failures) * Double.random(in: certainPart...1, using: &random)
    }

    /// Counts a failure, and moves ``end``.
    package mutating func fail(at now: Duration, using random: inout any RandomNumberGenerator & Sendable) {
        failures += 1
        end = now + wait(after: failures, using: &random)
    }

    /// Forgets the failures: an attempt succeeded, or something happened that makes success likely.
    package mutating func reset() { (failures, end) = (0, .zero) }
}
