import Foundation
import HTTPTypes
import Hummingbird
import Runway
import RunwayChat
import RunwayServer
import RunwayServerStorage
import RunwayStreams
import RunwayTesting
import RunwayTransport
import StreamFixtures
import Synchronization
import Testing

import struct Runway.EndpointPath

private protocol Harbour: APIService {}

extension Harbour {
    static var environments: [ServiceEnvironment: String] { [:] }
    static var deadline: Duration { .seconds(600) }
}

private enum AdasHarbour: Harbour {
    static let name = "adas-harbour"
    static let commonHeaders = ["Member": "ada"]
}

private enum BobsHarbour: Harbour {
    static let name = "bobs-harbour"
    static let commonHeaders = ["Member": "bob"]
}

private struct HarbourEvents<Service: APIService>: EventStreamEndpoint {
    static var service: Service.Type { Service.self }
    var path: EndpointPath { "events" }
    var topics: Set<String>? { [] }
    var parameters: Runway.Parameters { [:] }
    func encode(to encoder: any Encoder) {}
}

/// The log of a server in this process, which a killed server can't write to any more.
private final class MortalLog: EventLog {
    private let base: SQLiteEventLog
    private let isDead = Atomic(false)

    private struct Dead: Error {}

    init(_ base: SQLiteEventLog) { self.base = base }

    func kill() throws {
        isDead.store(true, ordering: .relaxed)
        try base.close()
    }

    func range() async throws -> EventLogRange { try await base.range() }

    func append(_ events: [PublishedEvent]) async throws -> EventLogRange {
        if isDead.load(ordering: .relaxed) { throw Dead() }
        return try await base.append(events)
    }

    func events(after offset: Int64, upTo maximumCount: Int) async throws -> (first: Int64, events: [PublishedEvent]) {
        try await base.events(after: offset, upTo: maximumCount)
    }
}

/// A server of conversations whose files survive it.
private final class HarbourServer {
    private let folder: URL
    /// The server that runs, or the one that was killed, which has the port reserved.
    private var latest: (server: StreamServer, store: SQLiteChatStore, log: MortalLog)?
    var port: Int { latest?.server.port ?? 0 }

    init(folder: URL) { self.folder = folder }

    func start() async throws {
        let log = MortalLog(try SQLiteEventLog(file: folder.appending(path: "events.sqlite")))
        let store = try SQLiteChatStore(at: folder.appending(path: "chat.sqlite"))
        var options = EventHubOptions()
        options.presenceGrace = .milliseconds(200)
        let hub = try await EventHub(name: "chat", log: log, options: options)
        let router = Router()
        let member = { @Sendable (request: Request) throws in
            guard let member = HTTPField.Name("Member").flatMap({ request.headers[$0] }) else {
                throw HTTPError(.unauthorized)
            }
            return member
        }
        EventStreamRoute(hub) { request, _ in EventPermission(owner: try member(request)) }.add(to: router)
        ChatRoutes(RunwayServer.ChatService(store: store, hub: hub)) { request, _, _ in try member(request) }.add(
            to: router)
        latest = (try await StreamServer.start(router, port: port), store, log)
    }

    func kill() async throws {
        guard let latest else { return }
        await latest.server.kill()
        // Its hub would soon publish that the members have left.
        try latest.log.kill()
        try await latest.store.close()
    }
}

/// Counts what a delegate is notified of.
@MainActor private final class Watcher: ChatConversationDelegate {
    private(set) var count = 0
    /// Whether a number was ever shown twice, or out of order.
    private(set) var isWrong = false

    func conversationDidChange(_ conversation: ChatConversation) {
        count += 1
        let numbers = conversation.entries.compactMap(\.number)
        if numbers != Array(Set(numbers)).sorted() { isWrong = true }
        if Set(conversation.entries.map(\.id)).count != conversation.entries.count { isWrong = true }
    }
}

/// Two clients and a server of conversations, over real sockets.
@MainActor @Suite(.timeLimit(.minutes(10)))
struct ChatSocketTests {
    private func network<Service: APIService>(_ service: Service.Type, port: Int) throws -> NetworkLayer {
        let network = NetworkLayer(
            transport: try NIOTransport(configuration: TransportConfiguration(connectTimeout: .seconds(300))),
            pipeline: .tested, status: SettableNetworkStatus())
        network.configure(service) { $0.baseURLs = [.release: "http://127.0.0.1:\(port)"] }
        return network
    }

    private func client<Service: APIService>(
        _ member: String, _ service: Service.Type, port: Int, in folder: URL
    ) throws -> ChatClient<HarbourEvents<Service>> {
        ChatClient(
            member: member, on: try network(service, port: port), stream: HarbourEvents<Service>(),
            streamOptions: hasty, store: FileChatStateStore(folder: folder.appending(path: member)),
            cursors: FileStreamCursorStore(file: folder.appending(path: "\(member).cursors")))
    }

    private func wait(for texts: [String], in conversation: ChatConversation) async throws {
        try await waitUntil("\(texts.count) messages for \(conversation.member)") {
            conversation.entries.count == texts.count && conversation.entries.allSatisfy { $0.number != nil }
        }
        #expect(Set(conversation.entries.map(\.text)) == Set(texts))
        #expect(conversation.entries.map(\.number) == (1...texts.count).map { Int64($0) })
    }

    @Test func messagesAppearOnceWhateverBecomesOfTheServer() async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "runway-chat-\(UUID())")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let server = HarbourServer(folder: folder)
        try await server.start()
        let (adasWatcher, bobsWatcher) = (Watcher(), Watcher())
        let ada = try client("ada", AdasHarbour.self, port: server.port, in: folder)
        var bob: ChatClient? = try client("bob", BobsHarbour.self, port: server.port, in: folder)
        let adas = ada.conversation("harbour", delegate: adasWatcher)
        var bobs = try #require(bob).conversation("harbour", delegate: bobsWatcher)
        ada.start()
        bob?.start()
        var texts = (1...10).map { "ada \($0)" }
        for text in texts { adas.send(text) }
        try await wait(for: texts, in: adas)
        try await wait(for: texts, in: bobs)
        #expect(bobs.unreadCount == 10)

        // Both write while there is no server.
        try await server.kill()
        for number in 11...15 { adas.send("ada \(number)") }
        for number in 1...5 { bobs.send("bob \(number)") }
        texts += (11...15).map { "ada \($0)" } + (1...5).map { "bob \($0)" }
        #expect(adas.entries.suffix(5).allSatisfy { $0.state == .pending })
        try await server.start()
        try await wait(for: texts, in: adas)
        try await wait(for: texts, in: bobs)
        #expect(adas.entries.map(\.id) == bobs.entries.map(\.id))
        #expect(adas.entries.filter { $0.sender == "ada" }.map(\.text) == (1...15).map { "ada \($0)" })

        // Read marks.
        bobs.markRead()
        try await waitUntil("bob has read") { adas.entries.last { $0.sender == "ada" }?.state == .read }
        #expect(bobs.unreadCount == 0)

        // Bob's app ends, and starts again with what it has stored.
        await bob?.flush()
        bob = nil
        adas.send("while bob is away")
        texts.append("while bob is away")
        try await wait(for: texts, in: adas)
        let again = try client("bob", BobsHarbour.self, port: server.port, in: folder)
        bobs = again.conversation("harbour", delegate: bobsWatcher)
        again.start()
        try await wait(for: texts, in: bobs)
        #expect(bobs.unreadCount == 1)
        #expect(!adasWatcher.isWrong && !bobsWatcher.isWrong && adasWatcher.count > 0)
        ada.stop()
        again.stop()
        try await server.kill()
    }

    @Test func conversationThatIsOpenedLaterIsFollowed() async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "runway-chat-\(UUID())")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let server = HarbourServer(folder: folder)
        try await server.start()
        let ada = try client("ada", AdasHarbour.self, port: server.port, in: folder)
        let bob = try client("bob", BobsHarbour.self, port: server.port, in: folder)
        let first = ada.conversation("first")
        ada.start()
        first.send("one")
        try await wait(for: ["one"], in: first)
        let (adas, bobs) = (ada.conversation("second"), bob.conversation("second"))
        bob.start()
        adas.send("two")
        try await wait(for: ["two"], in: bobs)
        bobs.send("three")
        try await wait(for: ["two", "three"], in: adas)
        try await wait(for: ["one"], in: first)
        #expect(ada.conversation("second") === adas)
        ada.stop()
        bob.stop()
        try await server.kill()
    }

    @Test func refusedMessageStaysUntilTheMemberDecides() async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "runway-chat-\(UUID())")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let server = HarbourServer(folder: folder)
        try await server.start()
        let ada = try client("ada", AdasHarbour.self, port: server.port, in: folder)
        let conversation = ada.conversation("harbour")
        ada.start()
        let long = try #require(conversation.send(String(repeating: "x", count: 20_000)))
        conversation.send("short")
        try await waitUntil("the short message is stored") {
            conversation.entries.contains { $0.text == "short" && $0.state == .sent }
        }
        let entry = try #require(conversation.entries.first { $0.id == long })
        #expect(entry.state == .failed && entry.reason == "The text is too long.")
        #expect(conversation.discard(long))
        #expect(conversation.entries.map(\.text) == ["short"])
        #expect(conversation.send("") == nil)
        ada.stop()
        try await server.kill()
    }

    @Test func presenceFollowsTheConnections() async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "runway-chat-\(UUID())")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let server = HarbourServer(folder: folder)
        try await server.start()
        let ada = try client("ada", AdasHarbour.self, port: server.port, in: folder)
        let bob = try client("bob", BobsHarbour.self, port: server.port, in: folder)
        let (adas, bobs) = (ada.conversation("harbour"), bob.conversation("harbour"))
        ada.start()
        try await waitUntil("ada is there") { adas.present == ["ada"] }
        bob.start()
        try await waitUntil("both are there") { adas.present == ["ada", "bob"] && bobs.present == ["ada", "bob"] }
        // Who was there before a restart is forgotten, and comes back with the streams.
        try await server.kill()
        try await server.start()
        try await waitUntil("both are back") { adas.isLive && bobs.isLive && adas.present == ["ada", "bob"] }
        bob.stop()
        try await waitUntil("bob has left") { adas.present == ["ada"] }
        ada.stop()
        try await server.kill()
    }
}
