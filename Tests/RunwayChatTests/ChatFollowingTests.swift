import Foundation
import HTTPTypes
import Runway
import RunwayStreams
import RunwayTesting
import StreamFixtures
import Synchronization
import Testing

@testable import RunwayChat

/// Which conversations a client follows and stores, over a stream that a test plays.
@MainActor @Suite(.timeLimit(.minutes(5)))
struct ChatFollowingTests {
    private struct Unstorable: Error {}

    /// Stores no state of one conversation.
    private final class PartialStore: ChatStateStore {
        private let base = MemoryChatStateStore()
        /// Guards whether all states can be stored.
        private let isRepaired = Mutex(false)

        func state(of conversation: String) async -> ChatState? { base.state(of: conversation) }

        func store(_ states: [String: ChatState]) async throws {
            if states["broken"] != nil, !isRepaired.withLock({ $0 }) { throw Unstorable() }
            base.store(states)
        }

        func repair() { isRepaired.withLock { $0 = true } }
    }

    private let server = FakeEvents()
    private let cursors = MemoryStreamCursorStore()
    /// The end of what a link replays.
    private let live = "id: e-0\nevent: runway.live\ndata: {}\n\n"

    private func makeClient(
        store: (any ChatStateStore)? = nil, clock: LayerClock = .system
    ) -> ChatClient<News> {
        let network = NetworkLayer(
            transport: server, pipeline: .tested, clock: clock, status: SettableNetworkStatus())
        network.configure(Newsroom.self) { $0.baseURLs = [.release: "https://news.example"] }
        return ChatClient(
            member: "ada", on: network, stream: News([]), streamOptions: hasty, store: store, cursors: cursors)
    }

    private func link(_ number: Int) async throws -> FakeLink {
        try await waitUntil("link \(number)") { server.links.count >= number }
        return server.links[number - 1]
    }

    /// Opens the first link, and waits until the client has its beginning: from then on changes of topics are sent on it.
    private func openFirstLink() async throws -> FakeLink {
        let first = try await link(1)
        first.open("reset", at: 0)
        try await waitUntil("the connection") { cursors.cursor(for: "chat/ada") != nil }
        return first
    }

    private func json(_ number: Int) -> String {
        #"{"number":\#(number),"sender":"bob","id":"\#(UUID().uuidString)","text":"hello","time":0}"#
    }

    private func message(_ number: Int, in conversation: String) -> String {
        "id: e-\(number)\nevent: chat.message\ntopic: chat/\(conversation)\ndata: \(json(number))\n\n"
    }

    /// How many changes of topics asked for a conversation.
    private func changeCount(of conversation: String) -> Int {
        server.changes.count { $0.added == ["chat/\(conversation)"] }
    }

    /// The server has one message, which the stream has passed by.
    private func storeMessage() { server.setPage(#"{"messages":[\#(json(1))],"first":1,"last":1,"marks":[]}"#) }

    /// Signs in, opens a conversation, and waits until the server has refused its mark.
    private func openWithARefusedMark() async throws -> (ChatClient<News>, ChatConversation) {
        let client = makeClient()
        try await client.network.signIn(AccessToken("t1", account: "ada"), to: Newsroom.self)
        storeMessage()
        server.refuseChange(.conflict)
        let staff = client.conversation("staff")
        client.start()
        let link = try await link(1)
        link.open("reset", at: 0)
        link.send(live)
        try await waitUntil("the refusal") { staff.machine.hasRefusal && client.state == .open }
        #expect(staff.markRefusalReason.contains("409"))
        return (client, staff)
    }

    @Test func clientPausedWhileItOpensWaitsForResume() async throws {
        let client = makeClient()
        let harbour = client.conversation("harbour")
        client.start()
        // The stored states have not been read yet.
        client.pause()
        try await waitUntil("the pause") { client.state == .paused }
        #expect(server.links.isEmpty)
        client.resume()
        let link = try await link(1)
        link.open("reset", at: 0)
        link.send(live)
        try await waitUntil("the end of the replay") { harbour.isLive }
        client.stop()
    }

    @Test func clientResumedWhileItOpensConnects() async throws {
        let client = makeClient()
        client.pause()
        client.start()
        client.resume()
        _ = try await link(1)
        client.stop()
    }

    @Test func removedMemberLosesThatConversationOnly() async throws {
        let client = makeClient()
        let (harbour, staff) = (client.conversation("harbour"), client.conversation("staff"))
        client.start()
        let link = try await link(1)
        link.open("reset", at: 0, refusing: ["chat/staff"])
        link.send(live + message(1, in: "harbour"))
        try await waitUntil("the message") { harbour.entries.count == 1 }
        #expect(staff.isRefused && !harbour.isRefused && client.state != .ended)
        try await waitUntil("the other conversation") { harbour.isLive }
        #expect(!staff.isLive && !server.pagePaths.contains { $0.contains("staff") })
        client.stop()
    }

    @Test func readmittedMemberReceivesWhatWasPublishedMeanwhile() async throws {
        let client = makeClient()
        let staff = client.conversation("staff")
        client.start()
        let first = try await link(1)
        first.open("reset", at: 0)
        first.send(live)
        try await waitUntil("the first page") { staff.isLive && staff.machine.window.last == 0 }
        first.end()
        let second = try await link(2)
        second.open("resumed", at: 0, refusing: ["chat/staff"])
        try await waitUntil("the removal") { staff.isRefused }
        storeMessage()
        second.end()
        try await link(3).open("resumed", at: 0)
        try await waitUntil("the message") { staff.entries.count == 1 }
        #expect(!staff.isRefused)
        client.stop()
    }

    @Test func readmissionAfterAStopFetchesToo() async throws {
        let client = makeClient()
        let staff = client.conversation("staff")
        client.start()
        let first = try await link(1)
        first.open("reset", at: 0)
        try await waitUntil("the first page") { staff.machine.window.last == 0 }
        server.loseTopics(["chat/staff"])
        _ = client.conversation("harbour")
        try await waitUntil("the loss") { staff.isRefused }
        await client.flush()
        client.stop()
        storeMessage()
        client.start()
        let second = try await link(2)
        #expect(second.topics == ["chat/harbour", "chat/staff"])
        second.open("resumed", at: 0)
        try await waitUntil("the message") { staff.entries.count == 1 }
        client.stop()
    }

    @Test func conversationThatIsRefusedIsReported() async throws {
        let client = makeClient()
        client.start()
        let first = try await openFirstLink()
        server.refuseChange(.forbidden)
        let staff = client.conversation("staff")
        try await waitUntil("the refusal") { staff.isRefused }
        #expect(staff.refusalReason.contains("403"))
        first.end()
        #expect(try await link(2).topics.isEmpty, "the stream goes on without it")
        client.stop()
    }

    @Test func refusedConversationIsAskedForAtEachConnection() async throws {
        let client = makeClient()
        client.start()
        let first = try await openFirstLink()
        for _ in 1...2 { server.refuseChange(.forbidden) }
        let staff = client.conversation("staff")
        try await waitUntil("the refusal") { staff.isRefused }
        storeMessage()
        first.end()
        let second = try await link(2)
        second.open("resumed", at: 0)
        second.send(live)
        try await waitUntil("the second refusal") { changeCount(of: "staff") == 2 }
        // Changes of topics are sent one after the other: the client has the refusal when it follows another conversation.
        let harbour = client.conversation("harbour")
        try await waitUntil("the other conversation") { harbour.entries.count == 1 }
        #expect(staff.isRefused && !server.pagePaths.contains { $0.contains("staff") })
        second.end()
        let third = try await link(3)
        #expect(third.topics == ["chat/harbour"])
        third.open("resumed", at: 0)
        third.send(live)
        try await waitUntil("the message") { staff.entries.count == 1 }
        #expect(!staff.isRefused && changeCount(of: "staff") == 3)
        client.stop()
    }

    @Test func refusedPagesAreFetchedAtTheNextConnection() async throws {
        let client = makeClient()
        server.setPage(#"{"title":"No room","detail":"You have left."}"#, status: .notFound)
        let staff = client.conversation("staff")
        client.start()
        let first = try await link(1)
        first.open("reset", at: 0)
        try await waitUntil("the refusal") { staff.isRefused }
        #expect(staff.refusalReason == "You have left.")
        storeMessage()
        first.end()
        try await link(2).open("resumed", at: 0)
        try await waitUntil("the message") { staff.entries.count == 1 }
        #expect(!staff.isRefused && staff.refusalReason.isEmpty && server.pagePaths.count == 2)
        client.stop()
    }

    @Test func refusedPagesAreFetchedAfterASignIn() async throws {
        let client = makeClient()
        try await client.network.signIn(AccessToken("t1", account: "ada"), to: Newsroom.self)
        server.setPage("", status: .forbidden)
        let staff = client.conversation("staff")
        client.start()
        try await link(1).open("reset", at: 0)
        try await waitUntil("the refusal") { staff.isRefused && client.state == .open }
        storeMessage()
        try await client.network.signIn(AccessToken("t2", account: "ada"), to: Newsroom.self)
        try await waitUntil("the message") { staff.entries.count == 1 }
        #expect(!staff.isRefused && server.links.count == 1)
        client.stop()
    }

    @Test func refusedPagesAreFetchedAfterAMinute() async throws {
        let clock = ManualClock()
        let client = makeClient(clock: LayerClock(clock))
        server.setPage("", status: .notFound)
        let staff = client.conversation("staff")
        client.start()
        let link = try await link(1)
        link.open("reset", at: 0)
        try await waitUntil("the refusal") { staff.isRefused }
        link.send(live)
        try await waitUntil("the end of the replay") { staff.machine.isCaughtUp }
        #expect(!staff.isLive)
        storeMessage()
        clock.advance(by: ChatMachine.refusalPause)
        try await waitUntil("the message") { staff.entries.count == 1 }
        #expect(!staff.isRefused && staff.isLive && server.links.count == 1)
        client.stop()
    }

    @Test func signInRepeatsARefusedMark() async throws {
        let (client, staff) = try await openWithARefusedMark()
        #expect(!staff.isRefused && staff.isLive)
        #expect(server.markCount == 1)
        try await client.network.signIn(AccessToken("t2", account: "ada"), to: Newsroom.self)
        try await waitUntil("the mark") { server.markCount == 2 }
        client.stop()
    }

    @Test func refusedConversationEndsWithItsAccount() async throws {
        let (client, staff) = try await openWithARefusedMark()
        try await client.network.signIn(AccessToken("t2", account: "bob"), to: Newsroom.self)
        try await waitUntil("the end") { client.state == .ended }
        #expect(!staff.isLive && staff.machine.deadline == nil && server.markCount == 1)
        client.stop()
    }

    @Test func lostConversationSendsNothing() async throws {
        let client = makeClient()
        let staff = client.conversation("staff")
        client.start()
        let link = try await link(1)
        link.open("reset", at: 0)
        link.send(live)
        try await waitUntil("the first page") { staff.isLive && staff.machine.window.last == 0 }
        server.loseTopics(["chat/staff"])
        // The app comes to the foreground: the response to the probe names the topic.
        client.resume()
        try await waitUntil("the loss") { staff.isRefused }
        staff.send("later")
        #expect(!staff.isLive && staff.machine.outbox.drafts.map(\.state) == [.waiting])
        client.stop()
    }

    @Test func nextLinkHasAConversationWhoseChangeFailed() async throws {
        let client = makeClient()
        client.start()
        _ = try await openFirstLink()
        server.refuseChange(.serviceUnavailable)
        let harbour = client.conversation("harbour")
        let second = try await link(2)
        #expect(second.topics == ["chat/harbour"] && second.field("Last-Event-ID") == "e-0")
        second.open("resumed", at: 0)
        second.send(message(1, in: "harbour"))
        try await waitUntil("the message") { harbour.entries.count == 1 }
        #expect(!harbour.isRefused)
        client.stop()
    }

    @Test(arguments: ["", "a b", "å", String(repeating: "x", count: 65), String(repeating: "x", count: 200), "a/b"])
    func nameThatNoServerAllowsIsRefused(_ name: String) async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "runway-chat-\(UUID())")
        defer { try? FileManager.default.removeItem(at: folder) }
        let client = makeClient(store: FileChatStateStore(folder: folder))
        let (conversation, sound) = (client.conversation(name), client.conversation("harbour"))
        #expect(conversation.isRefused && conversation.send("lost") == nil && !sound.isRefused)
        #expect(!conversation.refusalReason.isEmpty && sound.refusalReason.isEmpty)
        client.start()
        #expect(try await link(1).topics == ["chat/harbour"])
        sound.send("stored")
        await client.flush()
        #expect(await FileChatStateStore(folder: folder).state(of: "harbour")?.drafts.count == 1)
        #expect(client.storageError == nil)
        client.stop()
    }

    @Test func unstorableStateBlocksNoOther() async throws {
        let store = PartialStore()
        let client = makeClient(store: store)
        let (sound, broken) = (client.conversation("harbour"), client.conversation("broken"))
        client.start()
        let link = try await link(1)
        link.open("reset", at: 0)
        link.send(message(1, in: "harbour") + "id: e-9\n\n")
        try await waitUntil("the place") { cursors.cursor(for: "chat/ada")?.lastEventID == "e-9" }
        broken.send("one")
        sound.send("two")
        try await waitUntil("the error") { client.storageError is Unstorable }
        await client.flush()
        #expect(await store.state(of: "harbour")?.drafts.map(\.text) == ["two"])
        #expect(await store.state(of: "broken") == nil)
        store.repair()
        broken.send("three")
        try await waitUntil("the state") { client.storageError == nil }
        await client.flush()
        #expect(await store.state(of: "broken")?.drafts.map(\.text) == ["one", "three"])
        client.stop()
    }
}
