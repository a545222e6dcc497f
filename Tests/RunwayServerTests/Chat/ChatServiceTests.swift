import Foundation
import RunwayTesting
import Synchronization
import Testing

@testable import RunwayServer

/// What the service publishes.
struct ChatServiceTests {
    private struct Full: Error {}

    /// A log that stores nothing while it is full.
    private final class FillingLog: EventLog {
        private let log = MemoryEventLog()
        private let isFull = Atomic(false)

        func fill(_ isFull: Bool) { self.isFull.store(isFull, ordering: .relaxed) }
        func range() -> EventLogRange { log.range() }
        func append(_ events: [PublishedEvent]) throws -> EventLogRange {
            if isFull.load(ordering: .relaxed) { throw Full() }
            return log.append(events)
        }
        func events(after offset: Int64, upTo maximumCount: Int) -> (first: Int64, events: [PublishedEvent]) {
            log.events(after: offset, upTo: maximumCount)
        }
    }

    /// A store that does not record what was published.
    private struct ForgetfulStore: ChatStore {
        let base = MemoryChatStore()

        func append(
            _ submission: ChatSubmission, at time: Int64, upToMembers count: Int
        ) -> ChatAppendResult { base.append(submission, at: time, upToMembers: count) }
        func mark(_ mark: ChatMark, in conversation: String, upToMembers count: Int) -> ChatMarkResult {
            base.mark(mark, in: conversation, upToMembers: count)
        }
        func remove(member: String, from conversation: String) { base.remove(member: member, from: conversation) }
        func page(of conversation: String, _ range: ChatRange, upTo count: Int, upToMembers members: Int) -> ChatPage {
            base.page(of: conversation, range, upTo: count, upToMembers: members)
        }
        func unpublished(in conversation: String, upTo count: Int) -> [ChatMessage] {
            base.unpublished(in: conversation, upTo: count)
        }
        func setPublished(through _: Int64, in _: String) {}
        func unpublishedConversations(upTo count: Int) -> [String] { base.unpublishedConversations(upTo: count) }
    }

    /// A log that stores each event when the test lets it.
    private final class GatedLog: EventLog {
        private let log = MemoryEventLog()
        let gates = [ScriptedGate(), ScriptedGate()]

        func range() -> EventLogRange { log.range() }
        func append(_ events: [PublishedEvent]) async throws -> EventLogRange {
            try await gates[min(Int(log.range().last), 1)].pass()
            return log.append(events)
        }
        func events(after offset: Int64, upTo maximumCount: Int) -> (first: Int64, events: [PublishedEvent]) {
            log.events(after: offset, upTo: maximumCount)
        }
    }

    private func send(_ text: String, to service: ChatService, in conversation: String = "c") async throws {
        _ = try await service.send(
            ChatSubmission(conversation: conversation, sender: "ada", id: UUID(), text: text))
    }

    private func numbers(_ log: some EventLog) async throws -> [String] {
        try await log.events(after: 0, upTo: 1000).events.map { event in
            "\(event.topic) \(event.data.firstMatch(of: /"number":(\d+)/)?.1 ?? "")"
        }
    }

    @Test func messagesArePublishedInNumericalOrder() async throws {
        let log = MemoryEventLog()
        let service = ChatService(store: MemoryChatStore(), hub: try await EventHub(name: "chat", log: log))
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<300 { group.addTask { try await send("\(number)", to: service) } }
            try await group.waitForAll()
        }
        await service.publishAll()
        #expect(try await numbers(log) == (1...300).map { "chat/c \($0)" })
    }

    @Test func whatCouldNotBePublishedIsPublishedLater() async throws {
        let log = FillingLog()
        let service = ChatService(store: MemoryChatStore(), hub: try await EventHub(name: "chat", log: log))
        log.fill(true)
        try await send("1", to: service)
        try await send("2", to: service)
        try await send("x", to: service, in: "d")
        #expect(try await numbers(log).isEmpty)
        log.fill(false)
        try await send("3", to: service)
        #expect(try await numbers(log) == ["chat/c 1", "chat/c 2", "chat/c 3"])
        await service.publishAll()
        #expect(try await numbers(log).last == "chat/d 1")
    }

    @Test func senderDoesNotWaitForOthersMessages() async throws {
        let log = GatedLog()
        let service = ChatService(store: MemoryChatStore(), hub: try await EventHub(name: "chat", log: log))
        let first = Task { try await send("1", to: service) }
        try await log.gates[0].waitForArrivals()
        try await send("2", to: service)
        log.gates[0].open()
        // The second message is not published before the first has its response.
        let isSent = Atomic(false)
        let waiting = Task {
            try await first.value
            isSent.store(true, ordering: .relaxed)
        }
        try await waitUntil("the response") { isSent.load(ordering: .relaxed) }
        log.gates[1].open()
        try await waiting.value
        try await waitUntil("the second message") { try await numbers(log) == ["chat/c 1", "chat/c 2"] }
    }

    @Test func storeWithoutRecordsIsNotAskedForever() async throws {
        let (store, log) = (ForgetfulStore(), MemoryEventLog())
        let service = ChatService(store: store, hub: try await EventHub(name: "chat", log: log))
        for number in 1...100 {
            let submission = ChatSubmission(conversation: "c", sender: "ada", id: UUID(), text: "\(number)")
            _ = store.append(submission, at: 7, upToMembers: 10)
        }
        let isDone = Atomic(false)
        let publishing = Task {
            await service.publishAll()
            isDone.store(true, ordering: .relaxed)
        }
        try await waitUntil("the end") { isDone.load(ordering: .relaxed) }
        await publishing.value
        #expect(log.range().last == 200, "the second step found the same messages")
    }

    @Test func presentMembersOfAPageHaveABound() async throws {
        var options = EventHubOptions()
        options.presenceGrace = .seconds(30)
        var limits = ChatLimits()
        limits.maximumMemberCount = 2
        let hub = try await EventHub(name: "chat", options: options)
        let service = ChatService(store: MemoryChatStore(), hub: hub, limits: limits)
        for name in ["ada", "bob", "eve"] { hub.join(name, topic: ChatService.topic(of: "c")) }
        #expect(try await hub.present(in: ChatService.topic(of: "c")).count == 3)
        #expect(await service.present(in: "c")?.members == ["ada", "bob"])
    }

    @Test func pageDoesNotWaitForHangingPresence() async throws {
        let (log, clock) = (TestedEventLog(), ManualClock())
        var options = EventHubOptions()
        options.presenceGrace = .seconds(30)
        let hub = try await EventHub(name: "chat", log: log, options: options, clock: clock)
        let service = ChatService(store: MemoryChatStore(), hub: hub)
        log.change(to: .hanging)
        defer { log.change(to: .responding) }
        let waiting = Task { await service.present(in: "c")?.members }
        try await waitUntil("the read") { log.hangingCount == 1 }
        try await clock.waitForSleepers()
        clock.advance(by: .seconds(10))
        #expect(await waiting.value == nil)
        log.change(to: .responding)
        #expect(await service.present(in: "c")?.members == [])
    }

    @Test func sweepFindsWhatAKilledProcessLeft() async throws {
        let (store, log, clock) = (MemoryChatStore(), MemoryEventLog(), ManualClock())
        let service = ChatService(store: store, hub: try await EventHub(name: "chat", log: log, clock: clock))
        let running = Task { await service.run() }
        defer { running.cancel() }
        // Stored by a process that published nothing.
        let submission = ChatSubmission(conversation: "c", sender: "ada", id: UUID(), text: "x")
        _ = store.append(submission, at: 7, upToMembers: 10)
        try await waitUntil("the message is published") {
            try await numbers(log) == ["chat/c 1"]
        } meanwhile: {
            clock.advance(by: .seconds(1))
        }
    }

    @Test func sweepEndsThoughTheLogHangs() async throws {
        let (store, log) = (MemoryChatStore(), GatedLog())
        let service = ChatService(store: store, hub: try await EventHub(name: "chat", log: log))
        let submission = ChatSubmission(conversation: "c", sender: "ada", id: UUID(), text: "x")
        _ = store.append(submission, at: 7, upToMembers: 10)
        let running = Task { await service.run() }
        try await log.gates[0].waitForArrivals()
        running.cancel()
        await running.value
        log.gates[0].open()
    }

    @Test func pageHasABoundInBytes() async throws {
        var limits = ChatLimits()
        limits.maximumPageByteCount = 25
        let service = ChatService(
            store: MemoryChatStore(), hub: try await EventHub(name: "chat"), limits: limits)
        for _ in 1...6 { try await send("0123456789", to: service) }
        try await send(String(repeating: "x", count: 100), to: service)
        func numbers(_ range: ChatRange) async throws -> [Int64] {
            try await service.page(of: "c", range, upTo: 5).messages.map(\.number)
        }
        #expect(try await numbers(.after(0)) == [1, 2])
        #expect(try await numbers(.after(2)) == [3, 4])
        #expect(try await numbers(.after(5)) == [6])
        #expect(try await numbers(.before(7)) == [5, 6])
        #expect(try await numbers(.latest) == [7], "one message is always in it")
        #expect(try await numbers(.after(7)) == [])
    }

    @Test func messageThatIsNoEventDelaysNoOther() async throws {
        let (store, log) = (MemoryChatStore(), MemoryEventLog())
        let service = ChatService(store: store, hub: try await EventHub(name: "chat", log: log))
        // Stored under other limits.
        let text = String(repeating: "x", count: 1 << 20)
        _ = store.append(
            ChatSubmission(conversation: "c", sender: "ada", id: UUID(), text: text), at: 7, upToMembers: 10)
        try await send("2", to: service)
        #expect(try await numbers(log) == ["chat/c 2"])
        #expect(store.unpublishedConversations(upTo: 10).isEmpty)
    }

    @Test func removedMemberLeavesRoomForAnother() async throws {
        var limits = ChatLimits()
        limits.maximumMemberCount = 1
        let hub = try await EventHub(name: "chat")
        let service = ChatService(store: MemoryChatStore(), hub: hub, limits: limits)
        try await send("1", to: service)
        let mark = ChatMark(member: "bob", delivered: 1)
        await #expect { _ = try await service.mark(mark, in: "c") } throws: { ($0 as? ChatProblem)?.reason == .full }
        try await service.remove(member: "ada", from: "c")
        #expect(try await service.mark(mark, in: "c") == mark)
        #expect(try await service.page(of: "c", .latest, upTo: 1).marks == [mark])
        await #expect { try await service.remove(member: "", from: "c") } throws: {
            ($0 as? ChatProblem)?.reason == .member
        }
        await #expect { try await service.remove(member: "bob", from: "a b") } throws: {
            ($0 as? ChatProblem)?.reason == .conversation
        }
    }

    @Test func markThatMovesIsPublished() async throws {
        let log = MemoryEventLog()
        let service = ChatService(store: MemoryChatStore(), hub: try await EventHub(name: "chat", log: log))
        try await send("1", to: service)
        let mark = ChatMark(member: "bob", delivered: 9, read: 1)
        let moved = ChatMark(member: "bob", delivered: 1, read: 1)
        #expect(try await service.mark(mark, in: "c") == moved)
        #expect(try await service.mark(mark, in: "c") == moved)
        let events = log.events(after: 1, upTo: 10).events
        #expect(events.map(\.type) == ["chat.mark"])
        #expect(events.first?.data == #"{"conversation":"c","member":"bob","delivered":1,"read":1}"#)
    }
}

extension EventHub {
    /// Lets a member join a topic.
    fileprivate func join(_ member: String, topic: String) {
        state.withLock { state in
            state.presence?.follow([topic], by: member, of: member, at: .zero)
            _ = state.nextPresence(at: .zero)
        }
    }
}
