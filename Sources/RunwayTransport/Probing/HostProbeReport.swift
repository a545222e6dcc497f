public import Runway

/// What a ``HostProbe`` found.
public struct HostProbeReport: Sendable {
    /// Where an address was known from.
    public enum Source: String, Sendable, Hashable {
        /// It was passed to the probe.
        case given
        /// It stands in the list of hosts.
        case listed
        /// The system looked it up.
        case dns
    }

    /// One address. A time that is not known is `nil`, never 0.
    public struct Entry: Sendable {
        /// The address.
        public var address: IPAddress
        /// Where it was known from.
        public var source: Source
        /// From the first packet to the connection.
        public var tcp: Duration?
        /// From the connection to the end of the handshake; `nil` also where there was to be none.
        public var tls: Duration?
        /// The version of TLS, such as `TLSv1.3`.
        public var tlsVersion: String?
        /// What both ends agreed to speak (ALPN), such as `h2`.
        public var applicationProtocol: String?
        /// What went wrong, in one sentence; `nil` where nothing did.
        public var failure: String?

        /// The time of connection and handshake together; `nil` for an address that failed.
        public var total: Duration? { failure == nil ? tcp.map { $0 + (tls ?? .zero) } : nil }
    }

    /// The host.
    public var host: String
    /// The port.
    public var port: Int
    /// How long the system took to look the name up; `nil` where that was not done, or not in time.
    public var dns: Duration?
    /// Why the name could not be looked up, in one sentence; `nil` where it could.
    public var dnsFailure: String?
    /// The addresses, the fastest first, those that failed last.
    public var entries: [Entry]
}
