import NIOCore
public import NIOSSL

/// The TLS configuration of a ``ScriptedOrigin``, with its certificate.
public struct OriginTLS: Sendable {
    /// The server configuration for all connections.
    public var configuration: TLSConfiguration

    /// Uses a server configuration of NIOSSL, for example to set protocol versions or request client certificates.
    ///
    /// The origin supports only HTTP/1.1, so leave `applicationProtocols` empty or set it to `["http/1.1"]`.
    public init(configuration: TLSConfiguration) { self.configuration = configuration }

    /// Creates a configuration from a certificate chain and a private key, both as PEM. The chain starts with the
    /// origin's own certificate, to which the key belongs.
    ///
    /// The origin offers `http/1.1` (ALPN). Throws `NIOSSLError` if the bytes are not a certificate chain and its key.
    public init(certificateChainPEM: [UInt8], privateKeyPEM: [UInt8]) throws {
        let chain = try NIOSSLCertificate.fromPEMBytes(certificateChainPEM)
        let key = try NIOSSLPrivateKey(bytes: privateKeyPEM, format: .pem)
        configuration = .makeServerConfiguration(
            certificateChain: chain.map { .certificate($0) }, privateKey: .privateKey(key))
        configuration.applicationProtocols = ["http/1.1"]
        // A short timeout, so that a test does not wait for a client that ignores close_notify.
        configuration.shutdownTimeout = .seconds(1)
    }
}
