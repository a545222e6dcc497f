import Synchronization

/// Delays further attempts after consecutive failures: exponential backoff with jitter.
///
/// After *n* failures in a row the next attempt waits for a random time between `certainPart` · bound and bound, where
/// bound = min(`base` · 2ⁿ⁻¹, `longest`).
package struct Backoff: Sendable, Equatable {
    private let base: Duration
    private let longest: Duration
    private let certainPart: Double
    /// The number of failed attempts since the last success.
    package private(set) var failures = 0
    /// The instant at which the next attempt may start.
    package var end = Duration.zero

    /// Creates a backoff without failures.
    ///
    /// - Parameters:
    ///   - base: The bound of the wait after the first failure.
    ///   - longest: The greatest bound of a wait. If it is shorter than `base`, it also limits the first wait.
    ///   - certainPart: The part of the bound that is never random, from 0 to 1. The default is 0 (full jitter), which
    ///     spreads clients best. Choose a greater part for attempts that would fail again at once, and 1 if no other
    ///     client competes.
    package init(base: Duration, longest: Duration, certainPart: Double = 0) {
        self.base = max(.zero, min(base, longest))
        self.longest = longest
        self.certainPart = certainPart
    }

    /// Returns the longest wait after this many consecutive failures. `failures` must be at least 1.
    package func bound(after failures: Int) -> Duration {
        var bound = base
        // Doubling step by step up to the limit cannot overflow.
        for _ in 1..<max(1, failures) {
            if bound >= longest || bound == .zero { break }
            bound = bound > longest / 2 ? longest : bound * 2
        }
        return bound
    }

    /// Returns a random wait after this many consecutive failures. `failures` must be at least 1.
    package func wait(
        after failures: Int, using random: inout any RandomNumberGenerator & Sendable
    ) -> Duration {
        bound(after: failures) * Double.random(in: certainPart...1, using: &random)
    }

    /// Counts a failure, and sets ``end`` to the instant of the next attempt.
    package mutating func fail(at now: Duration, using random: inout any RandomNumberGenerator & Sendable) {
        failures += 1
        end = now + wait(after: failures, using: &random)
    }

    /// Resets the count of failures, after a success or another event that makes success likely.
    package mutating func reset() { (failures, end) = (0, .zero) }
}

/// The random number generator that the stages and calls of a layer share.
final class LayerRandomness: Sendable {
    /// Guards the generator.
    private let generator: Mutex<any RandomNumberGenerator & Sendable>

    init(_ generator: any RandomNumberGenerator & Sendable) { self.generator = Mutex(generator) }

    func bits() -> (UInt64, UInt64) { generator.withLock { ($0.next(), $0.next()) } }

    /// Returns a random wait of the backoff after this many consecutive failures.
    func wait(_ backoff: Backoff, after failures: Int) -> Duration {
        generator.withLock { backoff.wait(after: failures, using: &$0) }
    }
}
