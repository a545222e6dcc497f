import Runway

extension NIOTransport {
    /// Measures the addresses of all hosts of ``TransportConfiguration/hosts``, so that the first calls use the fastest
    /// address. For the launch of an app:
    ///
    /// ```swift
    /// Task { await transport.measureHosts() }
    /// ```
    ///
    /// The function connects to each address as a call would, verifies the host over TLS, and closes the connection. It
    /// looks up no names, and sends no request. Hosts with a single address and hosts that are reached through a proxy
    /// are left out.
    ///
    /// At most 256 addresses are measured, 16 at a time, each for at most 5 s. The first address of every host is
    /// measured before the second address of any host. If the book stores measurements between launches, they are
    /// stored at the end.
    ///
    /// - Parameters:
    ///   - port: The port of the hosts. The default is 443.
    ///   - isSecure: Whether TLS is measured, too. The default is `true`; addresses of hosts are used for plain HTTP
    ///     only if `HostListPolicy.coversPlainHTTP` allows it.
    ///   - age: The time for which a measurement on the device's network is valid: an address with a newer one is not
    ///     measured again. The default is a day.
    ///   - limit: The time after which measuring stops, even if addresses are left. The default is 10 s. Cancelling the
    ///     task stops at once.
    /// - Returns: The new measurements, one report for each host.
    @discardableResult
    public func measureHosts(
        port: Int = 443, isSecure: Bool = true, olderThan age: Duration = .seconds(86_400),
        within limit: Duration = .seconds(10)
    ) async -> [HostProbeReport] {
        precondition((1...65535).contains(port), "a port is from 1 to 65535")
        let measuring = HostMeasuring(
            dialer: arrival.dialer, scheme: isSecure ? "https" : "http", port: port, age: age)
        return await measuring.run(within: limit)
    }
}

/// Measures the listed addresses of all hosts of a dialer, a few at a time.
struct HostMeasuring: Sendable {
    /// The maximum number of addresses that are measured.
    static let maximumAddressCount = 256
    /// The maximum number of addresses that are measured at the same time.
    static let maximumConcurrency = 16
    /// The maximum time for measuring an address.
    static let longestMeasurement = Duration.seconds(5)
    /// The maximum time to wait for the system to report the network.
    private static let longestWait = Duration.seconds(1)

    private enum Event: Sendable {
        /// An address was measured; `nil` if the measurement was cancelled.
        case measured(host: String, HostProbeReport.Entry?)
        case timeIsUp
    }

    let dialer: Dialer
    let scheme: String
    let port: Int
    let age: Duration

    func run(within limit: Duration) async -> [HostProbeReport] {
        await dialer.selector.waitForNetwork(atMost: Self.longestWait)
        var rest = targets[...]
        if rest.isEmpty { return [] }
        var reports: [String: HostProbeReport] = [:]
        await withTaskGroup(of: Event.self) { group in
            group.addTask {
                try? await Task.sleep(for: limit)
                return .timeIsUp
            }
            var inFlight = 0
            while true {
                while inFlight < Self.maximumConcurrency, let (host, address) = rest.popFirst() {
                    inFlight += 1
                    group.addTask { .measured(host: host, await measure(address, of: host)) }
                }
                guard inFlight > 0, let event = await group.next() else { break }
                switch event {
                case .timeIsUp:
                    rest = []
                    group.cancelAll()
                case .measured(let host, let entry):
                    inFlight -= 1
                    guard let entry else { continue }
                    reports[host, default: HostProbeReport(host: host, port: port, entries: [])].entries.append(entry)
                }
            }
            group.cancelAll()
        }
        // The measurements are stored even if the task was cancelled, so that completed ones are not lost.
        await dialer.selector.storeMeasurements()
        return reports.keys.sorted().compactMap { reports[$0]?.sorted }
    }

    /// The addresses that were not measured recently: the first of every host, then the second of every host, and so
    /// on.
    private var targets: [(host: String, address: IPAddress)] {
        let hosts = (dialer.hosts?.list?.addresses.keys.sorted() ?? []).compactMap { host -> (String, [IPAddress])? in
            let addresses = dialer.hosts?.addresses(of: host, scheme: scheme) ?? []
            let isProxied = dialer.proxies.route(to: Origin(scheme: scheme, host: host, port: port)) != .direct
            guard addresses.count > 1, !isProxied else { return nil }
            return (host, addresses.filter { !dialer.selector.isMeasured($0, of: host, within: age) })
        }
        let longest = hosts.map(\.1.count).max() ?? 0
        let inTurn = (0..<longest).lazy.flatMap { index in
            hosts.compactMap { host, addresses in
                addresses.indices.contains(index) ? (host: host, address: addresses[index]) : nil
            }
        }
        return Array(inTurn.prefix(Self.maximumAddressCount))
    }

    private func measure(_ address: IPAddress, of host: String) async -> HostProbeReport.Entry? {
        let probe = HostProbe(dialer, timeout: Self.longestMeasurement)
        // The probe itself records its result with the dialer's selector, which ranks the addresses.
        return try? await probe.run(
            Origin(scheme: scheme, host: host, port: port), [.init(address: address, source: .listed)], looksUp: false
        ).entries.first
    }
}
