import Runway
import Synchronization

/// When the device joins another network, measures the addresses of the hosts in use, and connects to the best ones.
final class NetworkArrival: Sendable {
    /// The maximum time for measuring the addresses of a host before connecting.
    static let longestMeasurement = Duration.seconds(1)

    let dialer: Dialer
    /// Guards the current task.
    private let task = Mutex<Task<Void, Never>?>(nil)

    init(_ dialer: Dialer) { self.dialer = dialer }

    /// Starts measuring, and cancels the work for an earlier change.
    ///
    /// - Parameter warmUp: Called for each origin after its addresses were measured.
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

    func cancel() { task.withLock { $0?.cancel() } }

    @concurrent private static func measure(_ origin: Origin, with dialer: Dialer) async {
        // A single address need not be measured, and with a proxy, the host is not dialled.
        guard (dialer.hosts?.addresses(of: origin.bareHost, scheme: origin.scheme) ?? []).count > 1,
            dialer.proxies.route(to: origin) == .direct
        else { return }
        let probe = HostProbe(dialer, timeout: longestMeasurement)
        // The probe itself records results and failures with the dialer's selector, which ranks the addresses.
        _ = try? await probe.run(origin.bareHost, port: origin.port, isSecure: origin.scheme == "https")
    }
}
