import Runway
import Synchronization

/// What is done when the device has come to another network: the addresses of the hosts in use are measured, and the best connected to.
final class NetworkArrival: Sendable {
    /// The longest that the addresses of a host are measured before a connection is made anyhow.
    static let longestMeasurement = Duration.seconds(1)

    private let dialer: Dialer
    /// Guards what is being done.
    private let task = Mutex<Task<Void, Never>?>(nil)

    init(_ dialer: Dialer) { self.dialer = dialer }

    /// Begins, in the place of what is still being done for the last change.
    ///
    /// - Parameter warmUp: Called for each origin once its addresses are known.
    func renew(_ origins: [Origin], warmUp: @escaping @Sendable (Origin) -> Void) {
        let dialer = dialer
        let renewal = Task { @concurrent in
            await withDiscardingTaskGroup { group in
                for origin in origins {
                    group.addTask {
                        await Self.measure(origin, with: dialer)
                        if !Task.isCancelled { warmUp(origin) }
                    }
                }
            }
        }
        task.withLock { task in
            task?.cancel()
            task = renewal
        }
    }

    /// Stops what is being done.
    func cancel() { task.withLock { $0?.cancel() } }

    @concurrent private static func measure(_ origin: Origin, with dialer: Dialer) async {
        // One address is none to choose from, and where there is a proxy it is the proxy that is dialled.
        guard (dialer.hosts?.addresses(of: origin.bareHost, scheme: origin.scheme) ?? []).count > 1,
            dialer.proxies.server(for: origin) == nil
        else { return }
        let probe = HostProbe(dialer, timeout: longestMeasurement)
        // What it finds it tells the selector; what fails is told there, too.
        _ = try? await probe.run(origin.bareHost, port: origin.port, isSecure: origin.scheme == "https")
    }
}
