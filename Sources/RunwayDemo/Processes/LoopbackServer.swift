#if Command
    import Hummingbird
    import HummingbirdCore
    import Logging
    import NIOCore
    import RunwayServer

    /// A server of the demo that processes of their own call.
    enum LoopbackServer {
        /// Serves some routes without TLS while `body` runs with the base URL.
        static func run<Value: Sendable>(
            _ router: Router<BasicRequestContext>, _ body: @Sendable (_ url: String) async throws -> Value
        ) async throws -> Value {
            let connections = OpenConnections()
            let (ports, port) = AsyncStream<Int>.makeStream()
            let application = Application(
                router: router,
                server: HTTPServerBuilder {
                    CuttableChannel(base: HTTP1Channel(responder: $0), connections: connections)
                },
                configuration: ApplicationConfiguration(address: .hostname("127.0.0.1", port: 0)),
                onServerRunning: { channel in
                    connections.add(channel)
                    port.yield(channel.localAddress?.port ?? 0)
                },
                logger: Logger(label: "runway.demo", factory: { _ in SwiftLogNoOpLogHandler() }))
            let serving = Task {
                // However a server ends that is cancelled does not matter; one that can't start has no port.
                do { try await connections.run { try await application.run() } } catch {}
                port.finish()
            }
            defer { serving.cancel() }
            guard let port = await ports.first(where: { _ in true }) else { throw CancellationError() }
            return try await body("http://127.0.0.1:\(port)")
        }
    }
#endif
