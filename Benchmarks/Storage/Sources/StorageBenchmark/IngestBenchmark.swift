import Foundation
import RunwayServer
import RunwayServerStorage
import Synchronization

#if PostgreSQL
    import RunwayPostgreSQL
#endif

/// Measures how many records a second the sinks of servers take, in batches of thirty from several clients at once.
enum IngestBenchmark {
    static func run(in folder: URL) async throws {
        for clients in [1, 8, 64] {
            let sink = try SQLiteActionLogSink(at: folder.appending(path: "sqlite-\(clients)/actions.sqlite"))
            try await measure("SQLite", clients, sink)
            try await sink.close()
        }
        #if PostgreSQL
            let url = ProcessInfo.processInfo.environment["RUNWAY_POSTGRESQL"] ?? ""
            for clients in [1, 8, 64] {
                let sink = try await PostgreSQLActionLogSink(at: url, tenant: UUID().uuidString)
                try await measure("PostgreSQL", clients, sink)
                await sink.close()
            }
        #endif
    }

    private static func measure(_ name: String, _ clients: Int, _ sink: some ActionLogSink) async throws {
        let json = Array(
            "{\"id\":\"x\",\"name\":\"opened\",\"properties\":{\"text\":\"\(String(repeating: "x", count: 150))\"}}"
                .utf8)
        let (count, start) = (Counted(), ContinuousClock.now)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<clients {
                group.addTask {
                    let (installation, stream) = (UUID(), UUID())
                    var number: Int64 = 0
                    while ContinuousClock.now - start < .seconds(5) {
                        number += 1
                        let records = (0..<30).map { _ in
                            ActionLogBatch.Record(id: UUID(), name: "opened", json: json)
                        }
                        let storage = try await sink.store(
                            ActionLogBatch(
                                installation: installation, stream: stream, number: number, account: nil,
                                records: records))
                        precondition(storage == .stored(duplicates: []), "the batch is stored")
                        count.value.wrappingAdd(30, ordering: .relaxed)
                    }
                }
            }
            try await group.waitForAll()
        }
        let seconds = (ContinuousClock.now - start) / .seconds(1)
        let records = Double(count.value.load(ordering: .relaxed)) / seconds
        print("\(name), \(clients) clients: \(Int(records)) records a second in \(Int(records / 30)) batches")
    }

    private final class Counted: Sendable {
        let value = Atomic(0)
    }
}
