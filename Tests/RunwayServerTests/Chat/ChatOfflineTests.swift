import Foundation
import HTTPTypes
import Hummingbird
import Logging
import Runway
import RunwayChat
import RunwayServer
import RunwayStorage
import RunwayStreams
import RunwayTesting
import RunwayTransport
import Synchronization
import Testing

private enum Pier: APIService {
    static let name = "pier"
    static let environments: [ServiceEnvironment: String] = [:]
    static let deadline = Duration.seconds(600)
    static let commonHeaders = ["Member": "ada"]
}

private struct PierEvents: EventStreamEndpoint {
    static let service = Pier.self
    var path: Runway.EndpointPath { "events" }
    var topics: Set<String>? { [] }
    var parameters: Runway.Parameters { [:] }
    func encode(to encoder: any Encoder) {}
}

/// A server of conversations that counts what is sent to it, and may report a failure although it has stored a message, or refuse one.
private final class PierServer: RouterMiddleware {
    let store = MemoryChatStore()
    private let refusals: Mutex<Int>
    private let failures: Mutex<Int>
    private let count = Atomic(0)

    /// How many requests with messages came.
    var requestCount: Int { count.load(ordering: .relaxed) }
    var texts: [String] { store.page(of: "harbour", .after(0), upTo: 100, upToMembers: 10).messages.map(\.text) }

    init(failures: Int = 0, refusals: Int = 0) {
        self.failures = Mutex(failures)
        self.refusals = Mutex(refusals)
    }

    func handle(
        _ request: Hummingbird.Request, context: BasicRequestContext,
        next: @concurrent (Hummingbird.Request, BasicRequestContext) async throws -> Hummingbird.Response
    ) async throws -> Hummingbird.Response {
        guard request.method == .post, request.uri.path.hasSuffix("/messages") else {
            return try await next(request, context)
        }
        count.wrappingAdd(1, ordering: .relaxed)
        if Self.takeOne(of: refusals) { return Hummingbird.Response(status: .unprocessableContent) }
        let response = try await next(request, context)
        return Self.takeOne(of: failures) ? Hummingbird.Response(status: .serviceUnavailable) : response
    }

    private static func takeOne(of rest: borrowing Mutex<Int>) -> Bool {
        rest.withLock { rest in
            rest -= 1
            return rest >= 0
        }
    }

    /// Serves while `body` runs with the port.
    @MainActor func run(_ body: @MainActor (Int) async throws -> Void) async throws {
        let hub = try await EventHub(name: "chat")
        let member = { @Sendable (request: Hummingbird.Request) throws in
            guard let member = HTTPField.Name("Member").flatMap({ request.headers[$0] }) else {
                throw HTTPError(.unauthorized)
            }
            return member
        }
        let router = Router()
        router.add(middleware: self)
        EventStreamRoute(hub) { request, _ in EventPermission(owner: try member(request)) }.add(to: router)
        ChatRoutes(ChatService(store: store, hub: hub)) { request, _, _ in try member(request) }.add(to: router)
        try await serving(router, body)
    }
}

/// One run of an app, over files that the next run finds.
@MainActor private struct PierApp {
    let status: SettableNetworkStatus
    let queue: OfflineQueue
    let conversation: ChatConversation
    private let client: ChatClient<PierEvents>
    private let transport: NIOTransport

    init(in folder: URL, port: Int, _ status: NetworkStatus = .wifi) throws {
        self.status = SettableNetworkStatus(status)
        var options = OfflineQueueOptions()
        options.baseWait = .milliseconds(20)
        queue = OfflineQueue(
            at: folder.appending(path: "changes/changes.sqlite"),
            replaying: [ReplayedEndpoint(ChatSend<Pier>.self)], options: options)
        transport = try NIOTransport(configuration: TransportConfiguration(connectTimeout: .seconds(300)))
        let network = NetworkLayer(transport: transport, offlineQueue: queue, status: self.status)
        network.configure(Pier.self) { $0.baseURLs = [.release: "http://127.0.0.1:\(port)"] }
        var reconnection = StreamOptions()
        reconnection.backoff = .milliseconds(20)
        client = ChatClient(
            member: "ada", on: network, stream: PierEvents(), streamOptions: reconnection,
            store: FileChatStateStore(folder: folder.appending(path: "chat")),
            cursors: FileStreamCursorStore(file: folder.appending(path: "cursors")))
        conversation = client.conversation("harbour")
        client.start()
    }

    func end() async {
        client.stop()
        await client.flush()
        await queue.close()
        await transport.shutdown(waitingAtMost: .zero)
    }
}

/// Messages in the offline queue of an app that ends and starts again, over real sockets and files.
@MainActor @Suite(.timeLimit(.minutes(10)))
struct ChatOfflineTests {
    private func withFolder(_ body: (URL) async throws -> Void) async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "runway-pier-\(UUID())")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        try await body(folder)
    }

    @Test(arguments: [0, 1, 2])
    func messageWrittenOfflineArrivesOnceAfterARestart(_ failures: Int) async throws {
        let server = PierServer(failures: failures)
        try await withFolder { folder in
            try await server.run { port in
                let first = try PierApp(in: folder, port: port)
                try await waitUntil("the stream") { first.conversation.isLive }
                first.status.set(.none)
                first.conversation.send("from the tunnel")
                try await waitUntil("the queue") { first.conversation.entries.first?.state == .queued }
                #expect(try await first.queue.changes().count == 1)
                await first.end()
                #expect(server.requestCount == 0 && server.texts.isEmpty)

                // Still without a network.
                let second = try PierApp(in: folder, port: port, .none)
                try await waitUntil("the stored message") { second.conversation.entries.first?.state == .queued }
                #expect(try await second.queue.changes().count == 1)
                await second.end()

                let third = try PierApp(in: folder, port: port)
                try await waitUntil("the message") { third.conversation.entries.first?.state == .sent }
                try await waitUntil("the end of the queue") { try await third.queue.changes().isEmpty }
                #expect(third.conversation.entries.map(\.text) == ["from the tunnel"])
                #expect(server.texts == ["from the tunnel"])
                #expect(server.requestCount == failures + 1)
                await third.end()
            }
        }
    }

    @Test func refusedMessageInTheQueueHoldsNoOther() async throws {
        let server = PierServer(refusals: 1)
        try await withFolder { folder in
            try await server.run { port in
                let app = try PierApp(in: folder, port: port)
                try await waitUntil("the stream") { app.conversation.isLive }
                app.status.set(.none)
                app.conversation.send("refused")
                app.conversation.send("from the tunnel")
                try await waitUntil("the queue") { try await app.queue.changes().count == 2 }
                app.status.set(.wifi)
                try await waitUntil("the second message") { server.texts == ["from the tunnel"] }
                app.conversation.send("in the open")
                try await waitUntil("the third message") { server.texts == ["from the tunnel", "in the open"] }
                let refused = try #require(app.conversation.entries.first { $0.text == "refused" })
                #expect(refused.state == .queued)
                app.conversation.retry(refused.id)
                try await waitUntil("the first message") { server.texts.last == "refused" }
                #expect(server.texts.count == 3)
                await app.end()
            }
        }
    }
}
