import AsyncHTTPClient
import Foundation
import HTTPTypes
import Hummingbird
import Logging
import NIOCore
import NIOHTTP1
import RunwayServer
import RunwayTesting
import Synchronization
import Testing

/// The routes of conversations, over a socket.
@Suite(.timeLimit(.minutes(10)))
struct ChatRouteTests {
    private struct Broken: Error {}

    /// A store that has failed.
    private struct BrokenStore: ChatStore {
        func append(_: ChatSubmission, at _: Int64, upToMembers _: Int) throws -> ChatAppendResult { throw Broken() }
        func mark(_: ChatMark, in _: String, upToMembers _: Int) throws -> ChatMarkResult { throw Broken() }
        func remove(member _: String, from _: String) throws { throw Broken() }
        func page(of _: String, _: ChatRange, upTo _: Int, upToMembers _: Int) throws -> ChatPage { throw Broken() }
        func unpublished(in _: String, upTo _: Int) throws -> [ChatMessage] { throw Broken() }
        func setPublished(through _: Int64, in _: String) throws { throw Broken() }
        func unpublishedConversations(upTo _: Int) throws -> [String] { throw Broken() }
    }

    /// Which member was removed, and how often the app was asked.
    private final class Removal: Sendable {
        private let removed = Mutex<String?>(nil)
        private let count = Atomic(0)

        var checkCount: Int { count.load(ordering: .relaxed) }
        func remove(_ member: String) { removed.withLock { $0 = member } }
        func check(_ member: String) throws {
            count.wrappingAdd(1, ordering: .relaxed)
            if removed.withLock({ $0 }) == member { throw HTTPError(.notFound) }
        }
    }

    private struct Reply: Equatable {
        var status: Int
        var body: String

        init(_ status: Int, _ body: String) { (self.status, self.body) = (status, body) }
    }

    private struct Client: Sendable {
        let port: Int
        let client: HTTPClient

        /// Sends a request as a member; POST if there is a body.
        func send(
            _ path: String, _ body: String? = nil, as member: String? = "ada"
        ) async throws -> Reply {
            var request = HTTPClientRequest(url: "http://127.0.0.1:\(port)/v1/chat/" + path)
            request.method = body == nil ? .GET : .POST
            if let member { request.headers.add(name: "Member", value: member) }
            if let body { request.body = .bytes(ByteBuffer(string: body)) }
            let response = try await client.execute(request, timeout: .seconds(60))
            return Reply(Int(response.status.code), String(buffer: try await response.body.collect(upTo: 1 << 22)))
        }

        func reason(_ path: String, _ body: String? = nil) async throws -> Substring? {
            try await send(path, body).body.firstMatch(of: /urn:runway:chat:(\w+)/)?.1
        }
    }

    /// Serves the conversations whose names begin with `open` while `body` runs.
    private func run(
        store: any ChatStore = MemoryChatStore(), limits: ChatLimits = ChatLimits(),
        removal: Removal = Removal(), _ body: (Client) async throws -> Void
    ) async throws {
        let hub = try await EventHub(name: "chat")
        let service = ChatService(
            store: store, hub: hub, limits: limits, now: { Date(timeIntervalSince1970: 1_790_000_000) })
        let router = Router()
        ChatRoutes(service) { request, _, conversation in
            guard let member = HTTPField.Name("Member").flatMap({ request.headers[$0] }) else {
                throw HTTPError(.unauthorized)
            }
            guard conversation.hasPrefix("open") else { throw HTTPError(.forbidden) }
            try removal.check(member)
            return member
        }.add(to: router.group("v1"))
        let (ports, port) = AsyncStream<Int>.makeStream()
        let connections = OpenConnections()
        let app = Application(
            router: router, server: .http1(trackedBy: connections),
            configuration: .init(address: .hostname("127.0.0.1", port: 0)),
            onServerRunning: { channel in
                connections.add(channel)
                port.yield(channel.localAddress?.port ?? 0)
            },
            logger: Logger(label: "test", factory: { _ in SwiftLogNoOpLogHandler() }))
        let server = Task {
            try await connections.run { try await app.runService(gracefulShutdownSignals: []) }
        }
        defer { server.cancel() }
        var found = 0
        for await port in ports.prefix(1) { found = port }
        try await body(Client(port: found, client: .shared))
    }

    private let id = "01234567-89ab-cdef-0123-456789abcdef"

    @Test func messageIsStoredOnceAndOnItsPage() async throws {
        let store = MemoryChatStore()
        try await run(store: store) { (client) async throws in
            let epoch = "\"epoch\":\"\(try await store.epoch() ?? "")\","
            let text = """
                "conversation":"open1","number":1,"sender":"ada","id":"\(id)","text":"hé","time":1790000000000}
                """
            let body = #"{"id":"\#(id)","text":"hé"}"#
            #expect(try await client.send("open1/messages", body) == Reply(201, "{" + epoch + text))
            #expect(try await client.send("open1/messages", body) == Reply(200, "{" + epoch + text))
            let mark = #"{"conversation":"open1","member":"bob","delivered":1,"read":0}"#
            #expect(try await client.send("open1/marks", #"{"delivered":1,"read":0}"#, as: "bob") == Reply(200, mark))
            let marks =
                #"[{"member":"ada","delivered":0,"read":0},{"member":"bob","delivered":1,"read":0}]"#
            let page = #"{\#(epoch)"first":1,"last":1,"messages":[{\#(text)],"marks":\#(marks)}"#
            for query in ["", "?after=0", "?limit=1"] {
                #expect(try await client.send("open1/messages" + query) == Reply(200, page))
            }
            #expect(try await client.send("open1/members") == Reply(200, #"{"members":\#(marks)}"#))
        }
    }

    @Test func lastPageHasTheMarks() async throws {
        try await run { (client) async throws in
            for _ in 0..<3 { _ = try await client.send("open1/messages", #"{"id":"\#(UUID())","text":"x"}"#) }
            #expect(try await client.send("open1/messages?after=0&limit=2").body.contains("marks") == false)
            #expect(try await client.send("open1/messages?after=1&limit=2").body.contains("marks"))
            #expect(try await client.send("open1/messages?after=3").body.contains("marks"))
        }
    }

    @Test func refusalsNameTheirReasons() async throws {
        var limits = ChatLimits()
        limits.maximumTextByteCount = 10
        limits.maximumMemberCount = 1
        try await run(limits: limits) { (client) async throws in
            let send = "open1/messages"
            #expect(try await client.reason(send, "{") == "malformed")
            #expect(try await client.reason(send, #"{"id":"1","text":"x"}"#) == "malformed")
            #expect(try await client.reason(send, #"{"id":"\#(id)","text":""}"#) == "text")
            #expect(try await client.reason(send, #"{"id":"\#(id)","text":"\u0000"}"#) == "text")
            #expect(try await client.reason(send, #"{"id":"\#(id)","text":"12345678901"}"#) == "tooLarge")
            let long = String(repeating: "x", count: 5000)
            #expect(try await client.reason(send, #"{"id":"\#(id)","text":"\#(long)"}"#) == "tooLarge")
            #expect(try await client.send(send, #"{"id":"\#(id)","text":"x"}"#).status == 201)
            #expect(try await client.reason(send, #"{"id":"\#(id)","text":"y"}"#) == "mismatch")
            #expect(try await client.send(send, #"{"id":"\#(id)","text":"x"}"#, as: "bob").body.contains("chat:full"))
            for (body, detail) in [("{", "not JSON"), (#"{"text":"x"}"#, "`id`"), (#"{"id":"\#(id)"}"#, "`text`")] {
                #expect(try await client.send(send, body).body.contains(detail), "\(body)")
            }
            for query in ["after=x", "after=-1", "after=1&before=2", "limit=x", "after=99999999999999999999"] {
                #expect(try await client.reason("open1/messages?" + query) == "malformed", "\(query)")
            }
            #expect(try await client.reason("open1/marks", #"{"delivered":-1,"read":0}"#) == "malformed")
            #expect(try await client.reason("open%2F1/messages") == "conversation")
            #expect(try await client.reason("\(String(repeating: "o", count: 65))/messages") == "conversation")
        }
    }

    @Test func appDecidesWhoMayUseAConversation() async throws {
        try await run { (client) async throws in
            for path in ["open1/messages", "open1/members"] {
                #expect(try await client.send(path, as: nil).status == 401)
            }
            for path in ["closed/messages", "closed/members"] { #expect(try await client.send(path).status == 403) }
            for path in ["closed/messages", "closed/marks"] { #expect(try await client.send(path, "{}").status == 403) }
            #expect(try await client.send("open1/messages", as: nil).body.contains("urn:runway:chat:unauthenticated"))
            #expect(try await client.reason("closed/messages") == "forbidden")
        }
    }

    @Test(arguments: [("messages", #""text":"late","id":"#), ("marks", #""delivered":0,"read":"#)])
    func memberRemovedDuringASlowBodyIsRefused(_ path: String, _ members: String) async throws {
        let (store, removal) = (MemoryChatStore(), Removal())
        try await run(store: store, removal: removal) { (client) async throws in
            let connection = try await RawConnection(to: client.port)
            let rest = path == "marks" ? "0}" : #""\#(id)"}"#
            let length = "Content-Length: \(1 + (members + rest).utf8.count)"
            let fields = "Host: x\r\nMember: ada\r\nConnection: close\r\n\(length)"
            try await connection.send("POST /v1/chat/open1/\(path) HTTP/1.1\r\n\(fields)\r\n\r\n{\(members)")
            try await waitUntil("the first check") { removal.checkCount == 1 }
            removal.remove("ada")
            try await connection.send(rest)
            #expect(try await connection.rest().statuses == ["404"])
            let page = store.page(of: "open1", .latest, upTo: 10, upToMembers: 10)
            #expect(page.messages.isEmpty && page.marks.isEmpty)
        }
    }

    @Test func strangersBodyIsNotReadBeforeTheRefusal() async throws {
        let removal = Removal()
        removal.remove("eve")
        try await run(removal: removal) { (client) async throws in
            let connection = try await RawConnection(to: client.port, awaiting: "HTTP/1.1 404")
            let fields = "Host: x\r\nMember: eve\r\nContent-Length: 100"
            try await connection.send("POST /v1/chat/open1/messages HTTP/1.1\r\n\(fields)\r\n\r\n{")
            try await connection.waitForText()
            #expect(removal.checkCount == 1)
            try await connection.close()
        }
    }

    @Test func brokenStoreIsAProblemOfTheServer() async throws {
        try await run(store: BrokenStore()) { (client) async throws in
            #expect(try await client.reason("open1/messages", #"{"id":"\#(id)","text":"x"}"#) == "store")
            let reply = try await client.send("open1/members")
            #expect(reply.status == 503 && !reply.body.contains("Broken"))
        }
    }
}
