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
        case busy, failing, rejected, bomb, longName, longAccount, nullCharacter, noRecords, malformed, malformedGzip
        case tooLarge

        var status: Int {
            switch self {
            case .busy: 429
            case .failing: 503
            case .rejected, .longName, .longAccount, .nullCharacter, .noRecords, .malformed, .malformedGzip: 400
            case .bomb, .tooLarge: 413
            }
        }

        var error: (any Error)? {
            switch self {
            case .busy: ActionLogSinkBusy()
            case .failing: CocoaError(.fileNoSuchFile)
            case .rejected: ActionLogBatchRejected()
            default: nil
            }
        }

        var isGzip: Bool { self == .bomb || self == .malformedGzip }

        var body: [UInt8] {
            let long = String(repeating: "x", count: 513)
            return switch self {
            case .busy, .failing, .rejected: ActionLogRefusalTests.batch()
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

    private static func batch(name: String = "opened", account: String = "ada") -> [UInt8] {
        let (id, stream) = (UUID(), UUID())
        return Array(
            #"""
            {"installation":"\#(id)","stream":"\#(stream)","batch":1,"account":"\#(account)","sent":1,
            "records":[{"id":"\#(id)","name":"\#(name)"}]}
            """#.utf8)
    }

    /// Sends a body to a port.
    private static func send(
        _ body: HTTPClientRequest.Body, to port: Int, isGzip: Bool = false
    ) async throws -> (code: Int, retryAfter: String?) {
        var request = HTTPClientRequest(url: "http://127.0.0.1:\(port)/log")
        request.method = .POST
        request.body = body
        if isGzip { request.headers.add(name: "Content-Encoding", value: "gzip") }
        let response = try await HTTPClient.shared.execute(request, timeout: .seconds(60))
        _ = try await response.body.collect(upTo: 1 << 20)
        return (Int(response.status.code), response.headers.first(name: "retry-after"))
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
            let reply = try await Self.send(.bytes(refused.body), to: port, isGzip: refused.isGzip)
            #expect(reply.code == refused.status, "\(refused)")
            #expect((reply.retryAfter == "5") == [429, 503].contains(refused.status), "\(refused)")
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
        var limits = ActionLogRouteLimits()
        limits.maximumRunningCount = 1
        ActionLogRoute(to: sink, limits: limits).add(to: router)
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
