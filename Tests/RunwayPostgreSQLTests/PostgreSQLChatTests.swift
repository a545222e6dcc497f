#if PostgreSQL
    import Foundation
    import Hummingbird
    import Testing

    @testable import RunwayPostgreSQL
    @testable import RunwayServer

    /// Conversations and events of several processes over a real server, whose URL `Scripts/postgresql.sh` sets.
    @Suite(.timeLimit(.minutes(5)))
    struct PostgreSQLChatTests {
        private static let url = ProcessInfo.processInfo.environment["RUNWAY_POSTGRESQL"] ?? "postgres://localhost/none"
        /// A tenant for each test.
        private let tenant = UUID().uuidString

        private func store() async throws -> PostgreSQLChatStore {
            try await PostgreSQLChatStore(at: Self.url, tenant: tenant)
        }

        private func log(upTo count: Int = 100_000) async throws -> PostgreSQLEventLog {
            try await PostgreSQLEventLog(at: Self.url, name: "chat", tenant: tenant, maximumCount: count)
        }

        private func submission(_ text: String, by sender: String = "ada", id: UUID = UUID()) -> ChatSubmission {
            ChatSubmission(conversation: "c", sender: sender, id: id, text: text)
        }

        @Test func severalProcessesNumberAMessageOnce() async throws {
            let stores = [try await store(), try await store(), try await store()]
            let submissions = (0..<100).map { submission("\($0)", by: "m\($0 % 5)") }
            try await withThrowingTaskGroup(of: Void.self) { group in
                // Every process gets every message, as from retries that overlap.
                for store in stores {
                    for submission in submissions {
                        group.addTask { _ = try await store.append(submission, at: 7, upToMembers: 10) }
                    }
                }
                try await group.waitForAll()
            }
            let page = try await stores[0].page(of: "c", .after(0), upTo: 1000, upToMembers: 10)
            #expect(page.messages.map(\.number) == Array(1...100))
            #expect(Set(page.messages.map(\.id)) == Set(submissions.map(\.id)))
            #expect(page.first == 1 && page.last == 100 && page.marks.count == 5)
            let again = try await stores[1].append(submissions[0], at: 9, upToMembers: 10)
            #expect(again == .known(try #require(page.messages.first { $0.id == submissions[0].id })))
            let changed = submission("changed", by: "m0", id: submissions[0].id)
            #expect(try await stores[2].append(changed, at: 9, upToMembers: 10) == .mismatch)
        }

        @Test func pagesMarksAndPublicationMatchOtherStores() async throws {
            let store = try await store()
            for number in 1...9 { _ = try await store.append(submission("\(number)"), at: 7, upToMembers: 2) }
            for (range, numbers) in [
                (ChatRange.latest, 7...9), (.after(7), 8...9), (.before(9), 6...8), (.before(3), 1...2),
            ] as [(ChatRange, ClosedRange<Int64>)] {
                let page = try await store.page(of: "c", range, upTo: 3, upToMembers: 10)
                #expect(page.messages.map(\.number) == Array(numbers))
            }
            let mark = ChatMark(member: "bob", delivered: 99, read: 4)
            let moved = ChatMark(member: "bob", delivered: 9, read: 4)
            #expect(try await store.mark(mark, in: "c", upToMembers: 2) == .moved(moved))
            #expect(try await store.mark(mark, in: "c", upToMembers: 2) == .unchanged(moved))
            #expect(try await store.append(submission("x", by: "eve"), at: 7, upToMembers: 2) == .full)
            try await store.remove(member: "bob", from: "c")
            try await store.remove(member: "bob", from: "unknown")
            let eve = ChatMark(member: "eve", delivered: 1)
            #expect(try await store.mark(eve, in: "c", upToMembers: 2) == .moved(eve))
            let page = try await store.page(of: "c", .latest, upTo: 1, upToMembers: 10)
            #expect(page.marks == [ChatMark(member: "ada"), eve] && page.last == 9)
            #expect(try await store.unpublishedConversations(upTo: 10) == ["c"])
            try await store.setPublished(through: 8, in: "c")
            #expect(try await store.unpublished(in: "c", upTo: 10).map(\.number) == [9])
            try await store.setPublished(through: 9, in: "c")
            #expect(try await store.unpublishedConversations(upTo: 10).isEmpty)
        }

        @Test func logIsBoundedAndReportsItsFirstOffset() async throws {
            let log = try await log(upTo: 10)
            for number in 1...25 { _ = try await log.append([PublishedEvent(topic: "a", data: "\(number)")]) }
            let range = try await log.range()
            #expect(range.last == 25 && range.first > 1)
            let (first, events) = try await log.events(after: 0, upTo: 100)
            #expect(first == range.first && events.count == Int(range.last - range.first + 1))
            #expect(try await self.log().range() == range, "another process has the same log")
        }

        @Test func logIsBoundedInBytes() async throws {
            let log = try await PostgreSQLEventLog(
                at: Self.url, name: "chat", tenant: tenant, maximumByteCount: 20_000)
            func append(_ byteCount: Int) async throws -> EventLogRange {
                try await log.append([PublishedEvent(topic: "a", data: String(repeating: "x", count: byteCount))])
            }
            for _ in 1...40 { _ = try await append(1000) }
            let range = try await log.range()
            #expect(range.last == 40 && range.first > 20 && range.first < 30)
            let (first, events) = try await log.events(after: 0, upTo: 100)
            #expect(first == range.first && events.count == Int(range.last - range.first + 1))
            let last = try await append(30_000)
            #expect(last.first == 41 && last.last == 41, "the last event stays in any case")
        }

        @Test func pagesAreBoundedInBytes() async throws {
            let log = try await log()
            let text = String(repeating: "x", count: 100_000)
            _ = try await log.append((1...5).map { PublishedEvent(topic: "a", data: "\($0) " + text) })
            // A page ends with the event that reaches the bound.
            #expect(try await log.events(after: 0, upTo: 256).events.count == 3)
            let (first, events) = try await log.events(after: 3, upTo: 256)
            #expect(first == 4 && events.count == 2)
        }

        /// Opens a hub, and a connection that receives all its events.
        private func hub() async throws -> (hub: EventHub, connection: EventConnection) {
            let hub = try await EventHub(name: "chat", log: try await log())
            let connection = EventConnection(
                id: UUID().uuidString, source: "", owner: "", topics: nil, heartbeat: .seconds(3600), endTime: nil,
                epoch: hub.epoch, maximumByteCount: 1 << 20, at: .zero)
            try hub.open(connection)
            #expect(hub.goLive(connection))
            return (hub, connection)
        }

        /// Expects that a connection receives all events of the log, each once and in order, and closes it.
        private func expectAllEvents(_ hub: EventHub, _ connection: EventConnection) async throws {
            let (first, events) = try await log().events(after: 0, upTo: 10_000)
            #expect(first == 1)
            let wanted = events.enumerated().map { EventFrame.event($1, hub.epoch, Int64($0 + 1)) }
            var frames: [ByteBuffer] = []
            while frames.count < wanted.count, let more = await connection.next() { frames += more }
            #expect(frames == wanted)
            connection.finish(.disconnected)
            hub.close(connection)
        }

        @Test func twoHubsDeliverAllEventsInOneOrder() async throws {
            let (first, second) = (try await hub(), try await hub())
            try await withThrowingTaskGroup(of: Void.self) { group in
                for number in 0..<100 {
                    let hub = number.isMultiple(of: 2) ? first.hub : second.hub
                    group.addTask { try await hub.publish(PublishedEvent(topic: "a", data: "\(number)")) }
                }
                try await group.waitForAll()
            }
            let (_, events) = try await log().events(after: 0, upTo: 1000)
            #expect(events.count == 100 && Set(events.map(\.data)).count == 100)
            try await expectAllEvents(first.hub, first.connection)
            try await expectAllEvents(second.hub, second.connection)
        }

        @Test func twoServersPublishOneConversationInOrder() async throws {
            let (first, second) = (try await hub(), try await hub())
            let services = [
                ChatService(store: try await store(), hub: first.hub),
                ChatService(store: try await store(), hub: second.hub),
            ]
            try await withThrowingTaskGroup(of: Void.self) { group in
                for number in 0..<30 {
                    let submission = submission("\(number)", by: "m\(number % 3)")
                    group.addTask { _ = try await services[number % 2].send(submission) }
                }
                try await group.waitForAll()
            }
            // What one server has not published when the other one looks is published by both.
            for service in services { await service.publishAll() }
            let page = try await services[0].page(of: "c", .after(0), upTo: 100)
            #expect(page.messages.map(\.number) == Array(1...30))
            var seen: Set<String> = []
            let (_, events) = try await log().events(after: 0, upTo: 10_000)
            let texts = events.map(\.data).filter { seen.insert($0).inserted }
            let epoch = try await services[0].epoch()
            #expect(texts == page.messages.map { String(decoding: $0.json(epoch: epoch), as: UTF8.self) })
            try await expectAllEvents(first.hub, first.connection)
            try await expectAllEvents(second.hub, second.connection)
        }

        @Test func newEpochHoldsForLogsAndConversations() async throws {
            let before = try await store().epoch()
            let range = try await log().append([PublishedEvent(topic: "a", data: "")])
            #expect(try await store().epoch() == before && before != nil, "all processes have the same")
            let epochs = [
                try await PostgreSQLChatStore.beginEpoch(at: Self.url, tenant: tenant),
                try await PostgreSQLEventLog.beginEpoch(at: Self.url, tenant: tenant),
            ]
            #expect(try await store().epoch() == epochs[0] && epochs[0] != before)
            let renewed = try await log().range()
            #expect(renewed.epoch == epochs[1] && renewed.epoch != range.epoch && renewed.last == range.last)
        }

        @Test func offsetsBecomeVisibleInOrder() async throws {
            let logs = [try await log(), try await log(), try await log()]
            let reader = try await log()
            try await withThrowingTaskGroup(of: Void.self) { group in
                for log in logs {
                    group.addTask {
                        for number in 0..<20 {
                            let event = PublishedEvent(topic: "a", data: "\(number)")
                            _ = try await log.append(Array(repeating: event, count: number % 4 + 1))
                        }
                    }
                }
                group.addTask {
                    var last: Int64 = 0
                    // A reader that has seen an offset never finds a smaller one that it has not.
                    while last < 150 {
                        let (first, events) = try await reader.events(after: last, upTo: 7)
                        #expect(first == last + 1)
                        last += Int64(events.count)
                    }
                    #expect(last == 150)
                }
                try await group.waitForAll()
            }
        }

        @Test func pageShowsOneMoment() async throws {
            let (first, second) = (try await store(), try await store())
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask {
                    for number in 1...40 {
                        _ = try await first.append(submission("\(number)"), at: 7, upToMembers: 9)
                        let mark = ChatMark(member: "ada", delivered: .max, read: .max)
                        _ = try await first.mark(mark, in: "c", upToMembers: 9)
                    }
                }
                group.addTask {
                    var last: Int64 = 0
                    while last < 40 {
                        let page = try await second.page(of: "c", .latest, upTo: 3, upToMembers: 10)
                        last = page.last
                        #expect(page.marks.allSatisfy { $0.read <= last })
                        #expect(page.messages.map(\.number) == Array(max(1, last - 2)..<last + 1))
                    }
                }
                try await group.waitForAll()
            }
        }

        @Test func messageWithAUsedIdMakesNoMember() async throws {
            let store = try await store()
            let known = submission("x")
            _ = try await store.append(known, at: 7, upToMembers: 1)
            var other = known
            other.conversation = "d"
            #expect(try await store.append(other, at: 7, upToMembers: 1) == .mismatch)
            #expect(try await store.page(of: "d", .latest, upTo: 1, upToMembers: 10).marks.isEmpty)
            // The id of a refused message is not used.
            let refused = submission("x", by: "eve")
            #expect(try await store.append(refused, at: 7, upToMembers: 1) == .full)
            let stored = ChatMessage(refused, number: 2, time: 8)
            #expect(try await store.append(refused, at: 8, upToMembers: 2) == .stored(stored))
        }

        @Test func textWithTheCharacterZeroIsRefused() async throws {
            let log = try await log()
            let error = await #expect(throws: PostgreSQLError.self) {
                _ = try await log.append([PublishedEvent(topic: "a", data: "a\u{0}b")])
            }
            #expect(error?.state == "22021")
            #expect(try await log.range().last == 0)
        }

        @Test func signalsArriveAgainAfterALostConnection() async throws {
            let name = "listen-\(tenant)"
            let url = Self.url + (Self.url.contains("?") ? "&" : "?") + "application_name=\(name)"
            let listening = try await PostgreSQLEventLog(at: url, name: "chat", tenant: tenant)
            let signals = listening.signals()
            #expect(await signals.first { _ in true } == "", "it says that it listens")
            let log = try await log()
            try await log.signal("signal 1")
            #expect(await signals.contains("signal 1"))
            let other = try PostgreSQLConnection(to: Self.url)
            try other.run(
                "SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity WHERE application_name = $1", [name])
            // It connects anew; what is sent before that is lost.
            for await signal in signals {
                if signal == "signal 2" { break }
                try await log.signal("signal 2")
            }
        }
    }
#endif
