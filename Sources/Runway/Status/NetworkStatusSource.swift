/// Reports the device's current network.
///
/// Pass a source to a layer's initialiser. Use ``SettableNetworkStatus`` in tests, and in apps that detect the network
/// themselves.
public protocol NetworkStatusSource: Sendable {
    /// The current status. The implementation must return immediately, because it is called before every call.
    var current: NetworkStatus { get }

    /// Calls `onChange` after every change of ``current``, on any thread, until the returned observation is released.
    ///
    /// The implementation must not hold a lock while it calls `onChange`. Calls without a change are allowed. But a
    /// missing call would leave the layer with an outdated status.
    func observe(_ onChange: @escaping @Sendable () -> Void) -> NetworkStatusObservation
}

/// Represents an observer of a ``NetworkStatusSource``. The observer is removed when this object is released.
public final class NetworkStatusObservation: Sendable {
    private let onEnd: @Sendable () -> Void

    /// Creates an observation, for your own ``NetworkStatusSource``.
    ///
    /// - Parameter onEnd: Removes the observer. Called once, when the observation is released.
    public init(onEnd: @escaping @Sendable () -> Void) { self.onEnd = onEnd }

    deinit { onEnd() }
}
