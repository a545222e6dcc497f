#if PostgreSQL
    import Foundation
    import RunwayServer
    import Testing

    @testable import RunwayPostgreSQL

    /// The sink over a real server, whose URL `Scripts/postgresql.sh` sets.
    struct PostgreSQLSinkTests {
        private static let url = ProcessInfo.processInfo.environment["RUNWAY_POSTGRESQL"] ?? "postgres://localhost/none"
        /// A tenant for each test.
        private let tenant = UUID().uuidString

        private func sink() async throws -> PostgreSQLActionLogSink {
            try await PostgreSQLActionLogSink(at: Self.url, tenant: tenant)
        }

        private func batch(
            _ number: Int64, of installation: UUID, stream: UUID, _ ids: [UUID], account: String? = nil
        ) -> ActionLogBatch {
            ActionLogBatch(
                installation: installation, stream: stream, number: number, account: account,
                records: ids.map { .init(id: $0, name: "opened", json: Array("{\"id\":\"\($0) 值\"}".utf8)) })
        }

        @Test func batchIsStoredOnceAndGapsAreReported() async throws {
            let sink = try await sink()
            let (installation, stream, a, b) = (UUID(), UUID(), UUID(), UUID())
            #expect(try await sink.store(batch(2, of: installation, stream: stream, [a])) == .gap(expected: 1))
            #expect(try await sink.store(batch(1, of: installation, stream: stream, [a])) == .stored(duplicates: []))
            #expect(try await sink.store(batch(1, of: installation, stream: stream, [a])) == .known)
            let other = batch(1, of: installation, stream: UUID(), [a, b])
            #expect(try await sink.store(other) == .stored(duplicates: [a]))
            #expect(try await sink.store(batch(3, of: installation, stream: stream, [b])) == .gap(expected: 2))
            // The number was used for other records.
            let restored = batch(1, of: installation, stream: stream, [a, UUID()])
            #expect(try await sink.store(restored) == .gap(expected: 2))
            let records = try await sink.records()
            #expect(records.map(\.id) == [a, b])
            #expect(records.first?.json == Array("{\"id\":\"\(a) 值\"}".utf8))
            let counts = try await sink.counts()
            #expect(counts.map(\.installation) == [installation] && counts.map(\.name) == ["opened"])
            #expect(counts.map(\.count) == [2])
            await sink.close()
        }

        @Test func bothClocksAreStored() async throws {
            let received = Date(timeIntervalSince1970: 1_790_000_000.25)
            let sink = try await PostgreSQLActionLogSink(at: Self.url, tenant: tenant) { received }
            for sent in [Date(timeIntervalSince1970: 1_700_000_000.5), nil] {
                var batch = batch(1, of: UUID(), stream: UUID(), [UUID()])
                batch.sent = sent
                _ = try await sink.store(batch)
                let records = try await sink.records()
                #expect(records.contains { $0.received == received && $0.sent == sent })
            }
            await sink.close()
        }

        @Test func largeBatchIsStoredInParts() async throws {
            let sink = try await sink()
            let ids = (0..<2500).map { _ in UUID() }
            let stored = try await sink.store(batch(1, of: UUID(), stream: UUID(), ids))
            #expect(stored == .stored(duplicates: []))
            #expect(try await sink.records(limit: 5000).map(\.id) == ids)
        }

        @Test func severalServersStoreARecordOnce() async throws {
            let (tenant, url) = (tenant, Self.url)
            var sinks: [PostgreSQLActionLogSink] = []
            for _ in 0..<3 {
                sinks.append(try await PostgreSQLActionLogSink(at: url, tenant: tenant, connectionCount: 2))
            }
            let clients = (0..<12).map { _ in
                (installation: UUID(), stream: UUID(), ids: (0..<20).map { _ in [UUID(), UUID()] })
            }
            try await withThrowingTaskGroup(of: Void.self) { group in
                // Every server gets every batch of every client, as from retries that overlap.
                for sink in sinks {
                    for client in clients {
                        group.addTask {
                            for (index, ids) in client.ids.enumerated() {
                                let next = batch(
                                    Int64(index + 1), of: client.installation, stream: client.stream, ids)
                                let storage = try await sink.store(next)
                                #expect(storage == .known || storage == .stored(duplicates: []))
                            }
                        }
                    }
                }
                try await group.waitForAll()
            }
            let stored = try await sinks[0].records(limit: 100_000)
            #expect(stored.count == 480 && Set(stored.map(\.id)).count == 480)
            for client in clients {
                let order = stored.filter { $0.installation == client.installation }.map(\.id)
                #expect(order == client.ids.flatMap { $0 })
            }
        }

        /// At an insertion, and at the commit, to which the second trigger is deferred.
        @Test(
            arguments: ["40001", "40P01"],
            [
                "TRIGGER name BEFORE INSERT ON runway_record",
                "CONSTRAINT TRIGGER name AFTER INSERT ON runway_record DEFERRABLE INITIALLY DEFERRED",
            ])
        func injectedConflictIsTriedAgain(_ state: String, _ trigger: String) async throws {
            let sink = try await sink()
            let connection = try PostgreSQLConnection(to: Self.url)
            let name = "fail_\(tenant.replacing("-", with: ""))"
            // A sequence counts also what is rolled back: each of the first four attempts fails.
            for statement in [
                "CREATE SEQUENCE \(name)",
                """
                CREATE FUNCTION \(name)() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
                IF NEW.tenant = '\(tenant)' AND nextval('\(name)') <= 4 THEN
                RAISE EXCEPTION 'injected' USING ERRCODE = '\(state)'; END IF; RETURN NEW; END $$
                """,
                "CREATE \(trigger.replacing("name", with: name)) FOR EACH ROW EXECUTE FUNCTION \(name)()",
            ] { try connection.run(statement) }
            let id = UUID()
            let storage = try await sink.store(batch(1, of: UUID(), stream: UUID(), [id]))
            #expect(storage == .stored(duplicates: []))
            #expect(try connection.run("SELECT last_value FROM \(name)").first?[0] == "5")
            #expect(try await sink.records().map(\.id) == [id])
            for statement in [
                "DROP TRIGGER \(name) ON runway_record", "DROP FUNCTION \(name)", "DROP SEQUENCE \(name)",
            ] {
                try connection.run(statement)
            }
        }

        @Test func lostConnectionFailsABatchThatSucceedsLater() async throws {
            // The name by which this sink's connections are found.
            let name = "lost-\(tenant)"
            let url = Self.url + (Self.url.contains("?") ? "&" : "?") + "application_name=\(name)"
            let sink = try await PostgreSQLActionLogSink(at: url, tenant: tenant, connectionCount: 1)
            let (installation, stream, a, b) = (UUID(), UUID(), UUID(), UUID())
            _ = try await sink.store(batch(1, of: installation, stream: stream, [a]))
            let other = try PostgreSQLConnection(to: Self.url)
            let ended = try other.run(
                "SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity WHERE application_name = $1", [name])
            #expect(ended == [["t"]])
            let second = batch(2, of: installation, stream: stream, [b])
            await #expect(throws: PostgreSQLError.self) { try await sink.store(second) }
            #expect(try await sink.store(second) == .stored(duplicates: []))
            #expect(try await sink.records().map(\.id) == [a, b])
        }

        @Test func erasedRecordsAreNotStoredAgain() async throws {
            let sink = try await sink()
            let (installation, a, b) = (UUID(), UUID(), UUID())
            _ = try await sink.store(batch(1, of: installation, stream: UUID(), [a], account: "ada"))
            _ = try await sink.store(batch(1, of: installation, stream: UUID(), [b], account: "bob"))
            try await sink.erase(account: "ada")
            #expect(try await sink.records().map(\.id) == [b])
            let again = try await sink.store(batch(1, of: installation, stream: UUID(), [a], account: "ada"))
            #expect(again == .stored(duplicates: [a]))
        }

        @Test func erasureOfNobodyConcernsOneInstallation() async throws {
            let sink = try await sink()
            let (installation, stream, a, b, c) = (UUID(), UUID(), UUID(), UUID(), UUID())
            _ = try await sink.store(batch(1, of: installation, stream: stream, [a]))
            _ = try await sink.store(batch(1, of: installation, stream: UUID(), [b], account: "ada"))
            _ = try await sink.store(batch(1, of: UUID(), stream: UUID(), [c]))
            try await sink.erase(anonymousRecordsOf: UUID())
            #expect(try await Set(sink.records().map(\.id)) == [a, b, c])
            try await sink.erase(anonymousRecordsOf: installation)
            #expect(try await Set(sink.records().map(\.id)) == [b, c])
            // The number and the id are known, and the next batch of the stream is stored.
            #expect(try await sink.store(batch(1, of: installation, stream: stream, [a])) == .known)
            let next = batch(2, of: installation, stream: stream, [a, UUID()])
            #expect(try await sink.store(next) == .stored(duplicates: [a]))
            #expect(try await sink.records().count == 3)
            await sink.close()
        }

        @Test(arguments: ["ada", nil] as [String?])
        func eachTransactionErasesAThousandRecords(_ account: String?) async throws {
            let (sink, installation) = (try await self.sink(), UUID())
            for _ in 0..<2 {
                let ids = (0..<1000).map { _ in UUID() }
                _ = try await sink.store(batch(1, of: installation, stream: UUID(), ids, account: account))
            }
            if let account {
                try await sink.erase(account: account)
            } else {
                try await sink.erase(anonymousRecordsOf: installation)
            }
            #expect(try await sink.records().isEmpty)
            // A row names the transaction that wrote it.
            let count = "SELECT count(DISTINCT xmin::text) FROM runway_record WHERE tenant = $1"
            #expect(try PostgreSQLConnection(to: Self.url).run(count, [tenant]) == [["2"]])
            await sink.close()
        }

        @Test func erasureComesAfterWhatWaits() async throws {
            let sink = try await PostgreSQLActionLogSink(at: Self.url, tenant: tenant, connectionCount: 3)
            let batches = (0..<30).map { _ in batch(1, of: UUID(), stream: UUID(), [UUID()], account: "ada") }
            try await withThrowingTaskGroup(of: Void.self) { group in
                for batch in batches { group.addTask { _ = try await sink.store(batch) } }
                try await group.waitForAll()
            }
            try await sink.erase(account: "ada")
            #expect(try await sink.records().isEmpty)
            await sink.close()
            await #expect(throws: CancellationError.self) { try await sink.erase(account: "ada") }
        }

        @Test func unstorableValueFailsOnlyItsBatch() async throws {
            let sink = try await PostgreSQLActionLogSink(at: Self.url, tenant: tenant, connectionCount: 1)
            let stored = try await withThrowingTaskGroup(of: Bool.self) { group in
                for number in 0..<40 {
                    group.addTask {
                        var batch = batch(1, of: UUID(), stream: UUID(), [UUID()])
                        if number == 7 { batch.records[0].name = "a\u{0}b" }
                        do {
                            return try await sink.store(batch) == .stored(duplicates: [])
                        } catch let error as StoreRefusal where error == .rejected {
                            return false
                        }
                    }
                }
                return try await group.reduce(0) { $0 + ($1 ? 1 : 0) }
            }
            #expect(stored == 39)
            await sink.close()
        }

        @Test func waitsHaveBoundsUnlessTheURLNamesThem() throws {
            let limit = "SHOW statement_timeout"
            #expect(try PostgreSQLConnection(to: Self.url).run(limit) == [["1min"]])
            let url = Self.url + (Self.url.contains("?") ? "&" : "?") + "options=-c%20statement_timeout%3D5s"
            let connection = try PostgreSQLConnection(to: url)
            #expect(try connection.run(limit) == [["5s"]])
            try connection.run("SET statement_timeout = 10")
            #expect { try connection.run("SELECT pg_sleep(30)") } throws: {
                ($0 as? PostgreSQLError)?.state == "57014"
            }
            #expect(connection.isOpen)
        }

        @Test(arguments: [("off", "on"), ("local", "local"), ("remote_apply", "remote_apply")])
        func everyCommitWaitsForTheDrive(_ setting: String, _ used: String) throws {
            let option = "options=-c%20synchronous_commit%3D\(setting)"
            let url = Self.url + (Self.url.contains("?") ? "&" : "?") + option
            #expect(try PostgreSQLConnection(to: url).run("SHOW synchronous_commit") == [[used]])
        }

        @Test func unreachableServerIsReportedWithoutItsPassword() async throws {
            do {
                _ = try await PostgreSQLActionLogSink(at: "postgres://ada:secret@127.0.0.1:1/none")
                Issue.record("It is reached.")
            } catch {
                #expect("\(error)" == "The PostgreSQL server can't be reached, or refuses the user.")
            }
        }
    }
#endif
