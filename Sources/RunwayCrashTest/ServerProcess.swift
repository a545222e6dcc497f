import ArgumentParser
import Foundation
import Hummingbird
import RunwayJSON
import RunwayServer
import RunwayServerStorage

#if PostgreSQL
    import RunwayPostgreSQL
#endif

/// A server for action logs and changes that prints its port, and runs until it is killed.
struct ServerProcess: AsyncParsableCommand {
    static let configuration = CommandConfiguration(commandName: "server", shouldDisplay: false)

    @Option var file: String
    @Option var port = 0
    @Option var bug: PlantedBug?
    @Option var database: String?
    @Flag var takesChanges = false

    func run() async throws {
        let router = Router()
        let files = ServerFiles(actions: URL(fileURLWithPath: file))
        var sink = try await sink(files)
        if bug == .changedNumber { sink = TrustingSink(base: sink) }
        ActionLogRoute(to: ServerSink(base: sink, foreign: try AppendedFile(files.foreign))).add(to: router)
        if takesChanges { try await addChanges(to: router, files) }
        try await router.serve(at: port) { say("\($0)") }
    }

    private func sink(_ files: ServerFiles) async throws -> any ActionLogSink {
        guard let database else { return try SQLiteActionLogSink(at: files.actions) }
        #if PostgreSQL
            return try await PostgreSQLActionLogSink(at: database)
        #else
            throw CrashFailure("this program was built without PostgreSQL, so that it can't use \(database)")
        #endif
    }

    /// Returns the store for idempotency keys. Servers that share a database share the keys, too.
    private func keys(_ files: ServerFiles) async throws -> any IdempotencyStore {
        guard let database else { return try SQLiteIdempotencyStore(at: files.keys, shareOfPrincipal: 1) }
        #if PostgreSQL
            return try await PostgreSQLIdempotencyStore(
                at: database, maximumCountByPrincipal: .max, maximumByteCountByPrincipal: .max)
        #else
            throw CrashFailure("this program was built without PostgreSQL, so that it can't use \(database)")
        #endif
    }

    private func addChanges(to router: Router<BasicRequestContext>, _ files: ServerFiles) async throws {
        let ledger = try Ledger(files.ledger)
        var rules = IdempotencyRules()
        rules.requiresKey = { _ in true }
        // If a server is killed during a request, another server executes the request again when this lease has ended.
        rules.lease = .seconds(1)
        let stored = try await keys(files)
        let store: any IdempotencyStore = bug == .forgottenKeys ? ForgetfulStore(base: stored) : stored
        router.group()
            .add(middleware: GatewayMiddleware())
            .add(middleware: CompletionMiddleware(ledger: ledger))
            .add(
                middleware: IdempotencyMiddleware(rules, store: store) { request, _ in
                    Ledger.account(of: request.headers) ?? "nobody"
                }
            )
            .post("changes") { request, context in try await ledger.execute(request, context) }
    }
}

/// Wraps a sink, and checks that records arrive under the account that recorded them.
private struct ServerSink: ActionLogSink {
    let base: any ActionLogSink
    let foreign: AppendedFile

    func store(_ batch: ActionLogBatch) async throws -> ActionLogStorage {
        for record in batch.records {
            let account = try JSONDocument(record.json).root["properties"]["account"].string
            if account != batch.account {
                try foreign.append(
                    line: "\(record.name): a record of \(account ?? "nobody") was sent as \(batch.account ?? "nobody")."
                )
            }
        }
        return try await base.store(batch)
    }
}
