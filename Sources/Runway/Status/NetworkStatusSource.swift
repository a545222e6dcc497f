/// Reports which network the device has.
///
/// Pass one to a layer's initialiser. ``SettableNetworkStatus`` is for tests, and for apps that detect the network
/// themselves.
public protocol NetworkStatusSource: Sendable {
    /// The status now. The implementation must return at once: it is called before every call.
    var current: NetworkStatus { get }

    /// Calls `onChange` after every change of ``current``, on any thread, until the observation is released.
    ///
    /// The implementation must not hold a lock while it calls `onChange`. It may also call it if nothing changed, but
    /// must not omit a call: the layer would then work with a status that is no longer true.
    func observe(_ onChange: @escaping @Sendable () -> Void) -> NetworkStatusObservation
}

/// Registers an observer of a ``NetworkStatusSource`` until it is released.
public final class NetworkStatusObservation: Sendable {
    private let onEnd: @Sendable () -> Void

    /// Lets a source of your own remove its observer when the observation is released.
    ///
    /// - Parameter onEnd: Called once, when it is released; removes the observer.
    public init(onEnd: @escaping @Sendable () -> Void) { self.onEnd = onEnd }

    deinit { onEnd() }
}
