public import Runway

/// Decides which servers a transport trusts, and which client certificates it sends to them.
///
/// ```swift
/// var configuration = TransportConfiguration()
/// configuration.trustPolicy.pins = [pins]
/// configuration.trustPolicy.onPinReport = { report in print(report.host, report.outcome) }
/// let network = NetworkLayer(transport: try NIOTransport(configuration: configuration))
/// ```
///
/// A server must always use TLS 1.2 or later. Its certificate must have a matching subject alternative name (RFC 9525
/// §6.3), and a currently valid path to a root.
public struct TrustPolicy: Sendable {
    /// The trusted root certificates. The default is the operating system's.
    public var roots: TransportConfiguration.Trust
    /// Whether servers without TLS 1.3 (RFC 8446) are refused. The default is `false`: TLS 1.2 is accepted.
    public var requiresTLS13: Bool
    /// The pinned public keys of hosts. If a host has several sets, the certificate path must contain a key of each
    /// set. The default is empty.
    ///
    /// Pins need the package trait `Pins`, which is on by default; without it, a transport's initializer throws. On
    /// Apple's systems, pins also need ``TransportConfiguration/Trust/certificates(pem:)``, since the system does not
    /// report the verified chain to SwiftNIO. `URLSessionTransport` can compare pins with the system's roots.
    public var pins: [PublicKeyPins]
    /// The client certificates and the hosts that receive them. If several match a host, the first one is used. The
    /// default is empty.
    public var clientIdentities: [ClientIdentity]
    /// Additional trust for development builds. The default is empty.
    public var developmentExceptions: [DevelopmentException]
    /// Whether a release build accepts ``developmentExceptions``, for a command whose user requests an exception on the
    /// command line.
    package var allowsExceptionsInReleaseBuilds = false
    /// Called with the result for each new connection to a host with pins, on a thread of the transport. It must not
    /// block. The default is `nil`.
    public var onPinReport: (@Sendable (PinReport) -> Void)?

    /// Creates a policy. Each parameter has the default of its property.
    public init(
        roots: TransportConfiguration.Trust = .system, requiresTLS13: Bool = false,
        pins: [PublicKeyPins] = [], clientIdentities: [ClientIdentity] = [],
        developmentExceptions: [DevelopmentException] = [], onPinReport: (@Sendable (PinReport) -> Void)? = nil
    ) {
        self.roots = roots
        self.requiresTLS13 = requiresTLS13
        self.pins = pins
        self.clientIdentities = clientIdentities
        self.developmentExceptions = developmentExceptions
        self.onPinReport = onPinReport
    }
}
