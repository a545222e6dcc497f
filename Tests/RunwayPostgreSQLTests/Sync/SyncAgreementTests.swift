#if PostgreSQL
    import Foundation
    import RunwayServer
    import RunwaySyncCore
    import RunwaySyncSimulator
    import Testing

    @testable import RunwayPostgreSQL

    /// The server of a run, with its tables in PostgreSQL. A backup is a copy under another tenant.
    private final class DatabaseTwin: SpaceTwin {
        private static let columns = [
            "space": "space, history, total", "device": "space, device, subject, record",
            "verdict": "space, id, verdict",
            "row": "space, name, id, life, body", "log": "space, number, time, total, entry",
            "waiting": "space, name, id, operations",
        ]

        private let tenant = UUID().uuidString
        private let space = Identifier(high: 7, low: 7)
        private let lane: PostgreSQLLane

        init(_ lane: PostgreSQLLane) { self.lane = lane }

        func transaction<Value>(_ body: (inout any SpaceTables) throws -> Value) throws -> Value {
            nonisolated(unsafe) var value: Value?
            try withoutActuallyEscaping(body) { body in
                nonisolated(unsafe) let body = body
                try run { tables in
                    var inner: any SpaceTables = tables
                    value = try body(&inner)
                }
            }
            return try #require(value)
        }

        func removeEntries(through number: Int64) throws { try run { try $0.removeEntries(through: number) } }

        private func run(_ body: @escaping @Sendable (inout any SyncTables) throws -> Void) throws {
            let outcomes = try lane.transaction { connection throws(PostgreSQLError) in
                // A run has thousands of transactions, and none has to survive a power loss.
                try connection.run("SET LOCAL synchronous_commit = off")
                return try PostgreSQLSyncTables.begin(.writing, tenant, space, hook: nil, on: connection)?.run([
                    {
                        try body(&$0)
                        return true
                    }
                ])
            }
            _ = try #require(outcomes?.first).get()
        }

        func backUp() throws { try copy(from: tenant, to: "backup of " + tenant) }
        func restore() throws { try copy(from: "backup of " + tenant, to: tenant) }

        private func copy(from source: String, to destination: String) throws {
            try lane.transaction { connection throws(PostgreSQLError) in
                for (table, columns) in Self.columns {
                    try connection.run("DELETE FROM runway_sync_\(table) WHERE tenant = $1", [destination])
                    try connection.run(
                        """
                        INSERT INTO runway_sync_\(table) (tenant, \(columns))
                        SELECT $1, \(columns) FROM runway_sync_\(table) WHERE tenant = $2
                        """, [destination, source])
                }
            }
        }
    }

    /// The database has to respond as the store in memory does, in runs with all faults.
    @Suite(.timeLimit(.minutes(10)))
    struct SyncAgreementTests {
        @Test func theDatabaseAgreesWithTheStoreInMemory() async throws {
            let url = ProcessInfo.processInfo.environment["RUNWAY_POSTGRESQL"] ?? "postgres://localhost/none"
            _ = try await SyncStore.postgreSQL(at: url)
            let count = ProcessInfo.processInfo.environment["SEEDS"].flatMap { UInt64($0) } ?? 40
            let lane = PostgreSQLLane(url)
            for seed in 1...count {
                let events = SimulatedEvent.list(seed: seed, count: 60, devices: 3)
                let outcome = try Simulation.run(seed: seed, events, twin: DatabaseTwin(lane))
                #expect(outcome.failure == nil, "seed \(seed)")
            }
        }
    }
#endif
