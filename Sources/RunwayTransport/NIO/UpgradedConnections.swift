import Runway
import Synchronization

/// A connection that has left HTTP, such as a WebSocket, and that its owner closes.
protocol UpgradedConnection: AnyObject, Sendable {
    /// The address of this device that the connection was made from; `nil` if it is not known.
    var localAddress: IPAddress? { get }

    /// Closes the connection at once, because of any error.
    func cut(_ error: any Error)

    /// Closes the connection if the server sends nothing within this time after a ping.
    func checkLiveness(within limit: Duration)

    /// Starts to close the connection in order, since the client leaves.
    func leave()
}

/// The connections of a transport that have left HTTP: it closes them at its shutdown, and checks them after a change
/// of network.
final class UpgradedConnections: Sendable {
    private struct Entry {
        weak var connection: (any UpgradedConnection)?
    }

    private struct State {
        var entries: [ObjectIdentifier: Entry] = [:]
        var isShutDown = false
    }

    private let dialer: Dialer
    private let configuration: TransportConfiguration
    /// Guards the connections.
    private let state = Mutex(State())

    init(_ configuration: TransportConfiguration, _ dialer: Dialer) {
        self.configuration = configuration
        self.dialer = dialer
    }

    /// Adds a connection. Returns `false` after the shutdown.
    func add(_ connection: any UpgradedConnection) -> Bool {
        state.withLock { state in
            if state.isShutDown { return false }
            state.entries = state.entries.filter { $0.value.connection != nil }
            state.entries[ObjectIdentifier(connection)] = Entry(connection: connection)
            return true
        }
    }

    /// Closes connections from an address that the device no longer has, and checks that the servers of the others
    /// respond.
    func check() {
        let connections = connections
        if connections.isEmpty { return }
        let addresses = dialer.localAddresses()
        for connection in connections {
            if let addresses, let own = connection.localAddress, !addresses.contains(own) {
                connection.cut(WireError.networkGone)
            } else {
                connection.checkLiveness(within: configuration.wire.pingTimeout)
            }
        }
    }

    /// Closes all connections in order, as far as they are closed in time; ``add(_:)`` returns `false` from then on.
    func shutDown() {
        state.withLock { $0.isShutDown = true }
        for connection in connections { connection.leave() }
    }

    private var connections: [any UpgradedConnection] {
        state.withLock { $0.entries.values.compactMap(\.connection) }
    }
}
