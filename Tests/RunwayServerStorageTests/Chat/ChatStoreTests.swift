import Foundation
import GRDB
import RunwayServer
import RunwayServerStorage
import Testing

/// What every store of conversations does, over each of them.
struct ChatStoreTests {
    enum Kind: CaseIterable { case memory, sqlite }

    private let folder = ScratchFolder()

    private func store(_ kind: Kind) throws -> any ChatStore {
        switch kind {
        case .memory: MemoryChatStore()
        case .sqlite: try SQLiteChatStore(at: folder.file)
        }
    }

    private func submission(
        _ text: String, by sender: String = "ada", in conversation: String = "c", id: UUID = UUID()
    ) -> ChatSubmission {
        ChatSubmission(conversation: conversation, sender: sender, id: id, text: text)
    }

    private func append(
        _ submission: ChatSubmission, to store: any ChatStore, at time: Int64 = 7, upToMembers count: Int = 10
    ) async throws -> ChatAppendResult {
        try await store.append(submission, at: time, upToMembers: count)
    }

    @Test(arguments: Kind.allCases)
    func numbersOfAConversationAreConsecutive(_ kind: Kind) async throws {
        let store = try store(kind)
        for number in 1...3 {
            let submission = submission("\(number)")
            let message = ChatMessage(submission, number: Int64(number), time: 7)
            #expect(try await append(submission, to: store) == .stored(message))
        }
        let other = submission("x", in: "d")
        #expect(try await append(other, to: store) == .stored(ChatMessage(other, number: 1, time: 7)))
    }

    @Test(arguments: Kind.allCases)
    func membersAndConversationsAreComparedByteByByte(_ kind: Kind) async throws {
        let (store, id) = (try store(kind), UUID())
        // Each pair is one text for `String`, and two for a database.
        for (number, member) in ["\u{E9}", "e\u{301}"].enumerated() {
            let submission = submission("x", by: member, id: id)
            let message = ChatMessage(submission, number: Int64(number + 1), time: 7)
            #expect(try await append(submission, to: store) == .stored(message))
        }
        let page = try await store.page(of: "c", .latest, upTo: 10, upToMembers: 10)
        let members = page.marks.map { Array($0.member.utf8) }
        #expect(members == [[0x65, 0xCC, 0x81], [0xC3, 0xA9]])
        let other = submission("x", in: "\u{E9}")
        #expect(try await append(other, to: store) == .stored(ChatMessage(other, number: 1, time: 7)))
        #expect(try await store.page(of: "e\u{301}", .latest, upTo: 10, upToMembers: 10).last == 0)
    }

    @Test(arguments: Kind.allCases)
    func concurrentMessagesGetDistinctConsecutiveNumbers(_ kind: Kind) async throws {
        let store = try store(kind)
        let numbers = try await withThrowingTaskGroup(of: Int64.self) { group in
            for index in 0..<200 {
                group.addTask {
                    let submission = submission("\(index)", by: "m\(index % 7)")
                    guard case .stored(let message) = try await append(submission, to: store) else { return 0 }
                    return message.number
                }
            }
            return try await group.reduce(into: Set()) { $0.insert($1) }
        }
        #expect(numbers == Set(1...200))
    }

    @Test(arguments: Kind.allCases)
    func messageThatIsSentAgainKeepsItsNumber(_ kind: Kind) async throws {
        let store = try store(kind)
        let submission = submission("hello")
        let message = ChatMessage(submission, number: 1, time: 7)
        #expect(try await append(submission, to: store) == .stored(message))
        #expect(try await append(submission, to: store, at: 99) == .known(message))
        var changed = submission
        changed.text = "bye"
        #expect(try await append(changed, to: store) == .mismatch)
        changed = submission
        changed.conversation = "d"
        #expect(try await append(changed, to: store) == .mismatch)
        changed.sender = "bob"
        #expect(try await append(changed, to: store) == .stored(ChatMessage(changed, number: 1, time: 7)))
        #expect(try await store.page(of: "c", .latest, upTo: 10, upToMembers: 10).messages == [message])
    }

    @Test(arguments: Kind.allCases)
    func pagesBeginAndEndWhereRequested(_ kind: Kind) async throws {
        let store = try store(kind)
        let empty = try await store.page(of: "c", .latest, upTo: 10, upToMembers: 10)
        #expect(empty == ChatPage(messages: [], first: 1, last: 0, marks: []))
        for number in 1...9 { _ = try await append(submission("\(number)"), to: store) }
        for (range, numbers) in [
            (ChatRange.latest, 7...9), (.after(0), 1...3), (.after(7), 8...9), (.before(9), 6...8), (.before(3), 1...2),
        ] as [(ChatRange, ClosedRange<Int64>)] {
            let page = try await store.page(of: "c", range, upTo: 3, upToMembers: 10)
            #expect(page.messages.map(\.number) == Array(numbers), "\(range)")
            #expect(page.first == 1 && page.last == 9)
        }
        #expect(try await store.page(of: "c", .after(9), upTo: 3, upToMembers: 10).messages.isEmpty)
        #expect(try await store.page(of: "c", .after(1 << 53), upTo: 3, upToMembers: 10).messages.isEmpty)
        #expect(try await store.page(of: "c", .before(1), upTo: 3, upToMembers: 10).messages.isEmpty)
    }

    @Test(arguments: Kind.allCases)
    func marksMoveForwardAndNotBeyondTheEnd(_ kind: Kind) async throws {
        let store = try store(kind)
        for number in 1...5 { _ = try await append(submission("\(number)"), to: store) }
        func mark(_ delivered: Int64, _ read: Int64) async throws -> ChatMarkResult {
            let mark = ChatMark(member: "bob", delivered: delivered, read: read)
            return try await store.mark(mark, in: "c", upToMembers: 10)
        }
        #expect(try await mark(3, 1) == .moved(ChatMark(member: "bob", delivered: 3, read: 1)))
        #expect(try await mark(2, 1) == .unchanged(ChatMark(member: "bob", delivered: 3, read: 1)))
        #expect(try await mark(0, 4) == .moved(ChatMark(member: "bob", delivered: 4, read: 4)))
        #expect(try await mark(.max, 4) == .moved(ChatMark(member: "bob", delivered: 5, read: 4)))
        let marks = try await store.page(of: "c", .latest, upTo: 1, upToMembers: 10).marks
        #expect(marks == [ChatMark(member: "ada"), ChatMark(member: "bob", delivered: 5, read: 4)])
    }

    @Test(arguments: Kind.allCases)
    func conversationHasABoundOfMembers(_ kind: Kind) async throws {
        let store = try store(kind)
        _ = try await append(submission("1", by: "ada"), to: store, upToMembers: 2)
        _ = try await append(submission("2", by: "bob"), to: store, upToMembers: 2)
        #expect(try await append(submission("3", by: "eve"), to: store, upToMembers: 2) == .full)
        let mark = ChatMark(member: "eve", delivered: 1)
        #expect(try await store.mark(mark, in: "c", upToMembers: 2) == .full)
        guard case .stored(let message) = try await append(submission("4", by: "bob"), to: store, upToMembers: 2) else {
            Issue.record("A member can't send.")
            return
        }
        #expect(message.number == 3, "a refused message has no number")
    }

    @Test(arguments: Kind.allCases)
    func removedMemberLeavesRoomForAnother(_ kind: Kind) async throws {
        let store = try store(kind)
        func members(of conversation: String) async throws -> [String] {
            try await store.page(of: conversation, .latest, upTo: 1, upToMembers: 10).marks.map(\.member)
        }
        for member in ["ada", "bob"] { _ = try await append(submission("x", by: member), to: store) }
        _ = try await append(submission("x", in: "d"), to: store)
        _ = try await store.mark(ChatMark(member: "ada", delivered: 2), in: "c", upToMembers: 2)
        try await store.remove(member: "ada", from: "c")
        try await store.remove(member: "eve", from: "c")
        try await store.remove(member: "ada", from: "unknown")
        #expect(try await members(of: "c") == ["bob"])
        #expect(try await members(of: "d") == ["ada"])
        let page = try await store.page(of: "c", .latest, upTo: 10, upToMembers: 10)
        #expect(page.messages.map(\.sender) == ["ada", "bob"] && page.last == 2)
        #expect(try await store.page(of: "unknown", .latest, upTo: 1, upToMembers: 10).last == 0)
        let mark = ChatMark(member: "eve", delivered: 1)
        #expect(try await store.mark(mark, in: "c", upToMembers: 2) == .moved(mark))
        #expect(try await append(submission("y", by: "ada"), to: store, upToMembers: 2) == .full)
        // One that comes back begins anew.
        try await store.remove(member: "bob", from: "c")
        let again = ChatMark(member: "ada", delivered: 1)
        #expect(try await store.mark(again, in: "c", upToMembers: 2) == .moved(again))
    }

    @Test(arguments: Kind.allCases)
    func marksOfAPageHaveABound(_ kind: Kind) async throws {
        let store = try store(kind)
        for member in ["eve", "bob", "ada", "cid"] { _ = try await append(submission("x", by: member), to: store) }
        func members(upTo count: Int) async throws -> [String] {
            try await store.page(of: "c", .latest, upTo: 1, upToMembers: count).marks.map(\.member)
        }
        #expect(try await members(upTo: 3) == ["ada", "bob", "cid"])
        #expect(try await members(upTo: 10) == ["ada", "bob", "cid", "eve"])
        // The limit was greater when the others came.
        #expect(try await append(submission("x", by: "dan"), to: store, upToMembers: 3) == .full)
    }

    @Test(arguments: [-1, 1 << 60])
    func aMarkThatIsDamagedIsFound(_ number: Int64) async throws {
        let store = try SQLiteChatStore(at: folder.file)
        _ = try await append(submission("x"), to: store)
        try await store.close()
        try await DatabaseQueue(path: folder.file.path).write { database in
            try database.execute(sql: "UPDATE member SET read = ?", arguments: [number])
        }
        let damaged = try SQLiteChatStore(at: folder.file)
        await #expect {
            _ = try await damaged.page(of: "c", .latest, upTo: 1, upToMembers: 10)
        } throws: {
            ($0 as? ServerStorageError)?.kind == .corrupted
        }
    }

    @Test(arguments: Kind.allCases)
    func whatWasNotPublishedIsFound(_ kind: Kind) async throws {
        let store = try store(kind)
        for number in 1...3 { _ = try await append(submission("\(number)"), to: store) }
        _ = try await append(submission("x", in: "b"), to: store)
        #expect(try await store.unpublishedConversations(upTo: 10) == ["b", "c"])
        #expect(try await store.unpublishedConversations(upTo: 1) == ["b"])
        #expect(try await store.unpublished(in: "c", upTo: 2).map(\.number) == [1, 2])
        try await store.setPublished(through: 2, in: "c")
        try await store.setPublished(through: 1, in: "c")
        #expect(try await store.unpublished(in: "c", upTo: 10).map(\.number) == [3])
        try await store.setPublished(through: 3, in: "c")
        #expect(try await store.unpublishedConversations(upTo: 10) == ["b"])
    }

    @Test func fileHasEverythingAfterARestart() async throws {
        let first = submission("1")
        let store = try SQLiteChatStore(at: folder.file)
        _ = try await append(first, to: store)
        _ = try await store.mark(ChatMark(member: "bob", delivered: 1), in: "c", upToMembers: 10)
        try await store.close()
        let again = try SQLiteChatStore(at: folder.file)
        #expect(try await append(first, to: again) == .known(ChatMessage(first, number: 1, time: 7)))
        let second = submission("2")
        #expect(try await append(second, to: again) == .stored(ChatMessage(second, number: 2, time: 7)))
        #expect(try await again.unpublished(in: "c", upTo: 10).count == 2)
        #expect(try await again.page(of: "c", .latest, upTo: 1, upToMembers: 10).marks.count == 2)
    }

    @Test func memoryHasABound() async throws {
        let store = MemoryChatStore(maximumCount: 10)
        for number in 1...25 { _ = store.append(submission("\(number)"), at: 7, upToMembers: 10) }
        let page = store.page(of: "c", .after(0), upTo: 100, upToMembers: 10)
        #expect(page.first > 1 && page.last == 25 && page.messages.first?.number == page.first)
        #expect((10...11).contains(page.messages.count))
    }
}
