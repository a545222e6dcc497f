import NIOCore
import NIOPosix
public import NIOSSL
import NIOTLS

/// A real HTTP/1.1 server on a loopback socket. It sends the correct or faulty responses of a test's script.
///
/// ```swift
/// try await withScriptedOrigin { origin in
///     origin.on(.get, "/list", respond: .json(#"{"list":[]}"#))
///     // … let the app call origin.baseURL + "/list" …
///
///     let requests = try await origin.waitForRequests(count: 1)
///     #expect(requests[0]["Authorization"] == "Bearer 1")
///     #expect(origin.unexpectedRequests.isEmpty)
/// }
/// ```
///
/// The origin reads strictly: a request that is not HTTP/1.1 by RFC 9112 gets a 400, ends its connection and is added
/// to ``malformedRequests``. Connections stay open after a response, and pipelined requests get their responses in
/// order. A client that closes its sending half counts as disconnected.
///
/// An origin runs on the process's shared event loops. Origins of parallel tests are independent.
///
/// ``shutdown()`` closes all connections. The deinit of an origin does the same.
public final class ScriptedOrigin: Sendable {
    /// The limits for the data that an origin stores. Negative limits count as zero.
    package struct Limits: Sendable {
        /// The maximum number of stored requests. Later requests get responses and are counted, but not stored.
        var requests: Int
        /// The maximum size of all stored bodies together, in bytes. Later bytes are counted, but not stored.
        var bodyBytes: Int
        /// The maximum size of the head of a request, in bytes. A larger head is malformed.
        var headBytes: Int

        package init(requests: Int = 1000, bodyBytes: Int = 64 << 20, headBytes: Int = 256 << 10) {
            (self.requests, self.bodyBytes, self.headBytes) = (requests, bodyBytes, headBytes)
        }
    }

    /// The error of a wait if the origin was shut down before the awaited event.
    package struct ShutDownError: Error, Hashable, CustomStringConvertible {
        /// The error as a sentence.
        package var description: String { "The scripted origin was shut down while a test waited on it." }
    }

    /// The port at 127.0.0.1 on which the origin listens.
    public let port: Int
    /// The base of all URLs, without a slash at the end, such as `http://127.0.0.1:40123`.
    public let baseURL: String

    let script: OriginScript
    let record: OriginRecord
    private let server: any Channel

    /// Starts an origin on a free port of 127.0.0.1.
    ///
    /// - Parameters:
    ///   - tls: The configuration for TLS, such as `.makeOriginConfiguration(certificateChainPEM:privateKeyPEM:)`. Its
    ///     `applicationProtocols` are empty or `["http/1.1"]`, the only supported version. The default is plain HTTP.
    ///   - hostname: The host in ``baseURL``, which has to resolve to 127.0.0.1. The default is `127.0.0.1`. With TLS
    ///     it is `localhost`, since certificates and the server name of TLS need a name.
    /// - Throws: An `IOError` if no socket can be opened, an `NIOSSLError` if the certificate can't be used.
    public static func start(tls: TLSConfiguration? = nil, hostname: String? = nil) async throws -> ScriptedOrigin {
        try await start(tls: tls, hostname: hostname, limits: Limits())
    }

    package static func start(tls: TLSConfiguration?, hostname: String?, limits: Limits) async throws -> ScriptedOrigin
    {
        let script = OriginScript()
        let record = OriginRecord(limits: limits)
        let tlsContext = try tls.map { try NIOSSLContext(configuration: $0) }
        let server = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .serverChannelOption(.backlog, value: 256)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try setUp(channel, tlsContext: tlsContext, script: script, record: record)
                }
            }
            .bind(host: "127.0.0.1", port: 0).get()
        let scheme = tls == nil ? "http" : "https"
        let host = hostname ?? (tls == nil ? "127.0.0.1" : "localhost")
        return ScriptedOrigin(server: server, scheme: scheme, host: host, script: script, record: record)
    }

    private init(server: any Channel, scheme: String, host: String, script: OriginScript, record: OriginRecord) {
        self.server = server
        self.port = server.localAddress?.port ?? 0
        self.baseURL = "\(scheme)://\(host):\(port)"
        self.script = script
        self.record = record
    }

    deinit {
        cut()
    }

    /// Stops listening, and closes every connection. Returns when all are closed.
    ///
    /// Pending waits throw an error. The recorded requests stay available. A second call does nothing.
    public func shutdown() async {
        let connections = cut()
        // Closing a closed channel is an error, but leaves the desired state.
        try? await server.closeFuture.get()
        for connection in connections { try? await connection.closeFuture.get() }
        record.endWaits()
    }

    @discardableResult
    private func cut() -> [any Channel] {
        let connections = record.shutDown()
        server.close(promise: nil)
        for connection in connections { connection.triggerUserOutboundEvent(SocketEnding.closed, promise: nil) }
        return connections
    }

    private static func setUp(
        _ channel: any Channel,
        tlsContext: NIOSSLContext?,
        script: OriginScript,
        record: OriginRecord
    ) throws {
        guard let number = record.connectionOpened(channel) else { throw ShutDownError() }
        let behaviour = script.takeConnection()
        let connection = OriginConnection(
            number: number,
            behaviour: behaviour,
            isTLS: tlsContext != nil,
            script: script,
            record: record
        )
        try channel.pipeline.syncOperations.addHandler(SocketCutter())
        if let tlsContext, behaviour.reachesTLS {
            let sniHandler = SNIHandler { result in
                if case .hostname(let name) = result { connection.serverName = name }
                return channel.eventLoop.makeCompletedFuture {
                    let tlsHandler = NIOSSLServerHandler(context: tlsContext)
                    try channel.pipeline.syncOperations.addHandler(tlsHandler, position: .before(connection))
                }
            }
            try channel.pipeline.syncOperations.addHandler(ByteToMessageHandler(sniHandler))
        }
        try channel.pipeline.syncOperations.addHandler(connection)
    }
}

extension ScriptedConnection {
    fileprivate var reachesTLS: Bool {
        switch self {
        case .serve, .respond: true
        case .close, .reset, .ignore: false
        }
    }
}

/// Runs `body` with a new ``ScriptedOrigin``. Shuts the origin down afterwards, even if `body` throws.
///
/// See ``ScriptedOrigin/start(tls:hostname:)`` for the parameters. Rethrows the errors of `body`.
public func withScriptedOrigin<Value>(
    tls: TLSConfiguration? = nil, hostname: String? = nil, _ body: (ScriptedOrigin) async throws -> Value
) async throws -> Value {
    try await withScriptedOrigin(tls: tls, hostname: hostname, limits: ScriptedOrigin.Limits(), body)
}

package func withScriptedOrigin<Value>(
    tls: TLSConfiguration? = nil, hostname: String? = nil, limits: ScriptedOrigin.Limits,
    _ body: (ScriptedOrigin) async throws -> Value
) async throws -> Value {
    let origin = try await ScriptedOrigin.start(tls: tls, hostname: hostname, limits: limits)
    do {
        let value = try await body(origin)
        await origin.shutdown()
        return value
    } catch {
        await origin.shutdown()
        throw error
    }
}

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
