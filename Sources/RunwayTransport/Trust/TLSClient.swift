import NIOSSL
import Runway
import Synchronization

#if Pins
    import SwiftASN1
    import X509
#endif

/// The TLS handler of one connection. `refusal` has the reason if the server was refused.
struct TLSClient {
    let handler: NIOSSLClientHandler
    private let refusal: TrustRefusal
    private let hasAllRoots: Bool

    /// - Parameter hasAllRoots: Whether all roots of the system were loaded. The default is `true`.
    init(handler: NIOSSLClientHandler, refusal: TrustRefusal, hasAllRoots: Bool = true) {
        self.handler = handler
        self.refusal = refusal
        self.hasAllRoots = hasAllRoots
    }

    /// Returns whether a handshake may have failed because a root was not loaded.
    func mayHaveLackedRoot(_ error: any Error) -> Bool {
        !hasAllRoots && refusal.reason == nil && TLSFailure(error)?.isVerificationFailure == true
    }

    /// Returns an error with the reason for a failed handshake, since BoringSSL reports only that a certificate was not
    /// verified. Call on the connection's event loop.
    func explained(_ error: any Error) -> any Error {
        if let reason = refusal.reason { return TrustRefused(reason: reason) }
        #if Pins
            // If BoringSSL refuses a chain, NIOSSL passes on only the server's certificate.
            if TLSFailure(error)?.isVerificationFailure == true, let shown = handler.peerCertificate,
                let leaf = try? Certificate(derEncoded: shown.toDERBytes())
            {
                return TrustRefused(reason: CertificateFault(of: leaf, among: nil).reason)
            }
        #endif
        return error
    }
}

/// The error for a server that was refused because of its certificates. No byte of a request was sent.
struct TrustRefused: DescribedError {
    let reason: String
    static let otherName = "its certificate does not name the host in its subject alternative names"
    static let notForServers = "its certificate is not for servers"
    var description: String { reason }
}

/// The reason why a server was refused. The verification writes it, and it is read when the handshake fails.
final class TrustRefusal: Sendable {
    /// Guards the reason.
    private let state = Mutex<String?>(nil)

    var reason: String? {
        get { state.withLock { $0 } }
        set { state.withLock { $0 = newValue } }
    }
}
