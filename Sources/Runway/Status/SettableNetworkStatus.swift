import Synchronization

/// A network status that is set by a test, or by an app that detects the network itself.
///
/// ```swift
/// let status = SettableNetworkStatus(.wifi)
/// let network = NetworkLayer(transport: transport, status: status)
/// status.set(.none)      // calls fail at once now
/// ```
public final class SettableNetworkStatus: NetworkStatusSource {
    private struct State {
        var status: NetworkStatus
        var observers: [UInt64: @Sendable () -> Void] = [:]
        var count: UInt64 = 0
    }

    /// Guards the status and the observers of its changes.
    private let state: Mutex<State>

    /// Creates a source with an initial status, which is unknown by default.
    public init(_ status: NetworkStatus = .unknown) { state = Mutex(State(status: status)) }

    /// The status that was set last.
    public var current: NetworkStatus { state.withLock { $0.status } }

    /// Sets the status, and notifies the observers before it returns.
    public func set(_ status: NetworkStatus) {
        let observers = state.withLock { state in
            defer { state.status = status }
            return state.status == status ? [] : Array(state.observers.values)
        }
        for observer in observers { observer() }
    }

    /// Calls `onChange` after every change, on the thread that sets the status.
    public func observe(_ onChange: @escaping @Sendable () -> Void) -> NetworkStatusObservation {
        let number = state.withLock { state in
            state.count += 1
            state.observers[state.count] = onChange
            return state.count
        }
        return NetworkStatusObservation { [weak self] in
            self?.state.withLock { _ = $0.observers.removeValue(forKey: number) }
        }
    }
}
