import Runway
import Synchronization

/// What the streams and WebSockets of a layer have learned of its networks. It is not stored beyond the end of the app.
final class HeartbeatMemory: Sendable {
    /// Guards what was learned.
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
    /// What all streams and WebSockets of this layer have learned of its networks.
    var heartbeats: HeartbeatMemory { values.value(of: HeartbeatMemory.self) { HeartbeatMemory() } }
}
