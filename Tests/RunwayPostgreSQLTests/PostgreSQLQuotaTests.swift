#if PostgreSQL
    import Foundation
    import RunwayServer
    import Testing

    @testable import RunwayPostgreSQL

    /// How much the sink over a real server stores of whom.
    struct PostgreSQLQuotaTests {
        private static let url = ProcessInfo.processInfo.environment["RUNWAY_POSTGRESQL"] ?? "postgres://localhost/none"
        /// A tenant for each test.
        private let tenant = UUID().uuidString

        private func sink(
            _ byteCount: Int = 1 << 40, installation: Int = 1 << 40, share: Double = 1
        ) async throws -> PostgreSQLActionLogSink {
            var quotas = ActionLogQuotas()
            quotas.maximumByteCount = byteCount
            quotas.maximumInstallationByteCount = installation
            quotas.shareOfSource = share
            return try await PostgreSQLActionLogSink(at: Self.url, tenant: tenant, quotas: quotas)
        }

        /// A batch with one record, which counts 1,000 bytes if it is the first one of its stream.
        private func batch(
            _ number: Int64 = 1, of installation: UUID = UUID(), stream: UUID = UUID(), account: String? = nil,
            from source: String? = nil
        ) -> ActionLogBatch {
            let byteCount = 1000 - 2 * ActionLogBatch.rowByteCount - (account?.utf8.count ?? 0) - 1
            return ActionLogBatch(
                installation: installation, stream: stream, number: number, account: account,
                records: [.init(id: UUID(), name: "a", json: [UInt8](repeating: 65, count: byteCount))], source: source)
        }

        private func quota(
            _ sink: PostgreSQLActionLogSink, _ batch: ActionLogBatch
        ) async throws -> StoreRefusal.Kind? {
            do {
                _ = try await sink.store(batch)
                return nil
            } catch let error as StoreRefusal {
                return error.kind
            }
        }

        private func rows(_ statement: String) throws -> [[String?]] {
            try PostgreSQLConnection(to: Self.url).run("\(statement) WHERE tenant = $1", [tenant])
        }

        @Test func anInstallationHasABoundAcrossServers() async throws {
            let installation = UUID()
            for expected in [nil, nil, .installation] as [StoreRefusal.Kind?] {
                let sink = try await sink(installation: 2500)
                #expect(try await quota(sink, batch(of: installation)) == expected)
                #expect(try await quota(sink, batch()) == nil)
                await sink.close()
            }
            #expect(try rows("SELECT max(bytes) FROM runway_usage") == [["2000"]])
        }

        @Test func sourceAndLogHaveBounds() async throws {
            let sink = try await sink(100_000, share: 0.1)
            for _ in 0..<10 { #expect(try await quota(sink, batch(from: "a")) == nil) }
            #expect(try await quota(sink, batch(from: "a")) == .source)
            #expect(try await quota(sink, batch(from: "b")) == nil)
            await sink.close()
            // Another server reads what there is.
            let other = try await self.sink(11_500)
            #expect(try await quota(other, batch()) == .full)
            await other.close()
        }

        @Test(arguments: ["ada", nil] as [String?]) func idsOfErasedRecordsCount(_ account: String?) async throws {
            let (sink, installation) = (try await sink(), UUID())
            for _ in 0..<3 { _ = try await sink.store(batch(of: installation, account: account)) }
            for _ in 0..<2 {
                if let account {
                    try await sink.erase(account: account)
                } else {
                    try await sink.erase(anonymousRecordsOf: installation)
                }
                #expect(try rows("SELECT bytes FROM runway_usage") == [["1536"]])
            }
            await sink.close()
        }

        @Test func recordsOfAnEarlierVersionCount() async throws {
            // Other tests use the table meanwhile.
            let schema = "runway_" + UUID().uuidString.replacing("-", with: "").lowercased()
            let separator = Self.url.contains("?") ? "&" : "?"
            let url = "\(Self.url)\(separator)options=-csearch_path%3D\(schema)"
            let connection = try PostgreSQLConnection(to: url)
            try connection.run("CREATE SCHEMA \(schema)")
            let installation = UUID()
            for round in 0..<2 {
                let sink = try await PostgreSQLActionLogSink(at: url, tenant: tenant)
                if round == 0 {
                    for _ in 0..<3 { _ = try await sink.store(batch(of: installation, account: "ada")) }
                    try connection.run("DROP TABLE runway_usage")
                }
                await sink.close()
            }
            #expect(try connection.run("SELECT bytes FROM runway_usage") == [["3000"]])
            try connection.run("DROP SCHEMA \(schema) CASCADE")
        }

        @Test func storedRecordsOfNewStreamNeedNoRoom() async throws {
            let (sink, installation) = (try await sink(installation: 1500), UUID())
            var repeated = batch(of: installation)
            #expect(try await sink.store(repeated) == .stored(duplicates: []))
            repeated.stream = UUID()
            #expect(try await sink.store(repeated) == .stored(duplicates: Set(repeated.records.map(\.id))))
            #expect(try await quota(sink, batch(of: installation)) == .installation)
            await sink.close()
        }

        @Test func whatIsNotStoredLeavesNoRow() async throws {
            let sink = try await sink(500)
            #expect(try await sink.store(batch(2)) == .gap(expected: 1))
            #expect(try await quota(sink, batch()) == .full)
            for table in ["runway_stream", "runway_usage", "runway_record"] {
                #expect(try rows("SELECT count(*) FROM \(table)") == [["0"]])
            }
            await sink.close()
        }

        @Test func eachRecordOfOverlappingServersCountsOnce() async throws {
            let sinks = [try await sink(), try await sink()]
            let (installation, stream) = (UUID(), UUID())
            let batches = (1...20).map { batch($0, of: installation, stream: stream) }
            try await withThrowingTaskGroup(of: Void.self) { group in
                for sink in sinks {
                    group.addTask { for batch in batches { _ = try await sink.store(batch) } }
                }
                try await group.waitForAll()
            }
            #expect(try rows("SELECT bytes FROM runway_usage") == [["\(20 * (1000 - 256) + 256)"]])
            for sink in sinks { await sink.close() }
        }
    }
#endif
