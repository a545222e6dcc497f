public import struct Foundation.Date

/// Requires that the verified chain of a host's certificate contains one of several public keys.
///
/// Pins protect against a trusted authority that issued a certificate to an attacker, and against a device that trusts
/// an interceptor. In both cases the chain is valid but does not contain the keys: the connection is refused before any
/// byte of a request is sent.
///
/// ```swift
/// let pins = try PublicKeyPins(
///     host: "api.example.com",
///     pins: [
///         "sha256/AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=",
///         "sha256/BBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBA=",
///     ],
///
///     expiry: Date(timeIntervalSince1970: 1_893_456_000))
/// ```
///
/// Pass the pins to ``URLSessionTransport/init(configuration:pins:onPinReport:)``, or to the `trustPolicy` of a
/// `NIOTransport`, which needs the package trait `Pins` for them.
///
/// **Backup.** At least two different pins are required, so that a lost or stolen key can be replaced: one of them
/// should belong to a key that is in no certificate yet.
///
/// **Expiry.** After ``expiry`` the pins are no longer enforced: an app that was never updated falls back to the usual
/// verification, and the report is ``PinReport/Outcome/expired``. If all sets of a host have expired, the host is
/// treated like one without pins.
public struct PublicKeyPins: Sendable, Hashable {
    /// The host that the pins apply to, in lower case.
    public let host: String
    /// Whether the pins also apply to all subdomains of ``host``. The default is `false`.
    public let includesSubdomains: Bool
    /// The pinned keys, each as the SHA-256 digest of a `SubjectPublicKeyInfo` in DER (RFC 7469 §2.4).
    public let pins: Set<PublicKeyPin>
    /// The date at which the pins expire; `nil` if they never expire.
    public let expiry: Date?
    /// Whether a connection is refused if its chain contains none of the keys. If `false`, the connection is used, and
    /// the report states that it would have been refused. The default is `true`.
    public let isEnforced: Bool

    /// Pins a host to a set of public keys, which is validated.
    ///
    /// - Parameters:
    ///   - host: The host, as in URLs, without a port.
    ///   - includesSubdomains: Whether the pins also apply to all subdomains of `host`. The default is `false`.
    ///   - pins: The keys, at least two and at most 32, in the form that ``PublicKeyPin/init(_:)`` reads.
    ///   - expiry: The date at which the pins expire. The default, `nil`, means never.
    ///   - isEnforced: Whether a chain that contains none of the keys is refused. The default is `true`. With `false`
    ///     the mismatch is only reported, for example to try out new pins.
    /// - Throws: `NetworkError.Kind.invalidConfiguration`, which names the problem.
    public init(
        host: String, includesSubdomains: Bool = false, pins: [String], expiry: Date? = nil, isEnforced: Bool = true
    ) throws(NetworkError) {
        let name = HostPattern.normal(host)
        guard HostPattern.isHost(name) else {
            throw NetworkError(
                .invalidConfiguration, in: .transporting, "\"\(host)\" is not a host for which keys can be pinned.")
        }
        var read: Set<PublicKeyPin> = []
        for text in pins { read.insert(try PublicKeyPin(text)) }
        guard (2...Self.maximumPinCount).contains(read.count) else {
            throw NetworkError(
                .invalidConfiguration, in: .transporting,
                "The pins of \(name) are \(read.count) different keys: at least two are needed, one of them as a backup, "
                    + "and at most \(Self.maximumPinCount).")
        }
        self.host = name
        self.includesSubdomains = includesSubdomains
        self.pins = read
        self.expiry = expiry
        self.isEnforced = isEnforced
    }

    /// The maximum number of keys in one set of pins.
    public static let maximumPinCount = 32

    package func areFor(_ host: String) -> Bool {
        HostPattern(host: self.host, includesSubdomains: includesSubdomains).matches(host)
    }

    func hasExpired(at date: Date) -> Bool { expiry.map { $0 <= date } ?? false }
}
