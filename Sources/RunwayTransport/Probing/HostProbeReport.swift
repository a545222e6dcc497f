public import Runway

/// The measurements of a ``HostProbe``.
public struct HostProbeReport: Sendable {
    /// The source of an address.
    public enum Source: String, Sendable, Hashable {
        /// The caller passed the address to the probe.
        case supplied
        /// The host list contains the address.
        case listed
        /// The system's lookup returned the address.
        case dns
    }

    /// The measurements of one address.
    public struct Entry: Sendable {
        /// The address that was measured.
        public var address: IPAddress
        /// The origin of the address: the caller, the host list or DNS.
        public var source: Source
        /// The time from the first packet to the TCP connection; `nil` if no connection was established.
        public var tcp: Duration?
        /// The time from the TCP connection to the end of the TLS handshake; `nil` if TLS was not measured or failed.
        public var tls: Duration?
        /// The TLS version, such as `TLSv1.3`; `nil` without TLS.
        public var tlsVersion: String?
        /// The negotiated protocol (ALPN), such as `h2`; `nil` if none was negotiated.
        public var applicationProtocol: String?
        /// The failure in one sentence; `nil` if the address did not fail.
        public var failure: String?

        /// The time for TCP and TLS together; `nil` for an address that failed.
        public var total: Duration? { failure == nil ? tcp.map { $0 + (tls ?? .zero) } : nil }
    }

    /// The host that was measured.
    public var host: String
    /// The port of the connections.
    public var port: Int
    /// The duration of the DNS lookup; `nil` if the name was not looked up, or not in time.
    public var dns: Duration?
    /// The reason in one sentence why the lookup failed; `nil` if it did not fail.
    public var dnsFailure: String?
    /// The measured addresses, fastest first, failed ones last.
    public var entries: [Entry]

    var sorted: HostProbeReport {
        var report = self
        report.entries.sort { ($0.total ?? .seconds(3600)) < ($1.total ?? .seconds(3600)) }
        return report
    }
}
