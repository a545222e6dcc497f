import Synchronization

/// The random numbers of a layer, for its stages and calls.
final class LayerRandomness: Sendable {
    /// Guards the generator.
    private let generator: Mutex<any RandomNumberGenerator & Sendable>

    init(_ generator: any RandomNumberGenerator & Sendable) { self.generator = Mutex(generator) }

    /// 128 random bits.
    func bits() -> (UInt64, UInt64) { generator.withLock { ($0.next(), $0.next()) } }

    /// A duration from zero to `ceiling`, uniformly distributed.
    func duration(upTo ceiling: Duration) -> Duration {
        generator.withLock { ceiling * Double.random(in: 0...1, using: &$0) }
    }
}
