import Foundation
import Runway
import RunwayStreams
import RunwayTesting
import StreamFixtures
import Synchronization
import Testing

import struct Runway.EndpointPath

@testable import RunwayChat

private enum Quay: APIService {
    static let name = "quay"
    static let environments: [ServiceEnvironment: String] = [.release: "https://quay.example"]
    static let deadline = Duration.seconds(600)
}

private struct QuayEvents: EventStreamEndpoint {
    static let service = Quay.self
    var path: EndpointPath { "events" }
    var topics: Set<String>? { [] }
    var parameters: Runway.Parameters { [:] }
    func encode(to encoder: any Encoder) {}
}

/// Stores nothing before it is opened.
private final class HeldStore: ChatStateStore {
    private let base = MemoryChatStateStore()
    private let gate = AsyncStream<Void>.makeStream()

    func state(of conversation: String) async -> ChatState? { base.state(of: conversation) }
    func store(_ states: [String: ChatState]) async throws {
        for await _ in gate.stream {}
        base.store(states)
    }
    func open() { gate.continuation.finish() }
}

/// Stores no place, and counts how often it was asked to make the places durable.
private final class FlushedCursors: StreamCursorStore {
    private let count = Atomic(0)

    var flushCount: Int { count.load(ordering: .relaxed) }
    func cursor(for key: String) async -> StreamCursor? { nil }
    func store(_ cursor: StreamCursor?, for key: String) async {}
    func flush() async { _ = count.add(1, ordering: .relaxed) }
}

/// Whose conversations a client follows and stores, with a server that never responds.
@MainActor @Suite(.timeLimit(.minutes(5)))
struct ChatClientTests {
    private let transport = StubTransport { _ throws(NetworkError) in
        do { try await Task.sleep(for: .seconds(3600)) } catch {
            throw NetworkError(.cancelled, in: .transporting, "The call was cancelled.")
        }
        return .json("{}")
    }

    private func makeNetwork() -> NetworkLayer {
        var limits = LayerLimits()
        limits.tokenStoreDeadline = .seconds(300)
        return NetworkLayer(
            transport: transport, pipeline: .tested, limits: limits, status: SettableNetworkStatus())
    }

    private func makeClient(
        on network: NetworkLayer, store: (any ChatStateStore)? = nil, cursors: (any StreamCursorStore)? = nil
    ) -> ChatClient<QuayEvents> {
        ChatClient(member: "ada", on: network, stream: QuayEvents(), store: store, cursors: cursors)
    }

    @Test func callsAreMadeForNoOtherAccount() async throws {
        let network = makeNetwork()
        let calls = NetworkChatCalls<Quay>(network: network, base: "chat")
        // The first account that signs in is the one of the conversations.
        network.configure(Quay.self) { $0.account = "ada" }
        try calls.account.check()
        network.configure(Quay.self) { $0.account = nil }
        #expect(throws: NetworkError.self) { try calls.account.check() }
        network.configure(Quay.self) { $0.account = "bob" }
        let draft = ChatDraft(id: UUID(), text: "for Ada's friends", date: .distantPast)
        await #expect { _ = try await calls.send("harbour", draft) } throws: {
            ($0 as? NetworkError)?.kind == .cancelled
        }
        await #expect {
            _ = try await calls.mark("harbour", ChatMark(member: "ada", delivered: 1, read: 1))
        } throws: {
            ($0 as? NetworkError)?.kind == .cancelled
        }
        await #expect { _ = try await calls.page("harbour", .latest, upTo: 1) } throws: {
            ($0 as? NetworkError)?.kind == .cancelled
        }
        #expect(transport.requests.isEmpty)
    }

    @Test func clientDoesNotStartForAnotherAccount() async throws {
        let network = makeNetwork()
        network.configure(Quay.self) { $0.account = "ada" }
        let client = makeClient(on: network)
        let conversation = client.conversation("harbour")
        conversation.send("for Ada's friends")
        network.configure(Quay.self) { $0.account = nil }
        network.configure(Quay.self) { $0.account = "bob" }
        client.start()
        try await waitUntil("the end") { client.state == .ended }
        #expect(client.error?.kind == .cancelled && transport.requests.isEmpty)
    }

    @Test func signOutEndsTheClientWhateverAccountFollows() async throws {
        let network = makeNetwork()
        for name in ["ada", "ada", "ada", "bob"] {
            try await network.signIn(AccessToken("t1", account: "ada"), to: Quay.self)
            let client = makeClient(on: network)
            let count = transport.requests.count
            client.start()
            try await waitUntil("the opening") { transport.requests.count > count }
            try await network.signOut(of: Quay.self)
            try await network.signIn(AccessToken("t2", account: name), to: Quay.self)
            try await waitUntil("the end") { client.state == .ended }
            #expect(client.error?.kind == .cancelled)
            try await network.signOut(of: Quay.self)
        }
    }

    @Test func reopenedConversationKeepsWhatWasWritten() async throws {
        let store = HeldStore()
        let client = makeClient(on: makeNetwork(), store: store)
        client.start()
        let first = client.conversation("harbour")
        try await waitUntil("the state") { first.isReady }
        first.send("one")
        client.leave("harbour")
        let second = client.conversation("harbour")
        try await waitUntil("the state") { second.isReady }
        #expect(second !== first && second.entries.map(\.text) == ["one"])
        second.send("two")
        store.open()
        await client.flush()
        #expect(await store.state(of: "harbour")?.drafts.map(\.text) == ["one", "two"])
        // Once more, from the store.
        client.leave("harbour")
        await client.flush()
        let third = client.conversation("harbour")
        try await waitUntil("the state") { third.isReady }
        #expect(third.entries.map(\.text) == ["one", "two"])
        client.stop()
    }

    @Test func damagedStateCountsAsAbsent() async throws {
        let store = MemoryChatStateStore()
        var state = ChatState()
        state.last = .max
        store.store(["harbour": state])
        let client = makeClient(on: makeNetwork(), store: store)
        client.start()
        let conversation = client.conversation("harbour")
        try await waitUntil("the state") { conversation.isReady }
        #expect(conversation.machine.window.last == nil)
        client.stop()
    }

    @Test func draftsOfADamagedStateAreSent() async throws {
        let store = MemoryChatStateStore()
        var state = ChatState()
        state.last = .max
        let states: [ChatDraft.State] = [.sending, .stored(7), .queued, .failed("no")]
        state.drafts = states.map { one in
            var draft = ChatDraft(id: UUID(), text: "one", date: .distantPast)
            draft.state = one
            return draft
        }
        store.store(["harbour": state])
        let client = makeClient(on: makeNetwork(), store: store)
        client.start()
        let conversation = client.conversation("harbour")
        conversation.send("two")
        try await waitUntil("the state") { conversation.isReady }
        let drafts = conversation.machine.outbox.drafts
        #expect(drafts.map(\.state) == [.waiting, .waiting, .queued, .failed("no"), .waiting])
        #expect(drafts.dropLast().map(\.id) == state.drafts.map(\.id) && drafts.last?.text == "two")
        #expect(conversation.machine.window.last == nil)
        client.stop()
    }

    @Test func flushMakesThePlaceDurable() async {
        let cursors = FlushedCursors()
        let client = makeClient(on: makeNetwork(), cursors: cursors)
        await client.flush()
        #expect(cursors.flushCount == 1)
    }

    @Test func nothingIsStoredAfterStopAndFlush() async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "runway-chat-\(UUID())")
        defer { try? FileManager.default.removeItem(at: folder) }
        let client = makeClient(on: makeNetwork(), store: FileChatStateStore(folder: folder))
        client.start()
        let conversation = client.conversation("harbour")
        try await waitUntil("the state") { conversation.isReady }
        conversation.send("one")
        client.stop()
        await client.flush()
        #expect(await FileChatStateStore(folder: folder).state(of: "harbour")?.drafts.map(\.text) == ["one"])
        try FileManager.default.removeItem(at: folder)
        try await waitUntil("the end") { client.state == .ended }
        await client.flush()
        #expect(!FileManager.default.fileExists(atPath: folder.path))
    }
}
