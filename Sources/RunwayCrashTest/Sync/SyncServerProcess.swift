import ArgumentParser
import Foundation
import Hummingbird
import RunwayServer

#if PostgreSQL
    import RunwayPostgreSQL
#endif

/// A server of spaces that prints its port, and runs until it is killed. Several of these processes share a database.
struct SyncServerProcess: AsyncParsableCommand {
    static let configuration = CommandConfiguration(commandName: "sync-server", shouldDisplay: false)

    @Option var port = 0
    @Option var database: String
    /// The name under which this test run stores its data.
    @Option var tenant: String
    @Option var bug: SyncBug?

    func run() async throws {
        #if PostgreSQL
            let log = try await PostgreSQLEventLog(at: database, name: "sync", tenant: tenant)
            let hub = try await EventHub(name: "sync", log: log)
            let service: SyncService
            switch bug {
            case .forgottenSpaces: service = SyncService(store: .memory(), hub: hub) { _, _, _ in true }
            case nil:
                let store = try await SyncStore.postgreSQL(at: database, tenant: tenant)
                service = SyncService(store: store, hub: hub) { _, _, _ in true }
            }
            let router = Router()
            SyncRouter(service) { _, _ in "ada" }.add(to: router)
            try await router.serve(at: port) { say("\($0)") }
        #else
            throw CrashFailure("this program was built without PostgreSQL, so that it can't use \(database)")
        #endif
    }
}

/// A bug that the test adds to the servers, to prove that its check finds the bug.
enum SyncBug: String, CaseIterable, ExpressibleByArgument {
    /// Spaces are stored only in the memory of each process.
    case forgottenSpaces
}
