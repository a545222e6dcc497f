#if PostgreSQL
    import Foundation
    import Hummingbird
    import Testing

    @testable import RunwayPostgreSQL
    @testable import RunwayServer

    /// The present members of several processes over a real server, whose URL `Scripts/postgresql.sh` sets.
    @Suite(.timeLimit(.minutes(5)))
    struct PostgreSQLPresenceTests {
        private static let url = ProcessInfo.processInfo.environment["RUNWAY_POSTGRESQL"] ?? "postgres://localhost/none"
        private static let hour = Duration.seconds(3600)
        /// A tenant for each test.
        private let tenant = UUID().uuidString

        private func log() async throws -> PostgreSQLEventLog {
            try await PostgreSQLEventLog(at: Self.url, name: "chat", tenant: tenant)
        }

        /// Opens the log for a process with a lease.
        private func process(_ lease: String) async throws -> PostgreSQLEventLog {
            let log = try await log()
            try await log.beginPresence(under: lease, for: Self.hour)
            return log
        }

        private func join(_ member: String) -> PresenceChange {
            PresenceChange(topic: "a", member: member, isPresent: true)
        }

        /// Expects that exactly these changes were published, in this order.
        private func expect(_ changes: [PresenceChange], in log: PostgreSQLEventLog) async throws {
            let epoch = try await log.range().epoch
            let events = try await log.events(after: 0, upTo: 10_000).events
            #expect(events == changes.map { $0.event(of: epoch) })
        }

        @Test func memberOfTwoProcessesJoinsAndLeavesOnce() async throws {
            let (first, second) = (try await process("1"), try await process("2"))
            let (ada, bob) = (join("ada"), join("bob"))
            try await first.renewPresence(under: "1", for: Self.hour, [ada], leaving: 256)
            try await second.renewPresence(under: "2", for: Self.hour, [bob, ada], leaving: 256)
            try await second.renewPresence(under: "2", for: Self.hour, [ada], leaving: 256)
            try await expect([ada, bob], in: first)
            for log in [first, second] {
                #expect(try await log.present(in: "a", upTo: 10) == ["ada", "bob"])
                #expect(try await log.present(in: "a", upTo: 1).count == 1)
                #expect(try await log.present(in: "b", upTo: 10).isEmpty)
            }
            let unpublished = try await first.renewPresence(
                under: "1", for: Self.hour, [ada.opposite, bob.opposite], leaving: 256)
            #expect(unpublished.publishedCount == 0 && unpublished.isComplete)
            try await expect([ada, bob], in: first)
            let published = try await second.renewPresence(under: "2", for: Self.hour, [ada.opposite], leaving: 256)
            #expect(published.publishedCount == 1 && published.isComplete)
            try await expect([ada, bob, ada.opposite], in: second)
            #expect(try await first.present(in: "a", upTo: 10) == ["bob"])
        }

        @Test func endedLeaseLosesItsMembersOnce() async throws {
            let (killed, other) = (try await process("1"), try await process("2"))
            let joins = (0..<1200).map { join("m\($0)") }
            for start in stride(from: 0, to: 1200, by: 200) {
                try await killed.renewPresence(
                    under: "1", for: Self.hour, Array(joins[start..<start + 200]), leaving: 256)
            }
            try await other.renewPresence(under: "2", for: Self.hour, [joins[7]], leaving: 256)
            try await killed.renewPresence(under: "1", for: .zero, [], leaving: 256)
            let error = await #expect(throws: PostgreSQLError.self) {
                try await killed.renewPresence(under: "1", for: Self.hour, [join("eve")], leaving: 256)
            }
            #expect(error?.state == "P0002")
            let third = try await process("3")
            try await withThrowingTaskGroup(of: Void.self) { group in
                for (lease, log) in [("2", other), ("3", third)] {
                    group.addTask {
                        var isComplete = false
                        while !isComplete {
                            let renewal = try await log.renewPresence(under: lease, for: Self.hour, [], leaving: 256)
                            #expect(renewal.publishedCount <= 256)
                            isComplete = renewal.isComplete
                        }
                    }
                }
                try await group.waitForAll()
            }
            let epoch = try await other.range().epoch
            let events = try await other.events(after: 1200, upTo: 10_000).events
            let left = joins.filter { $0 != joins[7] }.map { $0.opposite.event(of: epoch).data }
            #expect(events.map(\.data).sorted() == left.sorted())
            #expect(try await other.present(in: "a", upTo: 10) == ["m7"])
        }

        @Test func membersOfAnEndedLeaseAreAbsent() async throws {
            let (killed, other) = (try await process("1"), try await process("2"))
            let (ada, bob) = (join("ada"), join("bob"))
            try await killed.renewPresence(under: "1", for: Self.hour, [ada, bob], leaving: 256)
            let values = [tenant, "chat"]
            try await killed.writer.transaction(for: "chat") { connection throws(PostgreSQLError) in
                _ = try connection.run(
                    "UPDATE runway_presence_lease SET expiry = now() WHERE tenant = $1 AND log = $2 AND lease = '1'",
                    values)
            }
            // No process has found yet that the lease has ended.
            #expect(try await other.present(in: "a", upTo: 10).isEmpty)
            try await other.renewPresence(under: "2", for: Self.hour, [ada], leaving: 256)
            try await expect([ada, bob, ada, bob.opposite], in: other)
            #expect(try await other.present(in: "a", upTo: 10) == ["ada"])
        }

        @Test func orderOfMembersIsThatOfTheirBytes() async throws {
            let log = try await process("1")
            try await log.renewPresence(under: "1", for: Self.hour, [join("b"), join("C"), join("a")], leaving: 256)
            #expect(try await log.present(in: "a", upTo: 10) == ["C", "a", "b"])
            #expect(try await log.present(in: "a", upTo: 1) == ["C"])
        }

        @Test func joinsAndLeavesOfAMemberAlternate() async throws {
            let joins = (0..<20).map { join("m\($0)") }
            var processes: [(lease: String, log: PostgreSQLEventLog)] = []
            for number in 1...4 { processes.append(("\(number)", try await process("\(number)"))) }
            try await withThrowingTaskGroup(of: Void.self) { group in
                for (lease, log) in processes {
                    group.addTask {
                        for _ in 0..<5 {
                            try await log.renewPresence(under: lease, for: Self.hour, joins, leaving: 256)
                            try await log.renewPresence(
                                under: lease, for: Self.hour, joins.map(\.opposite), leaving: 256)
                        }
                    }
                }
                try await group.waitForAll()
            }
            let log = try await log()
            let epoch = try await log.range().epoch
            let events = try await log.events(after: 0, upTo: 10_000).events
            for join in joins {
                let (joined, left) = (join.event(of: epoch), join.opposite.event(of: epoch))
                let own = events.filter { $0 == joined || $0 == left }
                #expect(!own.isEmpty && own.count.isMultiple(of: 2))
                #expect(own.indices.allSatisfy { own[$0] == ($0.isMultiple(of: 2) ? joined : left) })
            }
            #expect(try await log.present(in: "a", upTo: 10).isEmpty)
        }

        @Test func unstorableMemberNamesAreSkipped() async throws {
            let log = try await process("1")
            let limit = PostgreSQLEventLog.maximumMemberByteCount
            // Digits that vary, since PostgreSQL compresses a text that repeats itself.
            let longest = String((0..<limit).map { _ in Character("\(Int.random(in: 0...9))") })
            let names = [longest + "x", "a\u{0}b", longest, "bob"]
            try await log.renewPresence(under: "1", for: Self.hour, names.map { join($0) }, leaving: 256)
            try await expect([join(longest), join("bob")], in: log)
        }

        @Test func everyHubReturnsTheMembersOfAll() async throws {
            var options = EventHubOptions()
            options.presenceGrace = .milliseconds(100)
            let hubs = [
                try await EventHub(name: "chat", log: try await log(), options: options),
                try await EventHub(name: "chat", log: try await log(), options: options),
            ]
            let connections = zip(hubs, ["ada", "bob"]).map { hub, owner in
                EventConnection(
                    id: UUID().uuidString, source: "", owner: owner, topics: ["a"], heartbeat: Self.hour, endTime: nil,
                    epoch: hub.epoch, maximumByteCount: 1 << 20, at: .zero)
            }
            for (hub, connection) in zip(hubs, connections) {
                try hub.open(connection)
                #expect(hub.goLive(connection))
            }
            for connection in connections {
                var count = 0
                while count < 2, let frames = await connection.next() { count += frames.count }
            }
            for hub in hubs { #expect(try await hub.present(in: "a") == ["ada", "bob"]) }
            connections[0].finish(.disconnected)
            hubs[0].close(connections[0])
            let frames = await connections[1].next()
            let event = join("ada").opposite.event(of: hubs[1].epoch)
            #expect(frames == [EventFrame.event(event, hubs[1].epoch, 3)])
            for hub in hubs { #expect(try await hub.present(in: "a") == ["bob"]) }
            connections[1].finish(.disconnected)
            hubs[1].close(connections[1])
        }
    }
#endif
