import Runway
import Synchronization

/// The heartbeat intervals that a layer's streams and WebSockets have learned for their networks.
final class HeartbeatMemory: Sendable {
    /// Guards the learned intervals.
    private let learner = Mutex(HeartbeatLearner())

    func interval(on network: String, limit: Duration?, _ bounds: HeartbeatLearner.Bounds) -> Duration {
        learner.withLock { $0.interval(on: network, limit: limit, bounds) }
    }

    func survived(_ interval: Duration, on network: String, at now: Duration, _ bounds: HeartbeatLearner.Bounds) {
        learner.withLock { $0.survived(interval, on: network, at: now, bounds) }
    }

    func failed(_ interval: Duration, on network: String, at now: Duration, _ bounds: HeartbeatLearner.Bounds) {
        learner.withLock { $0.failed(interval, on: network, at: now, bounds) }
    }
}

extension NetworkLayer {
    /// The heartbeat intervals that all streams and WebSockets of this layer share.
    var heartbeats: HeartbeatMemory { values.value(of: HeartbeatMemory.self) { HeartbeatMemory() } }
}
