#if Command
    package import Hummingbird
    package import HummingbirdCore
    import HummingbirdHTTP2
    import Logging
    import NIOCore
    package import NIOSSL
    package import RunwayServer

    /// A server that limits its connections, and closes all of them at once when it stops. With TLS it serves HTTP/2
    /// and HTTP/1.1, and without TLS only HTTP/1.1.
    package struct BoundedServer<Responder: HTTPResponder>: Sendable
    where Responder.Context: InitializableFromSource<ApplicationRequestContextSource> {
        private let responder: Responder
        private let host: String
        private let port: Int
        private let certificate: DemoCertificate?
        private let onAccepting: @Sendable () -> Void

        /// Creates a server that is not running yet.
        ///
        /// - Parameters:
        ///   - routes: The router.
        ///   - host: The address to bind to. The default is the loopback address.
        ///   - port: The port to bind to. The default, 0, lets the system choose a free port.
        ///   - certificate: The certificate for TLS. The default, `nil`, means HTTP/1.1 without TLS.
        ///   - onAccepting: Called for every connection.
        package init<Routes: HTTPResponderBuilder>(
            _ routes: Routes, host: String = "127.0.0.1", port: Int = 0,
            certificate: DemoCertificate? = nil,
            onAccepting: @escaping @Sendable () -> Void = {}
        ) where Routes.Responder == Responder {
            (responder, self.host, self.port) = (routes.buildResponder(), host, port)
            (self.certificate, self.onAccepting) = (certificate, onAccepting)
        }

        /// Serves until its task is cancelled or its service group shuts down.
        ///
        /// - Parameter onServing: Called once with the base URL and the port, when the server listens.
        /// - Throws: The system's error if the address can't be bound.
        package func run(onServing: @escaping @Sendable (_ baseURL: String, _ port: Int) -> Void) async throws {
            let connections = OpenConnections()
            let application = Application(
                responder: responder,
                server: .bounded(
                    tls: try certificate?.serverConfiguration(), cuttingIn: connections, onAccepting: onAccepting),
                configuration: ApplicationConfiguration(address: .hostname(host, port: port)),
                onServerRunning: { channel in
                    connections.add(channel)
                    let port = channel.localAddress?.port ?? port
                    // RFC 3986 §3.2.2 requires brackets around an IPv6 address.
                    let authority = host.contains(":") ? "[\(host)]" : host
                    onServing("\(certificate == nil ? "http" : "https")://\(authority):\(port)", port)
                },
                logger: Logger(label: "runway.server", factory: { _ in SwiftLogNoOpLogHandler() }))
            do {
                try await connections.run { try await application.run() }
            } catch {
                // The server ends by cancellation. Errors of its parts during the shutdown do not matter.
                guard Task.isCancelled else { throw error }
            }
        }
    }

    extension BoundedServer {
        /// Serves while `body` runs. Passes the base URL and the port to `body`.
        func serve<Value>(while body: (_ baseURL: String, _ port: Int) async throws -> Value) async throws -> Value {
            try await whileServing({ onServing in try await run { onServing(($0, $1)) } }) {
                try await body($0.0, $0.1)
            }
        }
    }

    /// Runs `serve` and `body` at the same time. `body` starts when `serve` reports that it is ready.
    func whileServing<Serving: Sendable, Value>(
        _ serve: @escaping @Sendable (_ onServing: @escaping @Sendable (Serving) -> Void) async throws -> Void,
        _ body: (Serving) async throws -> Value
    ) async throws -> Value {
        let (servings, continuation) = AsyncThrowingStream<Serving, any Error>.makeStream()
        return try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                do {
                    try await serve { continuation.yield($0) }
                    continuation.finish()
                } catch {
                    continuation.finish(throwing: error)
                    throw error
                }
            }
            defer { group.cancelAll() }
            guard let serving = try await servings.first(where: { _ in true }) else { throw CancellationError() }
            let value = try await body(serving)
            group.cancelAll()
            try await group.waitForAll()
            return value
        }
    }

    extension HTTPServerBuilder {
        /// Limits the connections of a server, and closes all of them at once when it stops.
        ///
        /// - Parameter onAccepting: Called for every connection.
        package static func bounded(
            _ limits: ConnectionLimits = ConnectionLimits(), tls: TLSConfiguration?,
            cuttingIn connections: OpenConnections, onAccepting: @escaping @Sendable () -> Void = {}
        ) -> HTTPServerBuilder {
            HTTPServerBuilder { responder in
                func bounded(_ base: some ServerChildChannel) -> any ServerChildChannel {
                    CuttableChannel(
                        base: base.limited(by: limits), connections: connections,
                        onAccepting: onAccepting)
                }
                guard let tls else {
                    return bounded(HTTP1Channel(responder: responder, configuration: limits.requests))
                }
                let configuration = HTTP2ChannelConfiguration(
                    idleTimeout: limits.idleTime, streamConfiguration: limits.requests)
                return bounded(
                    try HTTP2UpgradeChannel(tlsConfiguration: tls, configuration: configuration, responder: responder))
            }
        }
    }
#endif
