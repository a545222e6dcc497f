import Foundation
import NIOCore
import NIOSSL
import Runway
import X509

/// A ``TrustPolicy`` made ready: contexts and roots are read once, and a handler is made of them for each connection.
///
/// A host without pins is verified by BoringSSL, but for its name, which is compared here. A host with pins is verified by
/// swift-certificates, since only there the verified chain can be seen. Either way the handshake does not
/// complete, and so no byte of a request leaves, before all is well.
struct TLSPolicy: Sendable {
    private let policy: TrustPolicy
    private let context: NIOSSLContext
    /// The contexts of those hosts that are shown an identity.
    private let identityContexts: [(hosts: HostPattern, context: NIOSSLContext)]
    private let exceptions: [String: DevelopmentTrust]
    private let chainVerifier: ChainVerifier?
    private let clock: LayerClock

    /// Whether this package was compiled for release.
    static var isReleaseBuild: Bool {
        #if DEBUG
            false
        #else
            true
        #endif
    }

    /// Reads all that the policy names. It takes some milliseconds with the system's roots: once, off a caller's path.
    ///
    /// - Parameters:
    ///   - policy: Whom to trust.
    ///   - applicationProtocols: What is offered by ALPN (RFC 7301), such as `h2` and `http/1.1`.
    ///   - isReleaseBuild: Whether development exceptions are refused.
    ///   - clock: Says whether pins have expired.
    /// - Throws: `NetworkError.Kind.invalidConfiguration`.
    init(
        _ policy: TrustPolicy, applicationProtocols: [String], isReleaseBuild: Bool = Self.isReleaseBuild,
        clock: LayerClock = .system
    ) throws(NetworkError) {
        if isReleaseBuild, let exception = policy.developmentExceptions.first {
            throw NetworkError(
                .invalidConfiguration, in: .transporting,
                "A release build makes no exception of its trust, here for \(exception.host).")
        }
        self.policy = policy
        self.clock = clock
        do {
            var tls = TLSConfiguration.makeClientConfiguration()
            // Whose certificate it is, is compared here: see ServerIdentity.
            tls.certificateVerification = .noHostnameVerification
            tls.minimumTLSVersion = policy.minimumVersion == .tls13 ? .tlsv13 : .tlsv12
            tls.applicationProtocols = applicationProtocols
            let pem: String? =
                if case .certificates(let texts) = policy.roots { texts.joined(separator: "\n") } else { nil }
            if let pem {
                let roots = try NIOSSLCertificate.fromPEMBytes(Array(pem.utf8))
                guard !roots.isEmpty else { throw NIOSSLError.failedToLoadCertificate }
                tls.trustRoots = .certificates(roots)
            }
            context = try NIOSSLContext(configuration: tls)
            identityContexts = try policy.clientIdentities.map { identity in
                var own = tls
                own.certificateChain = identity.chain.map { .certificate($0) }
                own.privateKey = .privateKey(identity.key)
                return (identity.hosts, try NIOSSLContext(configuration: own))
            }
            chainVerifier = try policy.pins.isEmpty ? nil : ChainVerifier(rootsPEM: pem)
            exceptions = try policy.developmentExceptions.reduce(into: [:]) {
                $0[$1.host] = try DevelopmentTrust($1.trust)
            }
        } catch let error as NetworkError {
            throw error
        } catch {
            throw NetworkError(
                .invalidConfiguration, in: .transporting,
                "The certificates of the transport can't be read as PEM, or do not belong to their keys.",
                underlying: error)
        }
    }

    /// Makes the handler of one connection for a host, whatever address is dialled.
    ///
    /// Its errors are made clear by ``TLSClient/explained(_:)``.
    ///
    /// - Parameter host: The host of the URL: a name, or an address with or without brackets.
    /// - Throws: `NIOSSLExtraError` for a name that can't be asked for.
    func client(for host: String) throws -> TLSClient {
        let host = HostPattern.normal(host)
        let context = identityContexts.first { $0.hosts.matches(host) }?.context ?? context
        let identity = ServerIdentity(host)
        let serverName = identity.isAddress ? nil : host
        let refusal = TrustRefusal()
        if let exception = exceptions[host] {
            let handler = try NIOSSLClientHandler(
                context: context, serverHostname: serverName,
                customVerificationCallback: { chain, promise in
                    if exception.accepts(chain) { return promise.succeed(.certificateVerified) }
                    refusal.reason = "it did not show the certificate that the development exception names"
                    promise.succeed(.failed)
                })
            return TLSClient(handler: handler, refusal: refusal)
        }
        let now = clock.date
        let pins = policy.pins.filter { $0.areFor(host) }
        let active = pins.filter { !$0.hasExpired(at: now) }
        if !pins.isEmpty, active.isEmpty {
            policy.onPinReport?(PinReport(host: host, outcome: .expired, chain: []))
        }
        guard let chainVerifier, !active.isEmpty else {
            let handler = try NIOSSLClientHandler._makeSSLClientHandler(
                context: context, serverHostname: serverName,
                additionalPeerCertificateVerificationCallback: { leaf, channel in
                    if identity.isAmong(leaf.hostNames) { return channel.eventLoop.makeSucceededVoidFuture() }
                    let refused = TrustRefused(reason: TrustRefused.otherName)
                    refusal.reason = refused.reason
                    return channel.eventLoop.makeFailedFuture(refused)
                })
            return TLSClient(handler: handler, refusal: refusal)
        }
        let onPinReport = policy.onPinReport
        let handler = try NIOSSLClientHandler(
            context: context, serverHostname: serverName,
            customVerificationCallback: { chain, promise in
                promise.completeWithTask {
                    do throws(TrustRefused) {
                        let report = try await chainVerifier.verify(chain, of: host, identity, pins: active)
                        onPinReport?(report)
                        guard report.outcome == .refused else { return .certificateVerified }
                        refusal.reason = "none of the keys of its verified certificates is pinned"
                    } catch {
                        refusal.reason = error.reason
                    }
                    return .failed
                }
            })
        return TLSClient(handler: handler, refusal: refusal)
    }
}

/// What a development exception trusts, made ready.
private enum DevelopmentTrust: Sendable {
    case certificate(NIOSSLCertificate)
    case anything

    init(_ trust: DevelopmentException.Trust) throws {
        switch trust {
        case .anything: self = .anything
        case .certificate(let pem):
            guard let certificate = try NIOSSLCertificate.fromPEMBytes(Array(pem.utf8)).first else {
                throw NIOSSLError.failedToLoadCertificate
            }
            self = .certificate(certificate)
        }
    }

    func accepts(_ chain: [NIOSSLCertificate]) -> Bool {
        switch self {
        case .anything: true
        case .certificate(let certificate): chain.first == certificate
        }
    }
}
