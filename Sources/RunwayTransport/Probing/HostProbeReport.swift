public import Runway

/// The measurements of a ``HostProbe``.
public struct HostProbeReport: Sendable {
    /// The source of an address.
    public enum Source: String, Sendable, Hashable {
        /// The address was passed to the probe.
        case supplied
        /// The list of hosts contains it.
        case listed
        /// The system looked it up.
        case dns
    }

    /// One address. A time that is not known is `nil`, never 0.
    public struct Entry: Sendable {
        /// The address.
        public var address: IPAddress
        /// The source of the address.
        public var source: Source
        /// The time from the first packet to the connection.
        public var tcp: Duration?
        /// The time from the connection to the end of the handshake; `nil` if TLS was not measured.
        public var tls: Duration?
        /// The version of TLS, such as `TLSv1.3`.
        public var tlsVersion: String?
        /// The protocol that both ends agreed on (ALPN), such as `h2`.
        public var applicationProtocol: String?
        /// The failure in one sentence; `nil` if there was none.
        public var failure: String?

        /// The time of connection and handshake together; `nil` for an address that failed.
        public var total: Duration? { failure == nil ? tcp.map { $0 + (tls ?? .zero) } : nil }
    }

    /// The host.
    public var host: String
    /// The port.
    public var port: Int
    /// The time that the system took to look the name up; `nil` if the name was not looked up, or not in time.
    public var dns: Duration?
    /// The reason why the name could not be looked up, in one sentence; `nil` if it could.
    public var dnsFailure: String?
    /// The addresses, the fastest first, failed ones last.
    public var entries: [Entry]

    /// The report with the fastest addresses first.
    var sorted: HostProbeReport {
        var report = self
        report.entries.sort { ($0.total ?? .seconds(3600)) < ($1.total ?? .seconds(3600)) }
        return report
    }
}
