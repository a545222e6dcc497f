import NIOSSL
import Synchronization

/// The TLS side of one connection: the handler, and why it refused the server if it did.
struct TLSClient {
    /// To be added to the connection's pipeline, first.
    let handler: NIOSSLClientHandler
    private let refusal: TrustRefusal
    private let hasAllRoots: Bool

    /// - Parameter hasAllRoots: Whether a server whose root is not found is trusted by nobody. The default is that it is so.
    init(handler: NIOSSLClientHandler, refusal: TrustRefusal, hasAllRoots: Bool = true) {
        self.handler = handler
        self.refusal = refusal
        self.hasAllRoots = hasAllRoots
    }

    /// Whether a handshake may have failed for want of a root that was not read.
    func mayHaveLackedRoot(_ error: any Error) -> Bool {
        !hasAllRoots && refusal.reason == nil && TLSFailure(error)?.isOfVerification == true
    }

    /// What a failed handshake failed with: BoringSSL only says that a certificate was not verified, not why.
    func explained(_ error: any Error) -> any Error {
        refusal.reason.map { TrustRefused(reason: $0) } ?? error
    }
}

/// A server was refused for what it showed of itself. Certainly no byte of a request left.
struct TrustRefused: Error, CustomStringConvertible {
    let reason: String
    /// The reason where the certificate is somebody else's.
    static let otherName = "its certificate does not name the host in its subject alternative names"
    var description: String { reason }
}

/// Why a server was refused; written by the verification, read by whoever sees the handshake fail.
final class TrustRefusal: Sendable {
    /// Guards the reason.
    private let state = Mutex<String?>(nil)

    var reason: String? {
        get { state.withLock { $0 } }
        set { state.withLock { $0 = newValue } }
    }
}
