import AppleFoundation
import NIOCore
import NIOSSL
import NIOTLS
import Security
import SwiftASN1
import Synchronization
import X509

import class NIOPosix.ClientBootstrap
import class NIOPosix.MultiThreadedEventLoopGroup

/// What the fakes' system does about TLS: it shakes hands with a server, verifies its chain, and asks the session's delegate before the
/// handshake goes on. It trusts the authorities that tests name, and none of its own.
enum FakeSystem {
    private static let roots = Mutex<[Certificate]>([])

    static func trust(_ pems: [String]) throws {
        let certificates = try pems.flatMap { try PEMDocument.parseMultiple(pemString: $0) }.map(
            Certificate.init(pemDocument:))
        roots.withLock { $0 += certificates }
    }

    /// Shakes hands with the server of a request over a connection of its own, which is closed afterwards. Does nothing for plain HTTP.
    ///
    /// - Throws: What the session reports.
    static func handshake(for exchange: FakeExchange, connectingWithin time: TimeAmount) async throws {
        guard let url = exchange.request.url, url.scheme == "https", let host = url.host else { return }
        let context = try NIOSSLContext(configuration: .makeClientConfiguration())
        let loop = MultiThreadedEventLoopGroup.singleton.next()
        let end = loop.makePromise(of: Void.self)
        let connection = ClientBootstrap(group: loop).connectTimeout(time).channelInitializer { channel in
            channel.eventLoop.makeCompletedFuture {
                let isAddress = (try? SocketAddress(ipAddress: host, port: 0)) != nil
                let verification: NIOSSLCustomVerificationCallback = { shown, verdict in
                    Task {
                        do {
                            try await decide(about: shown, of: host, in: exchange)
                            verdict.succeed(.certificateVerified)
                        } catch {
                            end.fail(error)
                            verdict.succeed(.failed)
                        }
                    }
                }
                let tls = try NIOSSLClientHandler(
                    context: context, serverHostname: isAddress ? nil : host, customVerificationCallback: verification)
                try channel.pipeline.syncOperations.addHandlers(tls, HandshakeEnd(end))
            }
        }
        let channel: any Channel
        do { channel = try await connection.connect(host: host, port: url.port ?? 443).get() } catch {
            end.succeed()
            throw error
        }
        let timer = loop.scheduleTask(in: time) { end.fail(URLError(.timedOut)) }
        defer {
            timer.cancel()
            channel.close(promise: nil)
        }
        try await end.futureResult.get()
    }

    private static func decide(about shown: [NIOSSLCertificate], of host: String, in exchange: FakeExchange)
        async throws
    {
        let shown = try shown.map { try Certificate(derEncoded: $0.toDERBytes()) }
        guard let leaf = shown.first else { throw URLError(.secureConnectionFailed) }
        let chain = await chain(from: leaf, through: shown, to: host)
        let space = URLProtectionSpace(
            fakeHost: host, method: NSURLAuthenticationMethodServerTrust,
            trust: SecTrust(fakeOf: try shown.map(der), verified: try chain?.map(der)))
        switch await exchange.challenge(space) {
        case .useCredential: return
        case .performDefaultHandling:
            if chain == nil { throw URLError(await fault(of: leaf, among: shown)) }
        default: throw URLError(.cancelled)
        }
    }

    private static func der(_ certificate: Certificate) throws -> [UInt8] { try certificate.serializeAsPEM().derBytes }

    /// The chain that verifies a certificate; `nil` if there is none.
    ///
    /// - Parameter host: The host that it has to name; `nil` for any.
    private static func chain(
        from leaf: Certificate, through shown: [Certificate], to host: String?
    ) async -> [Certificate]? {
        let intermediates = CertificateStore(shown.dropFirst())
        let store = CertificateStore(roots.withLock(\.self))
        let result: CertificateValidationResult
        if let host {
            var verifier = Verifier(rootCertificates: store) {
                RFC5280Policy()
                ServerIdentityPolicy(serverHostname: host, serverIP: host)
            }
            result = await verifier.validate(leaf: leaf, intermediates: intermediates)
        } else {
            var verifier = Verifier(rootCertificates: store) { RFC5280Policy() }
            result = await verifier.validate(leaf: leaf, intermediates: intermediates)
        }
        guard case .validCertificate(let chain) = result else { return nil }
        return Array(chain)
    }

    /// What a session reports of a chain that the system does not trust.
    private static func fault(of leaf: Certificate, among shown: [Certificate]) async -> URLError.Code {
        if leaf.notValidAfter < Date() { return .serverCertificateHasBadDate }
        if leaf.notValidBefore > Date() { return .serverCertificateNotYetValid }
        let namesAnother = await chain(from: leaf, through: shown, to: nil) != nil
        return namesAnother ? .serverCertificateUntrusted : .serverCertificateHasUnknownRoot
    }
}

/// Reports how a handshake ended.
private final class HandshakeEnd: ChannelInboundHandler {
    typealias InboundIn = NIOAny
    private let end: EventLoopPromise<Void>

    init(_ end: EventLoopPromise<Void>) { self.end = end }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if case .handshakeCompleted? = event as? TLSUserEvent { end.succeed() }
        context.fireUserInboundEventTriggered(event)
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        // Of the domain of Secure Transport: errSSLPeerProtocolVersion for what is no TLS, errSSLClosedNoNotify for a cut connection.
        var code = -9816
        if case .handshakeFailed(let cause)? = error as? NIOSSLError, !"\(cause)".contains("EOF") { code = -9836 }
        fail(code)
        context.close(promise: nil)
    }

    func channelInactive(context: ChannelHandlerContext) { fail(-9816) }

    private func fail(_ code: Int) {
        let info = ["_kCFStreamErrorDomainKey": 3, "_kCFStreamErrorCodeKey": code]
        end.fail(URLError(.secureConnectionFailed, userInfo: info))
    }
}
