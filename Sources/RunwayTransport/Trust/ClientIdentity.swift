import NIOSSL
public import Runway

/// The certificate and private key with which a client authenticates, and the hosts that receive the certificate.
///
/// Neither its description nor its reflection contains the key.
public struct ClientIdentity: Sendable {
    let hosts: HostPattern
    let chain: [NIOSSLCertificate]
    let key: NIOSSLPrivateKey

    /// Creates an identity from PEM.
    ///
    /// - Parameters:
    ///   - host: The host that receives the certificate.
    ///   - includesSubdomains: Whether all subdomains of `host` receive the certificate, too. The default is `false`.
    ///   - certificateChainPEM: The client's certificate, followed by the intermediate certificates.
    ///   - privateKeyPEM: The unencrypted private key of the first certificate.
    /// - Throws: `NetworkError.Kind.invalidConfiguration`, for example if the key does not match the certificate.
    public init(
        for host: String, includesSubdomains: Bool = false, certificateChainPEM: String, privateKeyPEM: String
    ) throws(NetworkError) {
        do {
            try self.init(
                host, includesSubdomains, NIOSSLCertificate.fromPEMBytes(Array(certificateChainPEM.utf8)),
                NIOSSLPrivateKey(bytes: Array(privateKeyPEM.utf8), format: .pem))
        } catch {
            throw Self.unreadable(host, error)
        }
    }

    /// Creates an identity from PKCS #12 (RFC 7292).
    ///
    /// - Parameters:
    ///   - host: The host that receives the certificate.
    ///   - includesSubdomains: Whether all subdomains of `host` receive the certificate, too. The default is `false`.
    ///   - pkcs12: The contents of a `.p12` or `.pfx` file.
    ///   - passphrase: The passphrase with which the file is encrypted.
    /// - Throws: `NetworkError.Kind.invalidConfiguration`, for example if the key does not match the certificate.
    public init(
        for host: String, includesSubdomains: Bool = false, pkcs12: [UInt8], passphrase: String
    ) throws(NetworkError) {
        do {
            let bundle = try NIOSSLPKCS12Bundle(buffer: pkcs12, passphrase: Array(passphrase.utf8))
            try self.init(host, includesSubdomains, bundle.certificateChain, bundle.privateKey)
        } catch {
            throw Self.unreadable(host, error)
        }
    }

    private init(
        _ host: String, _ includesSubdomains: Bool, _ chain: [NIOSSLCertificate], _ key: NIOSSLPrivateKey
    ) throws {
        guard !chain.isEmpty else { throw NIOSSLError.failedToLoadCertificate }
        // Creating a context without roots is cheap, and fails if the key does not match.
        var tls = TLSConfiguration.makeClientConfiguration()
        tls.trustRoots = .certificates([])
        tls.certificateChain = chain.map { .certificate($0) }
        tls.privateKey = .privateKey(key)
        _ = try NIOSSLContext(configuration: tls)
        hosts = HostPattern(host: HostPattern.normal(host), includesSubdomains: includesSubdomains)
        self.chain = chain
        self.key = key
    }

    private static func unreadable(_ host: String, _ error: any Error) -> NetworkError {
        NetworkError(
            .invalidConfiguration, in: .transporting,
            "The client's identity for \(host) can't be read, or its key is another's.", underlying: error)
    }
}

extension ClientIdentity: CustomStringConvertible, CustomReflectable {
    /// Names the host that receives the certificate. Does not include the key.
    public var description: String { "ClientIdentity for \(hosts.host), \(Redaction.placeholder)" }

    /// Names the host that receives the certificate. Does not include the key.
    public var customMirror: Mirror { Mirror(self, children: ["host": hosts.host]) }
}
