import AsyncHTTPClient
import Foundation
import Hummingbird
import NIOCore
import NIOHTTP1
import Runway
import RunwayServer
import RunwayTesting
import Testing

/// What the route refuses, over a socket.
@Suite(.timeLimit(.minutes(10)))
struct ActionLogRefusalTests {
    /// A sink that throws.
    private struct FailingSink: ActionLogSink {
        let error: any Error
        func store(_ batch: RunwayServer.ActionLogBatch) async throws -> ActionLogStorage { throw error }
    }

    /// A request that is refused.
    enum Refused: CaseIterable, Sendable {
        case busy, failing, rejected, installation, source, full, bomb, values, longName, longAccount, nullCharacter
        case noRecords, malformed, malformedGzip, otherCoding, tooLarge, largeRecord

        var status: Int {
            switch self {
            case .busy, .installation, .source: 429
            case .failing, .full: 503
            case .rejected, .longName, .longAccount, .nullCharacter, .noRecords, .malformed, .malformedGzip: 400
            case .bomb, .values, .tooLarge, .largeRecord: 413
            case .otherCoding: 415
            }
        }

        var reason: String {
            switch self {
            case .busy, .installation, .source, .full, .rejected: "\(self)"
            case .failing: "store"
            case .longName, .longAccount, .nullCharacter, .noRecords, .malformed, .malformedGzip: "malformed"
            case .bomb, .values, .tooLarge, .largeRecord: "tooLarge"
            case .otherCoding: "coding"
            }
        }

        var retryAfter: String? {
            switch self {
            case .busy, .failing: "5"
            case .installation, .full: "600"
            case .source: "7"
            default: nil
            }
        }

        var error: (any Error)? {
            switch self {
            case .busy: StoreRefusal.busy
            case .installation: StoreRefusal.installation()
            case .source: StoreRefusal.source(retryAfter: .seconds(7))
            case .full: StoreRefusal.full()
            case .failing: CocoaError(.fileNoSuchFile)
            case .rejected: StoreRefusal.rejected
            default: nil
            }
        }

        var coding: String? {
            switch self {
            case .bomb, .values, .largeRecord: "gzip"
            case .malformedGzip: "GZIP"
            case .otherCoding: "br"
            default: nil
            }
        }

        var body: [UInt8] {
            let long = String(repeating: "x", count: 513)
            return switch self {
            case .busy, .failing, .rejected, .installation, .source, .full, .otherCoding: ActionLogRefusalTests.batch()
            case .values:
                ActionLogRefusalTests.gzip(
                    ActionLogRefusalTests.batch(properties: "[" + String(repeating: "0,", count: 1 << 18) + "0]"))
            case .largeRecord:
                ActionLogRefusalTests.gzip(
                    ActionLogRefusalTests.batch(properties: "\"" + String(repeating: "x", count: 1 << 20) + "\""))
            case .bomb: ActionLogRefusalTests.gzip([UInt8](repeating: 32, count: 9 << 20))
            case .longName: ActionLogRefusalTests.batch(name: long)
            case .longAccount: ActionLogRefusalTests.batch(account: long)
            case .nullCharacter: ActionLogRefusalTests.batch(name: #"a\u0000b"#)
            case .noRecords:
                Array(#"{"installation":"\#(UUID())","stream":"\#(UUID())","batch":1,"records":[]}"#.utf8)
            case .malformed: Array("{".utf8)
            case .malformedGzip: Array("no gzip".utf8)
            case .tooLarge: [UInt8](repeating: 32, count: 1 << 20 + 1)
            }
        }
    }

    private static func gzip(_ bytes: [UInt8]) -> [UInt8] {
        GzipEncoder(level: 9)?.encode(bytes, isLast: true) ?? []
    }

    private static func batch(
        name: String = "opened", account: String = "ada", properties: String = "0"
    ) -> [UInt8] {
        let (id, stream) = (UUID(), UUID())
        return Array(
            #"""
            {"installation":"\#(id)","stream":"\#(stream)","batch":1,"account":"\#(account)","sent":1,
            "records":[{"seq":1,"id":"\#(id)","time":1,"boot":"","uptime":1,"session":"\#(id)","name":"\#(name)",
            "properties":{"a":\#(properties)}}]}
            """#.utf8)
    }

    /// Sends a body to a port.
    private static func send(
        _ body: HTTPClientRequest.Body, to port: Int, coding: String? = nil
    ) async throws -> (code: Int, retryAfter: String?, problem: [String: Any]) {
        var request = HTTPClientRequest(url: "http://127.0.0.1:\(port)/log")
        request.method = .POST
        request.body = body
        if let coding { request.headers.add(name: "Content-Encoding", value: coding) }
        let response = try await HTTPClient.shared.execute(request, timeout: .seconds(60))
        let bytes = try await response.body.collect(upTo: 1 << 20)
        let problem = try JSONSerialization.jsonObject(with: Data(bytes.readableBytesView)) as? [String: Any] ?? [:]
        return (Int(response.status.code), response.headers.first(name: "retry-after"), problem)
    }

    @Test(arguments: Refused.allCases) func requestIsRefused(_ refused: Refused) async throws {
        let sink = MemoryActionLogSink()
        let router = Router()
        if let error = refused.error {
            ActionLogRoute(to: FailingSink(error: error)).add(to: router)
        } else {
            ActionLogRoute(to: sink).add(to: router)
        }
        try await serving(router) { port in
            let reply = try await Self.send(.bytes(refused.body), to: port, coding: refused.coding)
            #expect(reply.code == refused.status && reply.retryAfter == refused.retryAfter, "\(refused)")
            #expect(reply.problem["type"] as? String == "urn:runway:log:\(refused.reason)", "\(refused)")
            #expect(reply.problem["status"] as? Int == refused.status && reply.problem["title"] is String)
        }
        #expect(sink.records.isEmpty)
    }

    /// Each member that the format requires, where it is, and what is no value of it.
    @Test(
        arguments: [
            (nil, "installation", "7"), (nil, "stream", "\"x\""), (nil, "batch", "0"), (nil, "records", "{}"),
            (0, "seq", "-1"), (0, "id", "\"x\""), (0, "time", "\"1\""), (0, "boot", "1"), (0, "uptime", "1.5"),
            (0, "session", "null"), (0, "name", "{}"),
        ] as [(Int?, String, String)])
    func requiredMemberIsNamed(_ place: Int?, _ member: String, _ wrong: String) async throws {
        let sink = MemoryActionLogSink()
        let router = Router()
        ActionLogRoute(to: sink).add(to: router)
        let whole = String(decoding: Self.batch(), as: UTF8.self)
        let path = place == nil ? member : "records[0].\(member)"
        // Whatever follows the name is another member's.
        let absent = whole.replacing("\"\(member)\":", with: "\"other\":")
        let invalid = whole.replacing("\"\(member)\":", with: "\"\(member)\":\(wrong),\"other\":")
        try await serving(router) { port in
            for body in [absent, invalid] {
                let reply = try await Self.send(.bytes(Array(body.utf8)), to: port)
                #expect(reply.code == 400, "\(body)")
                #expect((reply.problem["detail"] as? String)?.hasPrefix("\(path) is ") == true, "\(reply.problem)")
            }
            let accepted = try await Self.send(.bytes(Array(whole.utf8)), to: port)
            #expect(accepted.code == 200)
        }
        #expect(sink.records.count == 1)
    }

    @Test(arguments: [#""sent":"1""#, #""account":7"#, #""account":"""#])
    func wrongOptionalMemberIsRefused(_ member: String) async throws {
        let sink = MemoryActionLogSink()
        let router = Router()
        ActionLogRoute(to: sink).add(to: router)
        let whole = String(decoding: Self.batch(), as: UTF8.self)
        // The first member of a name counts.
        let body = "{" + member + "," + whole.dropFirst()
        try await serving(router) { port in
            let reply = try await Self.send(.bytes(Array(body.utf8)), to: port)
            #expect(reply.code == 400, "\(member)")
        }
        #expect(sink.records.isEmpty)
    }

    @Test func clientWithholdingItsBodyDelaysNoOther() async throws {
        struct Arrivals: RouterMiddleware {
            let arrival: AsyncStream<Void>.Continuation

            func handle(
                _ request: Request, context: BasicRequestContext,
                next: @concurrent (Request, BasicRequestContext) async throws -> Response
            ) async throws -> Response {
                arrival.yield()
                return try await next(request, context)
            }
        }
        let (arrivals, arrival) = AsyncStream<Void>.makeStream()
        let sink = MemoryActionLogSink()
        let router = Router()
        router.add(middleware: Arrivals(arrival: arrival))
        ActionLogRoute(to: sink, maximumRunningCount: 1).add(to: router)
        try await serving(router) { port in
            let (parts, part) = AsyncStream<ByteBuffer>.makeStream()
            let whole = Self.batch()
            let stalled = Task {
                try await Self.send(.stream(parts, length: .known(Int64(whole.count))), to: port).code
            }
            part.yield(ByteBuffer(bytes: whole.prefix(10)))
            for await _ in arrivals.prefix(1) {}
            for _ in 0..<3 {
                let code = try await Self.send(.bytes(Self.batch()), to: port).code
                #expect(code == 200)
            }
            part.yield(ByteBuffer(bytes: whole.dropFirst(10)))
            part.finish()
            let code = try await stalled.value
            #expect(code == 200)
        }
        #expect(sink.records.count == 4)
    }
}
