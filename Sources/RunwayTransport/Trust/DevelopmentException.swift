import Runway

/// Trust for development builds. In a release build, creating a transport with it throws.
///
/// A build is a release build if this package is compiled without `DEBUG`, for example by `swift build -c release` or
/// by Xcode's release configurations.
public struct DevelopmentException: Sendable, Hashable {
    enum Trust: Sendable, Hashable {
        case certificate(pem: String)
        case anything
    }

    let host: String
    let trust: Trust

    /// Trusts one certificate of a host, regardless of its signature, names and dates.
    ///
    /// - Parameters:
    ///   - pem: The server's own certificate in PEM.
    ///   - host: The host, without a port.
    public static func trusting(certificatePEM pem: String, of host: String) -> DevelopmentException {
        DevelopmentException(host: HostPattern.normal(host), trust: .certificate(pem: pem))
    }

    /// Trusts any certificate of a host. Pins of the host are ignored.
    public static func skippingVerification(of host: String) -> DevelopmentException {
        DevelopmentException(host: HostPattern.normal(host), trust: .anything)
    }
}
