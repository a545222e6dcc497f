import Synchronization

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
