import Synchronization

/// The random numbers of a layer, for its stages and calls.
final class LayerRandomness: Sendable {
    /// Guards the generator.
    private let generator: Mutex<any RandomNumberGenerator & Sendable>

    init(_ generator: any RandomNumberGenerator & Sendable) { self.generator = Mutex(generator) }

    /// Returns 128 random bits.
    func bits() -> (UInt64, UInt64) { generator.withLock { ($0.next(), $0.next()) } }

    /// Chooses the wait of a backoff after this many failures in a row.
    func wait(_ backoff: Backoff, after failures: Int) -> Duration {
        generator.withLock { backoff.wait(after: failures, using: &$0) }
    }
}
