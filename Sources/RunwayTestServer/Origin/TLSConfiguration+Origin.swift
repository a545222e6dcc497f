import NIOCore
public import NIOSSL

extension TLSConfiguration {
    /// Returns a configuration of a ``ScriptedOrigin`` with a certificate chain and a private key, both as PEM. The
    /// chain starts with the origin's own certificate, to which the key belongs.
    ///
    /// The origin offers `http/1.1` (ALPN). Throws `NIOSSLError` if the bytes are not a certificate chain and its key.
    public static func makeOriginConfiguration(
        certificateChainPEM: [UInt8], privateKeyPEM: [UInt8]
    ) throws -> TLSConfiguration {
        let chain = try NIOSSLCertificate.fromPEMBytes(certificateChainPEM)
        let key = try NIOSSLPrivateKey(bytes: privateKeyPEM, format: .pem)
        var configuration = TLSConfiguration.makeServerConfiguration(
            certificateChain: chain.map { .certificate($0) }, privateKey: .privateKey(key))
        configuration.applicationProtocols = ["http/1.1"]
        // A short timeout, so that a test does not wait for a client that ignores close_notify.
        configuration.shutdownTimeout = .seconds(1)
        return configuration
    }
}
