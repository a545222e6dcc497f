import Runway
import Synchronization

/// Measures the addresses of the hosts in use when the device joins another network, and connects to the best ones.
final class NetworkArrival: Sendable {
    /// The longest that the addresses of a host are measured before a connection is made anyhow.
    static let longestMeasurement = Duration.seconds(1)

    let dialer: Dialer
    /// Guards the task in flight.
    private let task = Mutex<Task<Void, Never>?>(nil)

    init(_ dialer: Dialer) { self.dialer = dialer }

    /// Starts, and cancels the work that is in progress for the last change.
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

    /// Cancels the work in progress.
    func cancel() { task.withLock { $0?.cancel() } }

    @concurrent private static func measure(_ origin: Origin, with dialer: Dialer) async {
        // A single address leaves no choice, and a proxy is dialled instead of the host.
        guard (dialer.hosts?.addresses(of: origin.bareHost, scheme: origin.scheme) ?? []).count > 1,
            dialer.proxies.route(to: origin) == .direct
        else { return }
        let probe = HostProbe(dialer, timeout: longestMeasurement)
        // It records results and failures with the selector.
        _ = try? await probe.run(origin.bareHost, port: origin.port, isSecure: origin.scheme == "https")
    }
}
