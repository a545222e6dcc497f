import ArgumentParser
import Foundation
import Hummingbird
import Logging
import NIOCore
import RunwayServer
import RunwayServerStorage
import Synchronization

#if PostgreSQL
    import RunwayPostgreSQL
#endif

/// Receives action logs until it is killed, and prints its port.
struct ServerProcess: AsyncParsableCommand {
    static let configuration = CommandConfiguration(commandName: "server", shouldDisplay: false)

    @Option var file: String
    @Option var port = 0
    @Option var bug: PlantedBug?
    @Option var database: String?

    func run() async throws {
        let router = Router()
        let sink = try await sink()
        if bug == .changedNumber {
            ActionLogRoute(to: RenumberingSink(base: sink)).add(to: router)
        } else {
            ActionLogRoute(to: ServerSink(base: sink)).add(to: router)
        }
        let application = Application(
            router: router, configuration: ApplicationConfiguration(address: .hostname("127.0.0.1", port: port)),
            onServerRunning: { channel in
                FileHandle.standardOutput.write(Data("\(channel.localAddress?.port ?? 0)\n".utf8))
            },
            logger: Logger(label: "crash-test", factory: { _ in SwiftLogNoOpLogHandler() }))
        try await application.run()
    }

    private func sink() async throws -> any ActionLogSink {
        guard let database else { return try SQLiteActionLogSink(at: URL(fileURLWithPath: file)) }
        #if PostgreSQL
            return try await PostgreSQLActionLogSink(at: database)
        #else
            throw CrashFailure("this program was built without PostgreSQL, so that it can't use \(database)")
        #endif
    }
}

/// Any sink.
private struct ServerSink: ActionLogSink {
    let base: any ActionLogSink

    func store(_ batch: ActionLogBatch) async throws -> ActionLogStorage { try await base.store(batch) }
}

/// Loses some responses, and gives a batch another number when it comes again.
private final class RenumberingSink: ActionLogSink {
    private struct Failure: Error {}
    private struct Batch: Hashable {
        let stream: UUID
        let number: Int64
    }

    private let base: any ActionLogSink
    /// Guards the batches whose response was lost.
    private let lost = Mutex(Set<Batch>())

    init(base: any ActionLogSink) { self.base = base }

    func store(_ batch: ActionLogBatch) async throws -> ActionLogStorage {
        let key = Batch(stream: batch.stream, number: batch.number)
        var batch = batch
        if lost.withLock({ $0.remove(key) }) != nil { batch.number += 1 }
        let storage = try await base.store(batch)
        guard batch.number % 5 == 0, case .stored = storage else { return storage }
        lost.withLock { _ = $0.insert(key) }
        throw Failure()
    }
}
