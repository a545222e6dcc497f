import NIOSSL
import Runway
import Synchronization

#if Pins
    import SwiftASN1
    import X509
#endif

/// The TLS side of one connection: the handler, and why it refused the server if it did.
struct TLSClient {
    /// The first handler of the connection's pipeline.
    let handler: NIOSSLClientHandler
    private let refusal: TrustRefusal
    private let hasAllRoots: Bool

    /// - Parameter hasAllRoots: Whether all roots of the system were read. The default is `true`.
    init(handler: NIOSSLClientHandler, refusal: TrustRefusal, hasAllRoots: Bool = true) {
        self.handler = handler
        self.refusal = refusal
        self.hasAllRoots = hasAllRoots
    }

    /// Whether a handshake may have failed because a root was not read.
    func mayHaveLackedRoot(_ error: any Error) -> Bool {
        !hasAllRoots && refusal.reason == nil && TLSFailure(error)?.isVerificationFailure == true
    }

    /// Returns the reason of a failed handshake, since BoringSSL reports only that a certificate was not verified. On
    /// the connection's loop.
    func explained(_ error: any Error) -> any Error {
        if let reason = refusal.reason { return TrustRefused(reason: reason) }
        #if Pins
            // Of a chain that BoringSSL refused, NIOSSL passes on only this certificate.
            if TLSFailure(error)?.isVerificationFailure == true, let shown = handler.peerCertificate,
                let leaf = try? Certificate(derEncoded: shown.toDERBytes())
            {
                return TrustRefused(reason: CertificateFault(of: leaf, among: nil).reason)
            }
        #endif
        return error
    }
}

/// A server was refused because of its certificates. Certainly no byte of a request was sent.
struct TrustRefused: DescribedError {
    let reason: String
    /// The reason for a certificate of another host.
    static let otherName = "its certificate does not name the host in its subject alternative names"
    /// The reason for a certificate for other purposes.
    static let notForServers = "its certificate is not for servers"
    var description: String { reason }
}

/// The reason why a server was refused; written by the verification, read when the handshake fails.
final class TrustRefusal: Sendable {
    /// Guards the reason.
    private let state = Mutex<String?>(nil)

    var reason: String? {
        get { state.withLock { $0 } }
        set { state.withLock { $0 = newValue } }
    }
}
