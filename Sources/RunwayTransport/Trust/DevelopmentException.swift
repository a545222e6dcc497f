import Runway

/// Trust for developers' own builds: in a release build the initializer of a transport refuses it.
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

    /// This certificate of this host is trusted, whatever its signature, its names and its dates.
    ///
    /// - Parameters:
    ///   - pem: The server's own certificate as PEM text.
    ///   - host: The host, without a port.
    public static func trusting(certificatePEM pem: String, of host: String) -> DevelopmentException {
        DevelopmentException(host: HostPattern.normal(host), trust: .certificate(pem: pem))
    }

    /// Whatever this host shows is trusted. Its pins, if any, are not looked at.
    public static func skippingVerification(of host: String) -> DevelopmentException {
        DevelopmentException(host: HostPattern.normal(host), trust: .anything)
    }
}
