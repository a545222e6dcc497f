import Hummingbird
import HummingbirdCore
import Logging
import NIOCore
import RunwayDemo
import RunwayServer

/// The server of `runway serve --log`: it receives action logs, and erases the records that an installation sent
/// without an account. It can't verify accounts, and so has no route that erases an account's records.
struct LogServer: Sendable {
    let sink: LogPlace.Sink
    /// The certificate that clients must trust; `nil` without TLS.
    let certificate: DemoCertificate?
    /// The hosts and origins whose requests are accepted.
    let rules: HostRules

    /// Serves at an address of this machine until its task is cancelled, then closes every connection at once and
    /// stores the waiting records.
    ///
    /// - Parameters:
    ///   - host: An address, or the name of one.
    ///   - onServing: Called with the URL of the route once the port is bound.
    /// - Throws: The system's error if the port can't be bound.
    func run(host: String, port: Int, onServing: @escaping @Sendable (_ url: String) -> Void) async throws {
        // The context has the address of the client, since each client's share of the log is limited.
        let router = Router(context: BasicSignedRequestContext.self)
        let route = ActionLogRoute(to: sink)
        route.add(to: router)
        route.addAnonymousErasure(to: router)
        let connections = OpenConnections()
        let scheme = certificate == nil ? "http" : "https"
        let application = Application(
            router: GuardedRouter(router, rules),
            server: .bounded(tls: try certificate?.serverConfiguration(), cuttingIn: connections),
            configuration: ApplicationConfiguration(address: .hostname(host, port: port)),
            onServerRunning: { channel in
                connections.add(channel)
                let place = host.contains(":") ? "[\(host)]" : host
                onServing("\(scheme)://\(place):\(channel.localAddress?.port ?? port)/log")
            },
            logger: Logger(label: "runway.log", factory: { _ in SwiftLogNoOpLogHandler() }))
        let result: Result<Void, any Error>
        do {
            try await connections.run { try await application.run() }
            result = .success(())
        } catch {
            result = Task.isCancelled ? .success(()) : .failure(error)
        }
        // In a task of its own, since this one is cancelled.
        try? await Task { try await sink.close() }.value
        try result.get()
    }
}
