#if PostgreSQL
    import Foundation
    @testable import RunwayPostgreSQL
    @testable import RunwayServer
    @testable import RunwaySyncCore
    import Synchronization

    /// Measures how many operations a second devices push into one space in PostgreSQL, beside a store with a statement
    /// for each row and a transaction for each packet.
    enum SyncBenchmark {
        static func run(in folder: URL) async throws {
            let url = ProcessInfo.processInfo.environment["RUNWAY_POSTGRESQL"] ?? ""
            for (count, devices) in [(500, 1), (500, 8), (1, 1), (1, 16), (1, 64), (1, 256)] {
                let store = try await PostgreSQLSyncStore(at: url, tenant: UUID().uuidString)
                let naive = RowByRowStore(at: url, tenant: UUID().uuidString)
                let reached = try await measure(store, count, devices)
                let control = try await measure(naive, count, devices)
                let name = "packets of \(count), \(devices) devices"
                print("\(name): \(Int(reached)) operations a second, row by row \(Int(control))")
                if devices == 8 || devices == 256 {
                    Targets.expect(name, 1_000 / reached, atMost: 0.2, "ms an operation")
                }
            }
        }

        private static func measure(_ store: some SyncStore, _ count: Int, _ devices: Int) async throws -> Double {
            let service = SyncService(store: store) { _, _, _ in true }
            let (space, start) = (Identifier(UUID()), ContinuousClock.now)
            let pushed = try await withThrowingTaskGroup(of: Int.self) { group in
                for _ in 0..<devices {
                    group.addTask {
                        var (device, pushed) = (BenchmarkDevice(), 0)
                        while ContinuousClock.now - start < .seconds(5) {
                            let request = SyncRequest.push(device.packet(count))
                            let response = try await service.respond(
                                to: request, in: space, as: "ada", byteCount: 300 * count)
                            guard case .verdicts = response else { preconditionFailure("\(response)") }
                            pushed += count
                        }
                        return pushed
                    }
                }
                return try await group.reduce(0, +)
            }
            return Double(pushed) / ((ContinuousClock.now - start) / .seconds(1))
        }
    }

    /// A device that changes its 1,000 rows in turn.
    private struct BenchmarkDevice {
        private let id = Identifier(UUID())
        private var end = ChainEnd()
        private var place = 0

        mutating func packet(_ count: Int) -> Packet {
            let operations = (0..<count).map { _ in
                place += 1
                let key = RowKey("note", Identifier(high: id.high, low: UInt64(place % 1_000)))
                let values: Columns<SyncValue> = [
                    "title": .text("Note \(place)"), "text": .text("The text of a note, which has some length."),
                    "done": .integer(0),
                ]
                return Operation(id: Identifier(UUID()), action: .insert(key, life: 1, values))
            }
            let transaction = Transaction(
                number: end.number + 1, previous: end.operation, time: HybridTime(milliseconds: 1_790_000_000_000),
                basis: Basis(epoch: Identifier(high: 0, low: 0), number: 0), operations: operations)
            end = transaction.end
            return Packet(device: id, transactions: [transaction])
        }
    }

    /// A store as one would write it first. It stores what the benchmark pushes, and nothing else.
    private final class RowByRowStore: SyncDatabase {
        private let tenant: String
        private let pool: PostgreSQLPool

        init(at url: String, tenant: String) {
            (self.tenant, pool) = (tenant, PostgreSQLPool(url, connectionCount: 4))
        }

        func transaction<Value: Sendable>(
            _ access: SyncTransactionAccess, in space: Identifier, byteCount: Int,
            _ body: @escaping @Sendable (inout any SyncTables) throws -> Value
        ) async throws -> Value? {
            try await pool.transaction(for: "\(UInt32.random(in: 0...UInt32.max))") {
                [tenant] connection throws(PostgreSQLError) in
                do {
                    var tables: any SyncTables = try RowByRowTables(connection, [tenant, "\(space)"])
                    return try body(&tables)
                } catch let error as PostgreSQLError { throw error } catch { preconditionFailure("\(error)") }
            }
        }

        func spaces(after space: Identifier?, limit: Int) async throws -> [Identifier] { [] }
    }

    private struct RowByRowTables: SyncTables {
        let connection: PostgreSQLConnection
        let key: [String]
        private(set) var history: History

        init(_ connection: PostgreSQLConnection, _ key: [String]) throws {
            (self.connection, self.key) = (connection, key)
            let epoch = History(epoch: Identifier(UUID())).encoded().bytea
            try connection.run(
                "INSERT INTO runway_sync_space VALUES ($1, $2, $3, 0) ON CONFLICT DO NOTHING", key + [epoch])
            history =
                try connection.run(SyncStatements.lockedSpace, key)[0].decoded(0) ?? History(epoch: Identifier(UUID()))
        }

        var now: Int64 { Int64(Date().timeIntervalSince1970 * 1_000) }

        func content(for needs: SpaceNeeds) throws -> SpaceContent {
            var content = SpaceContent()
            for id in needs.devices {
                content.devices[id] = try connection.run(
                    "SELECT record FROM runway_sync_device WHERE tenant = $1 AND space = $2 AND device = $3",
                    key + ["\(id)"]
                ).first?.decoded(0)
            }
            for id in needs.transactions {
                content.verdicts[id] = try connection.run(
                    "SELECT verdict FROM runway_sync_verdict WHERE tenant = $1 AND space = $2 AND id = $3",
                    key + ["\(id)"]
                ).first?.decoded(0)
            }
            for row in needs.rows {
                content.rows[row] = try connection.run(
                    "SELECT body FROM runway_sync_row WHERE tenant = $1 AND space = $2 AND name = $3 AND id = $4",
                    key + [Array(row.table.utf8).bytea, "\(row.id)"]
                ).first?.decoded(0)
            }
            return content
        }

        mutating func save(_ changes: SpaceContent) throws {
            for (id, record) in changes.devices {
                try connection.run(
                    """
                    INSERT INTO runway_sync_device VALUES ($1, $2, $3, NULL, $4)
                    ON CONFLICT (tenant, space, device) DO UPDATE SET record = excluded.record
                    """, key + ["\(id)", record.encoded().bytea])
            }
            for (id, verdict) in changes.verdicts {
                try connection.run(
                    "INSERT INTO runway_sync_verdict VALUES ($1, $2, $3, $4)",
                    key + ["\(id)", verdict.encoded().bytea])
            }
            for (row, body) in changes.rows {
                try connection.run(
                    """
                    INSERT INTO runway_sync_row VALUES ($1, $2, $3, $4, $5, $6)
                    ON CONFLICT (tenant, space, name, id) DO UPDATE SET life = excluded.life, body = excluded.body
                    """,
                    key + [Array(row.table.utf8).bytea, "\(row.id)", "\(body.life)", body.encoded().bytea])
            }
            for entry in changes.entries {
                try connection.run(
                    "INSERT INTO runway_sync_log VALUES ($1, $2, $3, $4, 0, $5)",
                    key + ["\(entry.number)", "\(now)", entry.encoded().bytea])
            }
            guard let history = changes.history else { return }
            self.history = history
            try connection.run(SyncStatements.saveSpace, key + [history.encoded().bytea, "0"])
        }

        func subject(of device: Identifier) throws -> String? {
            try connection.run(
                "SELECT subject FROM runway_sync_device WHERE tenant = $1 AND space = $2 AND device = $3",
                key + ["\(device)"]
            ).first?[0].flatMap { [UInt8](bytea: $0) }.map { String(decoding: $0, as: UTF8.self) }
        }

        func setSubject(_ subject: String, of device: Identifier) throws {
            try connection.run(
                "UPDATE runway_sync_device SET subject = $4 WHERE tenant = $1 AND space = $2 AND device = $3",
                key + ["\(device)", Array(subject.utf8).bytea])
        }

        func devices(after device: Identifier?, limit: Int) -> [Identifier] { [] }
        func mark(of number: Int64) -> LogMark? { nil }
        func removeEntries(through number: Int64) {}
        func notifyHook(of commit: SyncCommit) {}
    }

    extension [String?] {
        fileprivate func decoded<Value: WireCodable>(_ column: Int) throws -> Value? {
            try self[column].flatMap { [UInt8](bytea: $0) }.map { try Value(encoded: $0) }
        }
    }
#endif
