import NIOCore
public import NIOSSL

/// The certificate that a ``ScriptedOrigin`` uses for TLS.
public struct OriginTLS: Sendable {
    /// The configuration that connections are made with.
    public var configuration: TLSConfiguration

    /// Uses any server configuration of NIOSSL, for protocol versions, client certificates and the like.
    ///
    /// The origin offers HTTP/1.1 only: leave `applicationProtocols` empty or set `["http/1.1"]`.
    public init(configuration: TLSConfiguration) { self.configuration = configuration }

    /// Takes a certificate chain, the origin's own certificate first, and its private key, both as PEM.
    ///
    /// The client is offered `http/1.1` (ALPN). Throws `NIOSSLError` if the bytes are not a certificate chain and its
    /// key.
    public init(certificateChainPEM: [UInt8], privateKeyPEM: [UInt8]) throws {
        let chain = try NIOSSLCertificate.fromPEMBytes(certificateChainPEM)
        let key = try NIOSSLPrivateKey(bytes: privateKeyPEM, format: .pem)
        configuration = .makeServerConfiguration(
            certificateChain: chain.map { .certificate($0) }, privateKey: .privateKey(key))
        configuration.applicationProtocols = ["http/1.1"]
        // A test should not wait long for a client that does not respond to a close_notify.
        configuration.shutdownTimeout = .seconds(1)
    }
}
