import Runway
import Synchronization

/// A connection that no longer uses HTTP, such as a WebSocket. Its owner closes it.
protocol UpgradedConnection: AnyObject, Sendable {
    /// The local address of the connection; `nil` if it is not known.
    var localAddress: IPAddress? { get }

    /// Closes the connection immediately, because of an error.
    func cut(_ error: any Error)

    /// Sends a ping, and closes the connection if the server sends nothing within the limit.
    func checkLiveness(within limit: Duration)

    /// Starts an orderly close of the connection by the client.
    func leave()
}

/// The connections of a transport that no longer use HTTP. The transport closes them at its shutdown, and checks them
/// after a change of network.
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

    /// Closes connections from an address that the device no longer has. Checks whether the servers of all other
    /// connections respond.
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

    /// Starts an orderly close of all connections; ``add(_:)`` returns `false` from now on.
    func shutDown() {
        state.withLock { $0.isShutDown = true }
        for connection in connections { connection.leave() }
    }

    private var connections: [any UpgradedConnection] {
        state.withLock { $0.entries.values.compactMap(\.connection) }
    }
}
