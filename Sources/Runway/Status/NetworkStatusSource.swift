/// Reports which network the device has.
///
/// Pass one to a layer's initialiser. ``SettableNetworkStatus`` is for tests, and for apps that know by means of their own.
public protocol NetworkStatusSource: Sendable {
    /// The status now. The implementation must return at once: it is called before every call.
    var current: NetworkStatus { get }

    /// Calls `onChange` after every change of ``current``, on any thread, until the observation is released.
    ///
    /// The implementation holds no lock meanwhile. A call too many does no harm, one too few does.
    func observe(_ onChange: @escaping @Sendable () -> Void) -> NetworkStatusObservation
}

/// Registers an observer of a ``NetworkStatusSource`` until it is released.
public final class NetworkStatusObservation: Sendable {
    private let onEnd: @Sendable () -> Void

    /// Creates an observation.
    ///
    /// - Parameter onEnd: Called once, when it is released; removes the observer.
    public init(onEnd: @escaping @Sendable () -> Void) { self.onEnd = onEnd }

    deinit { onEnd() }
}
