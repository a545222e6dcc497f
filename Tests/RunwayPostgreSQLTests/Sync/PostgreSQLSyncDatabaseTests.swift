#if PostgreSQL
    import Foundation
    import RunwaySyncCore
    import Synchronization
    import Testing

    @testable import RunwayPostgreSQL
    @testable import RunwayServer

    /// Spaces over a real server, whose URL `Scripts/postgresql.sh` sets.
    @Suite(.timeLimit(.minutes(5)))
    struct PostgreSQLSyncDatabaseTests {
        private static let url = ProcessInfo.processInfo.environment["RUNWAY_POSTGRESQL"] ?? "postgres://localhost/none"
        /// A tenant for each test.
        private let tenant = UUID().uuidString
        private let space = Identifier(UUID())

        private func store(hook: SyncStore.PostgreSQLHook? = nil) async throws -> SyncStore {
            try await SyncStore.postgreSQL(at: Self.url, tenant: tenant, hook: hook)
        }

        private func service(
            hub: EventHub? = nil, hook: SyncStore.PostgreSQLHook? = nil
        ) async throws -> SyncService {
            SyncService(store: try await store(hook: hook), hub: hub) { _, _, _ in true }
        }

        private func verdicts(_ response: SyncResponse) throws -> [Verdict] {
            guard case .verdicts(let verdicts, _) = response else { throw Unexpected(response: response) }
            return verdicts
        }

        private struct Unexpected: Error {
            let response: SyncResponse
        }

        private func push(
            _ packet: Packet, to service: SyncService, in other: Identifier? = nil, as subject: String = "ada"
        ) async throws -> [Verdict] {
            try verdicts(
                try await service.respond(to: .push(packet), in: other ?? space, as: subject, byteCount: 1_000))
        }

        /// Reads all rows by a snapshot.
        private func rows(_ service: SyncService) async throws -> [RowKey: Row] {
            var (rows, after, start) = ([RowKey: Row](), RowKey?.none, Cursor?.none)
            while true {
                let request = SnapshotRequest(
                    device: Identifier(UUID()), start: start, after: after, pending: [])
                let response = try await service.respond(to: .snapshot(request), in: space, as: "eve", byteCount: 0)
                guard case .snapshot(let page) = response else { throw Unexpected(response: response) }
                for row in page.rows { rows[row.key] = row.row }
                if page.isLast { return rows }
                (after, start) = (page.rows.last?.key, page.start)
            }
        }

        /// Reads the log.
        private func entries(_ service: SyncService) async throws -> [LogEntry] {
            var (entries, cursor) = ([LogEntry](), Cursor.none)
            while true {
                let request = PullRequest(device: Identifier(UUID()), cursor: cursor, offset: 0)
                let response = try await service.respond(to: .pull(request), in: space, as: "eve", byteCount: 0)
                guard case .page(let page) = response else { throw Unexpected(response: response) }
                entries += page.parts.map(\.entry)
                guard let last = entries.last, last.number < page.head else { return entries }
                cursor = Cursor(epoch: page.epoch, number: last.number, tag: last.tag)
            }
        }

        @Test func rowsWithWaitingUpdatesAreCountedBySubject() async throws {
            let store = try await store()
            let keys = (1...3).map { RowKey("note", Identifier(high: 0, low: $0)) }
            let waiting = keys.map { key in
                WaitingOperation(
                    operation: RunwaySyncCore.Operation(id: key.id, action: .update(key, life: 1, ["a": .null])),
                    sender: Sender(device: key.id, subject: key == keys[2] ? "bob" : "ada"), time: .zero,
                    basis: Basis(epoch: Identifier(high: 0, low: 0), number: 0))
            }
            func counts(after waiting: [RowKey: [WaitingOperation]]) async throws -> [Int]? {
                try await store.database.transaction(.writing, in: space, byteCount: 0) { tables in
                    var changes = SpaceContent()
                    changes.waiting = waiting
                    try tables.save(changes)
                    return try [("ada", 1), ("ada", 10), ("bob", 10)].map {
                        try tables.waitingRowCount(of: $0, upTo: $1)
                    }
                }
            }
            let all = Dictionary(uniqueKeysWithValues: zip(keys, waiting.map { [$0] }))
            #expect(try await counts(after: all) == [1, 2, 1])
            #expect(try await counts(after: [keys[0]: [], keys[2]: []]) == [1, 1, 0])
        }

        @Test func devicesOfTwoServersLoseNothing() async throws {
            let services = [try await service(), try await service()]
            let shared = RowKey("counter", Identifier(high: 1, low: 1))
            let sent = try await withThrowingTaskGroup(of: [Identifier].self) { group in
                for index in 0..<12 {
                    group.addTask {
                        var (device, ids) = (PushingDevice(), [Identifier]())
                        let own = RowKey("own", device.id)
                        for count in 0..<20 {
                            let packet = device.packet([
                                [
                                    .insert(own, life: 1, ["n": .integer(Int64(count))]),
                                    .insert(shared, life: 1, ["d\(index)": .integer(Int64(count))]),
                                ]
                            ])
                            // Each packet is sent to both servers, as if the response of one were lost.
                            async let first = push(packet, to: services[count % 2])
                            async let second = push(packet, to: services[(count + 1) % 2])
                            let responses = try await (first, second)
                            #expect(responses.0 == responses.1)
                            ids += packet.transactions.map(\.id)
                        }
                        return ids
                    }
                }
                return try await group.reduce(into: []) { $0 += $1 }
            }
            let entries = try await entries(services[0])
            #expect(entries.map(\.number) == Array(1...240))
            #expect(Set(entries.map(\.transaction)) == Set(sent))
            let rows = try await rows(services[1])
            #expect(rows.count == 13)
            #expect(rows[shared]?.values == Columns((0..<12).map { ("d\($0)", .integer(19)) }))
            // The rows are those that the log makes.
            var replayed: [RowKey: Row] = [:]
            for entry in entries {
                for change in entry.changes {
                    replayed[change.key, default: .absent].apply(change, number: entry.number)
                }
            }
            #expect(replayed == rows)
        }

        @Test func everyValueOfSQLiteIsStored() async throws {
            let (service, key) = (try await service(), RowKey("té", Identifier(high: .max, low: .max)))
            let values: Columns<SyncValue> = [
                "nul": .text("a\u{0}b"), "largest": .integer(.max), "least": .integer(.min),
                "past 2^53": .integer(1 << 53 + 1), "infinity": .real(.infinity), "negative": .real(-.infinity),
                "whole": .real(1e300), "small": .real(.leastNonzeroMagnitude), "zero": .real(-0.0),
                "bytes": .bytes([0, 255, 92, 0]),
                "none": .bytes([]), "empty": .text(""), "text": .text("\\x00 ' \" \u{10FFFF} 值 \u{FFFD}"),
                "null": .null,
                "large": .bytes([UInt8](repeating: 7, count: 1 << 18)),
            ]
            var device = PushingDevice()
            let packet = device.packet([[.insert(key, life: 1, values)], [.delete(RowKey("té 2", key.id), life: 2)]])
            #expect(try await push(packet, to: service, as: "a\u{0}da") == [.applied(1), .applied(2)])
            let row = try #require(try await rows(service)[key])
            #expect(row.values == values)
            let zero = row.values?["zero"]
            if case .real(let number)? = zero { #expect(number.sign == .minus) }
            // The subject is read again.
            #expect(try await service.respond(to: .push(packet), in: space, as: "ada", byteCount: 0) == .deviceTaken)
        }

        @Test func hooksCommitWithTheirTransactionOnly() async throws {
            let (table, lane) = ("hook_" + UUID().uuidString.filter(\.isLetter), PostgreSQLLane(Self.url))
            _ = try lane.transaction { connection throws(PostgreSQLError) in
                try connection.run("CREATE TABLE \(table) (number bigint PRIMARY KEY, subject text)")
            }
            let service = try await service { commit, transaction in
                try transaction.run("INSERT INTO \(table) VALUES ($1, $2)", ["\(commit.number)", commit.subject])
                let names = commit.changes.map(\.table)
                if names == ["refused"] { throw SyncRefusal("full") }
                if names == ["broken"] { try transaction.run("SELECT 1/0") }
                if names == ["hidden"] { _ = try? transaction.run("SELECT 1/0") }
            }
            func pushOne(_ table: String) async throws -> [Verdict] {
                var device = PushingDevice()
                return try await push(device.packet([[.insert(RowKey(table, device.id), life: 1, [:])]]), to: service)
            }
            // The requests share transactions.
            let outcomes = await withTaskGroup(of: (String, Result<[Verdict], any Error>).self) { group in
                for table in (0..<8).flatMap({ _ in ["good", "refused", "broken", "hidden", "fine"] }) {
                    group.addTask {
                        do { return (table, .success(try await pushOne(table))) } catch {
                            return (table, .failure(error))
                        }
                    }
                }
                return await group.reduce(into: []) { $0.append($1) }
            }
            for (table, outcome) in outcomes {
                switch (table, outcome) {
                case ("good", .success(let verdicts)), ("fine", .success(let verdicts)):
                    guard case .applied = verdicts[0] else { throw Unexpected(response: .verdicts(verdicts, head: 0)) }
                case ("refused", .success(let verdicts)):
                    guard case .refused(Refusal(name: "full"), _) = verdicts[0] else {
                        throw Unexpected(response: .verdicts(verdicts, head: 0))
                    }
                case ("broken", .failure(let error as PostgreSQLError)): #expect(error.state == "22012")
                case ("hidden", .failure(let error as PostgreSQLError)): #expect(error.state == "25P02")
                default: Issue.record("\(table): \(outcome)")
                }
            }
            #expect(
                try await rows(service).keys.map(\.table).sorted() == Array(repeating: "fine", count: 8)
                    + Array(repeating: "good", count: 8))
            #expect(try await entries(service).map(\.number) == Array(1...16))
            let stored = try lane.transaction { connection throws(PostgreSQLError) in
                let stored = try connection.run("SELECT number, subject FROM \(table) ORDER BY number")
                try connection.run("DROP TABLE \(table)")
                return stored
            }
            #expect(stored == (1...16).map { ["\($0)", "ada"] })
        }

        @Test func deadlocksBetweenHooksAreTriedAgain() async throws {
            let (table, lane) = ("deadlock_" + UUID().uuidString.filter(\.isLetter), PostgreSQLLane(Self.url))
            _ = try lane.transaction { connection throws(PostgreSQLError) in
                try connection.run("CREATE TABLE \(table) (id bigint PRIMARY KEY, n bigint)")
                try connection.run("INSERT INTO \(table) VALUES (0, 0), (1, 0)")
            }
            // The spaces lock two rows in opposite orders. At the first call, each waits until the other has one.
            let spaces = [Identifier(UUID()), Identifier(UUID())]
            // Counts the calls for each space.
            let calls = Mutex([0, 0])
            let locks = [DispatchSemaphore(value: 0), DispatchSemaphore(value: 0)]
            let hook: SyncStore.PostgreSQLHook = { [spaces] commit, transaction in
                let place = commit.space == UUID(spaces[0]) ? 0 : 1
                let isFirst = calls.withLock { calls in
                    calls[place] += 1
                    return calls[place] == 1
                }
                try transaction.run("UPDATE \(table) SET n = n + 1 WHERE id = $1", ["\(place)"])
                if isFirst {
                    locks[place].signal()
                    _ = locks[1 - place].wait(timeout: .now() + 300)
                }
                try transaction.run("UPDATE \(table) SET n = n + 1 WHERE id = $1", ["\(1 - place)"])
            }
            // A server for each space: two spaces of one server may share a connection, and then wait for each other.
            let services = [try await service(hook: hook), try await service(hook: hook)]
            try await withThrowingTaskGroup(of: Void.self) { group in
                for place in 0..<40 {
                    group.addTask {
                        var device = PushingDevice()
                        let packet = device.packet([[.insert(RowKey("t", device.id), life: 1, [:])]])
                        let verdicts = try await push(packet, to: services[place % 2], in: spaces[place % 2])
                        guard case .applied = verdicts[0] else {
                            throw Unexpected(response: .verdicts(verdicts, head: 0))
                        }
                    }
                }
                try await group.waitForAll()
            }
            let counts = try lane.transaction { connection throws(PostgreSQLError) in
                let counts = try connection.run("SELECT n FROM \(table)")
                try connection.run("DROP TABLE \(table)")
                return counts
            }
            #expect(counts == [["40"], ["40"]])
            #expect(calls.withLock { $0[0] + $0[1] } > 40)
        }

        @Test func readersDoNotWaitForAWriter() async throws {
            let service = try await service()
            var device = PushingDevice()
            let key = RowKey("t", Identifier(high: 0, low: 1))
            _ = try await push(device.packet([[.insert(key, life: 1, ["a": .integer(1)])]]), to: service)
            // Another process holds the lock of the space.
            let connection = try PostgreSQLConnection(to: Self.url)
            try connection.run([PostgreSQLCommand("BEGIN")])
            try connection.run([PostgreSQLCommand(SyncStatements.lockedSpace, [.text(tenant), .id(space)])])
            let packet = device.packet([[.update(key, life: 1, ["a": .integer(2)])]])
            async let verdicts = push(packet, to: service)
            #expect(try await rows(service)[key]?.values == ["a": .integer(1)])
            try connection.run([PostgreSQLCommand("ROLLBACK")])
            #expect(try await verdicts == [.applied(2)])
            #expect(try await rows(service)[key]?.values == ["a": .integer(2)])
        }

        @Test func packetsOfOneGroupSeeEachOther() async throws {
            let (service, key) = (try await service(), RowKey("t", Identifier(high: 0, low: 1)))
            let connection = try PostgreSQLConnection(to: Self.url)
            var first = PushingDevice()
            _ = try await push(first.packet([[.insert(key, life: 1, ["n": .integer(1)])]]), to: service)
            // The first packet waits for the lock, and the others for it, so that they share the next transaction.
            try connection.run([PostgreSQLCommand("BEGIN")])
            try connection.run([PostgreSQLCommand(SyncStatements.lockedSpace, [.text(tenant), .id(space)])])
            let tasks = (0..<20).map { place in
                Task {
                    var device = PushingDevice()
                    let batch = BatchUpdate(
                        table: "t", where: [.init("n", .greaterOrEqual, .integer(0))], set: ["b\(place)": .integer(1)])
                    return try await push(
                        device.packet([
                            [.insert(RowKey("t", device.id), life: 1, ["n": .integer(1)])], [.batch(batch)],
                            [.insert(key, life: 1, ["c\(place)": .integer(1)])],
                        ]), to: service)
                }
            }
            try connection.run([PostgreSQLCommand("ROLLBACK")])
            for task in tasks { _ = try await task.value }
            let (rows, entries) = (try await rows(service), try await entries(service))
            #expect(entries.map(\.number) == Array(1...61) && rows.count == 21)
            // Each batch changed the rows that were there before it.
            let batches = entries.filter { entry in
                !entry.changes.isEmpty && entry.changes.allSatisfy { $0.columns.contains { $0.name.hasPrefix("b") } }
            }
            #expect(batches.map(\.changes.count).sorted() == Array(2...21))
            #expect(rows[key]?.columns.count == 41)
        }

        @Test func lostConnectionsLoseNothing() async throws {
            // The connections of this test have a name of their own.
            let url = Self.url + (Self.url.contains("?") ? "&" : "?") + "application_name=" + tenant
            let service = SyncService(store: try await .postgreSQL(at: url, tenant: tenant)) { _, _, _ in true }
            let killer = PostgreSQLPool(Self.url, connectionCount: 1)
            var (device, failures) = (PushingDevice(), 0)
            let key = RowKey("t", device.id)
            for count in 1...60 as ClosedRange<Int64> {
                // Ends all connections once, before, during or after the push.
                async let kill: Void = killer.transaction(for: "") { [tenant] connection throws(PostgreSQLError) in
                    try connection.run("SELECT pg_sleep(random() * 0.02)")
                    try connection.run(
                        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = $1", [tenant])
                }
                let packet = device.packet([[.insert(key, life: 1, ["n": .integer(count)])]])
                var verdicts: [Verdict]?
                while verdicts == nil {
                    do { verdicts = try await push(packet, to: service) } catch is PostgreSQLError { failures += 1 }
                }
                #expect(verdicts == [.applied(count)])
                try await kill
            }
            #expect(failures > 0)
            #expect(try await entries(service).map(\.number) == Array(1...60))
        }

        @Test func wakeUpsReachDevicesOfOtherServers() async throws {
            func hub() async throws -> EventHub {
                let log = try await PostgreSQLEventLog(at: Self.url, name: "sync", tenant: tenant)
                return try await EventHub(name: "sync", log: log)
            }
            let (first, second) = (try await hub(), try await hub())
            let connection = EventConnection(
                id: UUID().uuidString, source: "", owner: "", topics: nil, heartbeat: .seconds(3600), endTime: nil,
                epoch: second.epoch, maximumByteCount: 1 << 20, at: .zero)
            try second.open(connection)
            #expect(second.goLive(connection))
            let service = try await service(hub: first)
            var device = PushingDevice()
            _ = try await push(device.packet([[.insert(RowKey("t", device.id), life: 1, [:])]]), to: service)
            let frames = try #require(await connection.next())
            let event = PublishedEvent(topic: "sync/\(space)", type: "sync", data: #"{"head":1}"#)
            #expect(frames == [EventFrame.event(event, second.epoch, 1)])
            connection.finish(.disconnected)
            second.close(connection)
        }

        @Test func administrationAgreesWithTheStoreInMemory() async throws {
            let stores: [SyncStore] = [try await store(), .memory()]
            for store in stores {
                let service = SyncService(store: store) { _, _, _ in true }
                var device = PushingDevice()
                #expect(try await store.spaces().isEmpty)
                for _ in 0..<3 {
                    _ = try await push(
                        device.packet([[.insert(RowKey("t", device.id), life: 1, ["a": .null])]]), to: service)
                }
                let spaces = try await store.spaces()
                #expect(spaces.map(\.id) == [UUID(space)] && spaces.map(\.head) == [3])
                #expect(try await store.spaces(after: UUID(space)).isEmpty)
                let devices = try await store.devices(in: UUID(space))
                #expect(devices.map(\.id) == [UUID(device.id)] && devices.map(\.subject) == ["ada"])
                #expect(try await store.devices(in: UUID(space), after: UUID(device.id)).isEmpty)
                #expect(try await store.log(of: UUID(space), upTo: 2).map(\.number) == [1, 2])
                try await store.trimLog(of: UUID(space), to: SyncLogLimits(maximumByteCount: 1))
                #expect(try await store.log(of: UUID(space)).map(\.number) == [3])
                #expect(try await store.spaces().map(\.horizon) == [2])
                let epoch = try await store.beginEpoch(in: UUID(space))
                #expect(try await store.spaces().map(\.epoch) == [epoch])
                #expect(try await store.close(device: UUID(device.id), in: UUID(space)))
                #expect(try await store.devices(in: UUID(space)).map(\.isClosed) == [true])
            }
        }
    }
#endif
