import Foundation
import Hummingbird
import HummingbirdCore
import NIOCore
import Runway
import RunwayDemo
import RunwayServer
import ServiceLifecycle

extension ServeCommand {
    /// Serves spaces that devices synchronise, and stores them at `place`.
    func synchronise(at place: SyncPlace) async throws {
        let opened = try await place.open()
        let result: Result<Void, any Error>
        do {
            result = .success(try await synchronise(opened))
        } catch {
            result = .failure(Task.isCancelled || error is CommandFailure ? error : failure(to: error))
        }
        // `close` stores the waiting changes. It runs in another task, since this one may be cancelled.
        try? await Task { try await opened.close() }.value
        try result.get()
    }

    private func synchronise(_ opened: SyncPlace.Opened) async throws {
        var options = EventHubOptions()
        // All devices come from this machine.
        options.maximumConnectionsPerSource = 1_000
        let hub = try await EventHub(name: "sync", log: opened.events, options: options)
        let service = SyncService(store: opened.store, hub: hub) { _, _, _ in true }
        let router = Router(context: BasicSignedRequestContext.self)
        SyncRouter(service) { request, _ in
            // The server knows no accounts: a token is the name of its account.
            let token = request.headers[.authorization]?.split(separator: " ").last
            return token.map(String.init) ?? "anyone"
        }.add(to: router)
        EventStreamRoute(hub) { _, _ in EventPermission() }.add(to: router)
        let certificate = plain ? nil : try DemoCertificate()
        let authorityFile = try certificate.map { try write(authority: $0.authorityPEM) }
        try await BoundedServer(GuardedRouter(router, rules), port: port ?? 0, certificate: certificate).run { url, _ in
            var text = ConsoleText("Spaces are synchronised at ", for: .output)
            text.append("\(url)/sync", .bold)
            text.append("\nEvents: \(url)/events")
            if let authorityFile { text.append("\nCertificate authority: \(authorityFile)") }
            text.append("\nCtrl-C stops it.\n")
            // The server continues if standard output is closed or the disk is full.
            try? Console.output.write(text)
        }
    }
}
