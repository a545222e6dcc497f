/// Knows what network the device has.
///
/// A layer is given one when it is made. ``SettableNetworkStatus`` is for tests, and for apps that know by means of their own.
public protocol NetworkStatusSource: Sendable {
    /// The status now. The implementation must return at once: it is asked before every call.
    var current: NetworkStatus { get }

    /// Calls `onChange` after every change of ``current``, on any thread, until the observation is let go.
    ///
    /// The implementation holds no lock meanwhile. A call too many does no harm, one too few does.
    func observe(_ onChange: @escaping @Sendable () -> Void) -> NetworkStatusObservation
}

/// Keeps an observer of a ``NetworkStatusSource`` as long as somebody keeps this.
public final class NetworkStatusObservation: Sendable {
    private let onEnd: @Sendable () -> Void

    /// Makes an observation.
    ///
    /// - Parameter onEnd: Called once, when it is let go; takes the observer away.
    public init(onEnd: @escaping @Sendable () -> Void) { self.onEnd = onEnd }

    deinit { onEnd() }
}
