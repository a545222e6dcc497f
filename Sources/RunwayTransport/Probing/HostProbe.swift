import NIOCore
import NIOPosix
import NIOSSL
public import Runway

/// Measures every address of a host: the time of DNS, TCP and TLS.
///
/// ```swift
/// let report = try await HostProbe().run("api.example.com")
/// for entry in report.entries { print(entry.address, entry.tls ?? .zero, entry.failure ?? "") }
/// ```
///
/// The probe connects to each address as a call would, verifies the host over TLS, and closes the connection. It sends
/// no request, and uses no proxies. If the configuration has listed hosts (``TransportConfiguration/hosts``), their
/// selector records the results. An address that times out is not banned there, but ranked after faster ones.
public struct HostProbe: Sendable {
    /// The maximum number of addresses that are measured; further ones are ignored.
    public static let maximumAddressCount = 32

    private let dialer: Dialer
    private let timeout: Duration

    /// Creates a probe with the trust and the listed hosts of a transport. ``run(_:port:addresses:isSecure:)``
    /// connects.
    ///
    /// - Parameters:
    ///   - configuration: The trust, the listed hosts and the versions of HTTP.
    ///   - timeout: The maximum time for the DNS lookup, and then for each address. Clamped to between 1 ms and 60 s.
    ///     The default is 5 s.
    /// - Throws: `NetworkError.Kind.invalidConfiguration` for certificates that cannot be read.
    public init(
        configuration: TransportConfiguration = TransportConfiguration(), timeout: Duration = .seconds(5)
    ) throws(NetworkError) {
        self.init(try Dialer(configuration), timeout: timeout)
    }

    init(_ dialer: Dialer, timeout: Duration) {
        self.dialer = dialer
        self.timeout = min(max(timeout, .milliseconds(1)), .seconds(60))
    }

    /// Measures the passed, the listed and the looked-up addresses of a host.
    ///
    /// - Parameters:
    ///   - host: The name of the host.
    ///   - port: The port. The default is 443.
    ///   - addresses: Additional addresses to measure. The default is empty.
    ///   - isSecure: Whether to measure TLS, too. The default is `true`.
    /// - Returns: The measurements, including addresses that failed; at most ``maximumAddressCount``.
    /// - Throws: `NetworkError.Kind.cancelled` if the task is cancelled, after its sockets are closed;
    ///   `invalidParameters` for a host without a name or an invalid port.
    public func run(
        _ host: String, port: Int = 443, addresses: [IPAddress] = [], isSecure: Bool = true
    ) async throws(NetworkError) -> HostProbeReport {
        let origin = Origin(scheme: isSecure ? "https" : "http", host: host, port: port)
        guard (1...65535).contains(port), !origin.bareHost.isEmpty else {
            throw NetworkError(.invalidParameters, in: .transporting, "A host and a port from 1 to 65535 are needed.")
        }
        var targets = addresses.map { HostProbeRun.Target(address: $0, source: .supplied) }
        targets += (dialer.hosts?.addresses(of: origin.bareHost, scheme: origin.scheme) ?? [])
            .map { HostProbeRun.Target(address: $0, source: .listed) }
        let literal = IPAddress(origin.bareHost)
        if let literal { targets.append(HostProbeRun.Target(address: literal, source: .supplied)) }
        return try await run(origin, targets, looksUp: literal == nil)
    }

    /// Measures the passed addresses of a host and, if the host is looked up, its addresses from DNS.
    ///
    /// - Throws: `NetworkError.Kind.cancelled`.
    func run(
        _ origin: Origin, _ targets: [HostProbeRun.Target], looksUp: Bool
    ) async throws(NetworkError) -> HostProbeReport {
        let eventLoop = MultiThreadedEventLoopGroup.singleton.next()
        let promise = eventLoop.makePromise(of: HostProbeReport.self)
        let run = NIOLoopBoundBox.makeEmptyBox(valueType: HostProbeRun.self, eventLoop: eventLoop)
        do {
            return try await withTaskCancellationHandler {
                eventLoop.execute {
                    let operation = HostProbeRun(
                        origin, targets, looksUp: looksUp, with: dialer, on: eventLoop, timeout: timeout, promise)
                    run.value = operation
                    operation.start()
                }
                if Task.isCancelled { eventLoop.execute { run.value?.cancel() } }
                return try await promise.futureResult.get()
            } onCancel: {
                eventLoop.execute { run.value?.cancel() }
            }
        } catch {
            throw NetworkError(.cancelled, in: .transporting, "The probe was cancelled.")
        }
    }
}
