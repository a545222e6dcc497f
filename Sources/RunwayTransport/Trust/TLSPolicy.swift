import NIOCore
import NIOSSL
import Runway

/// The prepared form of a ``TrustPolicy``: its TLS contexts are created once, and each connection gets a handler.
///
/// A host without pins is verified by BoringSSL, except that its name is compared here. A host with pins is verified by
/// swift-certificates, since only this library returns the verified chain. In both cases, the handshake does not
/// complete, and no byte of a request is sent, before the verification has succeeded.
struct TLSPolicy: Sendable {
    private let material: TrustMaterial
    private let context: NIOSSLContext
    /// The contexts for hosts that receive a client certificate.
    private let identityContexts: [(hosts: HostPattern, context: NIOSSLContext)]
    private let clock: LayerClock
    private let hasAllRoots: Bool

    /// Creates the TLS contexts. Reading all of the system's roots takes milliseconds, so it is done once, outside any
    /// call.
    ///
    /// - Parameters:
    ///   - material: The trusted authorities, pins and identities.
    ///   - applicationProtocols: The protocols that ALPN offers (RFC 7301), such as `h2` and `http/1.1`.
    ///   - folder: The folder from which each root is read when a server needs it. If `nil`, the default, all roots are
    ///     read at once.
    ///   - clock: Decides whether pins have expired.
    /// - Throws: `NetworkError.Kind.invalidConfiguration`.
    init(
        _ material: TrustMaterial, applicationProtocols: [String], rootsFrom folder: String? = nil,
        clock: LayerClock = .system
    ) throws(NetworkError) {
        self.material = material
        self.clock = clock
        hasAllRoots = folder == nil
        var tls = material.configuration(rootsFrom: folder)
        // The host name is compared by this module instead; see ServerIdentity.
        tls.certificateVerification = .noHostnameVerification
        tls.applicationProtocols = applicationProtocols
        do {
            context = try NIOSSLContext(configuration: tls)
            identityContexts = try material.policy.clientIdentities.map { identity in
                var own = tls
                own.certificateChain = identity.chain.map { .certificate($0) }
                own.privateKey = .privateKey(identity.key)
                return (identity.hosts, try NIOSSLContext(configuration: own))
            }
        } catch {
            throw NetworkError(
                .invalidConfiguration, in: .transporting, "TLS can't be set up with the transport's trust policy.",
                underlying: error)
        }
    }

    /// Creates the handler of one connection to a host. The dialled address does not matter.
    ///
    /// ``TLSClient/explained(_:)`` translates its errors.
    ///
    /// - Parameter host: The host of the URL: a name, or an address with or without brackets.
    /// - Throws: `NIOSSLExtraError` for a name that is invalid for TLS.
    func client(for host: String) throws -> TLSClient {
        let host = HostPattern.normal(host)
        let context = identityContexts.first { $0.hosts.matches(host) }?.context ?? context
        let identity = ServerIdentity(host)
        let serverName = identity.isAddress ? nil : host
        let refusal = TrustRefusal()
        if let exception = material.exceptions[host] {
            let handler = try NIOSSLClientHandler(
                context: context, serverHostname: serverName,
                customVerificationCallback: { chain, promise in
                    if exception.accepts(chain) { return promise.succeed(.certificateVerified) }
                    refusal.reason = "it did not show the certificate that the development exception names"
                    promise.succeed(.failed)
                })
            return TLSClient(handler: handler, refusal: refusal)
        }
        let pins = HostPins(host, in: material.policy.pins, at: clock.date)
        if let pins, pins.haveExpired { material.policy.onPinReport?(pins.report(on: [])) }
        guard let chainVerifier = material.chainVerifier, let pins, !pins.haveExpired else {
            let handler = try NIOSSLClientHandler._makeSSLClientHandler(
                context: context, serverHostname: serverName,
                additionalPeerCertificateVerificationCallback: { leaf, channel in
                    if identity.isAmong(leaf.hostNames) { return channel.eventLoop.makeSucceededVoidFuture() }
                    let refused = TrustRefused(reason: TrustRefused.otherName)
                    refusal.reason = refused.reason
                    return channel.eventLoop.makeFailedFuture(refused)
                })
            return TLSClient(handler: handler, refusal: refusal, hasAllRoots: hasAllRoots)
        }
        let onPinReport = material.policy.onPinReport
        let handler = try NIOSSLClientHandler(
            context: context, serverHostname: serverName,
            customVerificationCallback: { chain, promise in
                promise.completeWithTask {
                    do throws(TrustRefused) {
                        let report = try await chainVerifier.verify(chain, of: identity, pins: pins)
                        onPinReport?(report)
                        guard report.outcome == .refused else { return .certificateVerified }
                        refusal.reason = HostPins.refusal
                    } catch {
                        refusal.reason = error.reason
                    }
                    return .failed
                }
            })
        return TLSClient(handler: handler, refusal: refusal)
    }
}
