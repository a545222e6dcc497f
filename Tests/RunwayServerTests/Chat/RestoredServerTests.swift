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
import Testing

private enum Quay: APIService {
    static let name = "quay"
    static let environments: [ServiceEnvironment: String] = [:]
    static let deadline = Duration.seconds(600)
}

private struct QuayEvents: EventStreamEndpoint {
    static let service = Quay.self
    var path: Runway.EndpointPath { "events" }
    var topics: Set<String>? { [] }
    var parameters: Runway.Parameters { [:] }
    func encode(to encoder: any Encoder) {}
}

/// A server whose files are those of a backup, over real sockets, and an app that has seen what came after the backup.
@MainActor @Suite(.timeLimit(.minutes(10)))
struct RestoredServerTests {
    private let folder = FileManager.default.temporaryDirectory.appending(path: "runway-quay-\(UUID())")
    private var events: URL { folder.appending(path: "events") }
    private var chat: URL { folder.appending(path: "chat") }

    init() throws { try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true) }

    /// One run of the server, in which texts are sent before the app starts, and one of the app, which ends when it shows what is expected.
    private func run(sending texts: [String], showing expected: [String]) async throws {
        let log = try SQLiteEventLog(file: events)
        let store = try SQLiteChatStore(at: chat)
        let hub = try await EventHub(name: "chat", log: log)
        let service = ChatService(store: store, hub: hub)
        for text in texts {
            _ = try await service.send(ChatSubmission(conversation: "c", sender: "bob", id: UUID(), text: text))
        }
        let router = Router()
        EventStreamRoute(hub) { _, _ in EventPermission(owner: "ada") }.add(to: router)
        ChatRoutes(service) { _, _, _ in "ada" }.add(to: router)
        try await serving(router) { port in
            let transport = try NIOTransport(configuration: TransportConfiguration(connectTimeout: .seconds(300)))
            let network = NetworkLayer(transport: transport)
            network.configure(Quay.self) { $0.baseURLs = [.release: "http://127.0.0.1:\(port)"] }
            let client = ChatClient(
                member: "ada", on: network, stream: QuayEvents(),
                store: FileChatStateStore(folder: folder.appending(path: "app")),
                cursors: FileStreamCursorStore(file: folder.appending(path: "cursors")))
            let conversation = client.conversation("c")
            client.start()
            try await waitUntil("\(expected)") { conversation.isLive && conversation.entries.map(\.text) == expected }
            client.stop()
            await client.flush()
            await transport.shutdown(waitingAtMost: .zero)
        }
        try await store.close()
        try log.close()
    }

    private func copy(_ files: [URL], from: String = "", to: String = "") throws {
        for file in files {
            for ending in ["", "-wal", "-shm"] {
                let (source, target) = (file.path + from + ending, file.path + to + ending)
                try? FileManager.default.removeItem(atPath: target)
                guard FileManager.default.fileExists(atPath: source) else { continue }
                try FileManager.default.copyItem(atPath: source, toPath: target)
            }
        }
    }

    /// - Parameter keepsEvents: Whether the backup has the conversations alone, and the log of events goes on.
    @Test(arguments: [false, true])
    func messagesUnderLostNumbersAreShown(keepsEvents: Bool) async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let restored = keepsEvents ? [chat] : [chat, events]
        try await run(sending: ["1", "2"], showing: ["1", "2"])
        try copy(restored, to: ".backup")
        try await run(sending: ["lost 3", "lost 4"], showing: ["1", "2", "lost 3", "lost 4"])
        try copy(restored, from: ".backup")
        try SQLiteChatStore.beginEpoch(at: chat)
        if !keepsEvents { try SQLiteEventLog.beginEpoch(at: events) }
        // The first two have the numbers of the lost ones.
        try await run(sending: ["3", "4", "5"], showing: ["1", "2", "3", "4", "5"])
        try await run(sending: ["6"], showing: ["1", "2", "3", "4", "5", "6"])
    }

    @Test func followersOfARestoredLogReceiveAReset() async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        func append(_ texts: String...) async throws -> EventLogRange {
            let log = try SQLiteEventLog(file: events)
            let range = try await log.append(texts.map { PublishedEvent(topic: "all", data: $0) })
            try log.close()
            return range
        }
        _ = try await append("1")
        try copy([events], to: ".backup")
        let lost = try await append("lost 2", "lost 3")
        try copy([events], from: ".backup")
        let epoch = try SQLiteEventLog.beginEpoch(at: events)
        let restored = try await append("2", "3", "4")
        // The offsets go on, and the place of a client after the lost events is in another numbering.
        #expect(restored == EventLogRange(epoch: epoch, first: 1, last: 4) && lost.epoch != epoch)
    }

    @Test func fileInUseOrForeignGetsNoEpoch() async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        func expect(_ kind: ServerStorageError.Kind, _ body: () throws -> String) {
            #expect(throws: ServerStorageError.self) { _ = try body() }
            do { _ = try body() } catch let error as ServerStorageError { #expect(error.kind == kind) } catch {}
        }
        expect(.missing) { try SQLiteEventLog.beginEpoch(at: events) }
        expect(.missing) { try SQLiteChatStore.beginEpoch(at: chat) }
        let (log, store) = (try SQLiteEventLog(file: events), try SQLiteChatStore(at: chat))
        expect(.locked) { try SQLiteEventLog.beginEpoch(at: events) }
        expect(.locked) { try SQLiteChatStore.beginEpoch(at: chat) }
        try log.close()
        try await store.close()
        expect(.foreign) { try SQLiteEventLog.beginEpoch(at: chat) }
        expect(.foreign) { try SQLiteChatStore.beginEpoch(at: events) }
    }
}
