/// Whom a transport trusts, and how it proves itself, host by host.
///
/// ```swift
/// var configuration = TransportConfiguration()
/// configuration.trustPolicy.pins = [pins]
/// configuration.trustPolicy.onPinReport = { report in print(report.host, report.outcome) }
/// let network = NetworkLayer(transport: try NIOTransport(configuration: configuration))
/// ```
///
/// Always: TLS 1.2 at least, names only from the certificate's subject alternative names (RFC 9525 §6.3), a path to a
/// root that is valid now.
public struct TrustPolicy: Sendable {
    /// The oldest version of TLS that is spoken.
    public enum MinimumVersion: Sendable {
        /// TLS 1.2 (RFC 5246).
        case tls12
        /// TLS 1.3 (RFC 8446).
        case tls13
    }

    /// Whose certificates are accepted. The default is the operating system's roots.
    public var roots: TransportConfiguration.Trust
    /// The oldest version of TLS that is spoken. The default is TLS 1.2.
    public var minimumVersion: MinimumVersion
    /// The keys of hosts. Where several sets are for one host, each of them must be met. The default is none.
    ///
    /// They need the package trait `Pins`, which is on by default: without it a transport with pins is not made. On Apple's systems they
    /// also need roots of their own (``TransportConfiguration/Trust/certificates(pem:)``): the system tells SwiftNIO no verified chain.
    public var pins: [PublicKeyPins]
    /// With what hosts are shown that the client is who it is; of several for one host the first. The default is none.
    public var clientIdentities: [ClientIdentity]
    /// Trust that only a developer's own build gives. The default is none.
    public var developmentExceptions: [DevelopmentException]
    /// Told what pins said of each new connection to a host that has any, on a thread of the transport's: it must return soon.
    public var onPinReport: (@Sendable (PinReport) -> Void)?

    /// Makes a policy; see the properties for the defaults.
    public init(
        roots: TransportConfiguration.Trust = .system, minimumVersion: MinimumVersion = .tls12,
        pins: [PublicKeyPins] = [], clientIdentities: [ClientIdentity] = [],
        developmentExceptions: [DevelopmentException] = [], onPinReport: (@Sendable (PinReport) -> Void)? = nil
    ) {
        self.roots = roots
        self.minimumVersion = minimumVersion
        self.pins = pins
        self.clientIdentities = clientIdentities
        self.developmentExceptions = developmentExceptions
        self.onPinReport = onPinReport
    }
}
