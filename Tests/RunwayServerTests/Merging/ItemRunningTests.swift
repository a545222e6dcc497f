import HTTPTypes
import Hummingbird
import NIOCore
import RunwayJSON
import RunwayServer
import RunwayTesting
import Synchronization
import Testing

/// How the requests of an envelope run: each by itself, within bounds, as whoever sent the envelope.
@Suite(.timeLimit(.minutes(10)))
struct ItemRunningTests {
    private struct Broken: Error {}

    @Test func aHandlerThatThrowsFailsItsOwnRequest() async throws {
        let app = MergingApp { router in
            router.get("v1/forbidden") { _, _ -> String in throw HTTPError(.forbidden, message: "not you") }
            router.get("v1/broken") { _, _ -> String in throw Broken() }
            router.get("v1/breaking") { _, _ in
                Response(status: .ok, body: ResponseBody { _ in throw Broken() })
            }
        }
        let responses = try await app.responses(
            to: "/v1/forbidden".item("1"), "/v1/broken".item("2"), "/v1/breaking".item("3"), "/v1/echo/a".item("4"))
        #expect((1...4).map { responses["\($0)"]?["status"].int } == [403, 500, 500, 200])
        #expect(responses["1"]?["body"].string == #"{"error":{"message":"not you"}}"#)
        #expect(responses["2"]?["body"].string?.contains("Broken") == false)
    }

    @Test func partsOfBodiesAreJoinedExceptForHEAD() async throws {
        let app = MergingApp { router in
            router.get("v1/parts") { _, _ in
                Response(
                    status: .ok, headers: [.connection: "x-hop", .contentLength: "6"],
                    body: ResponseBody { writer in
                        for part in ["a", "bc", "def"] { try await writer.write(ByteBuffer(string: part)) }
                        try await writer.finish([.init("X-Trailer")!: "1"])
                    })
            }
            router.head("v1/parts") { _, _ in
                Response(status: .ok, body: ResponseBody(byteBuffer: ByteBuffer(string: "no")))
            }
        }
        let responses = try await app.responses(
            to: "/v1/parts".item("1"), #"{"id":"2","method":"HEAD","path":"/v1/parts"}"#)
        #expect(responses["1"]?["body"].string == "abcdef")
        #expect(responses["1"]?["headers"].count == 0)
        #expect(responses["2"]?["status"].int == 200)
        #expect(responses["2"]?["body"].exists == false)
    }

    @Test func responsesAreBoundedEachAndInSum() async throws {
        var limits = MergingLimits(maximumConcurrentItems: 1)
        (limits.maximumResponseByteCount, limits.maximumTotalResponseByteCount) = (10, 15)
        let app = MergingApp(limits: limits) { router in
            router.get("v1/bytes/{count}") { _, context in
                try String(repeating: "x", count: context.parameters.require("count", as: Int.self))
            }
        }
        let responses = try await app.responses(
            to: "/v1/bytes/10".item("1"), "/v1/bytes/11".item("2"), "/v1/bytes/6".item("3"), "/v1/bytes/5".item("4"),
            "/v1/bytes/1".item("5"))
        #expect((1...5).map { responses["\($0)"]?["status"].int } == [200, 500, 500, 200, 500])
        #expect(responses["2"]?["body"].string?.contains("too large") == true)
    }

    @Test func onlySoManyRunAtOnce() async throws {
        let running = Mutex((now: 0, most: 0))
        let gate = ScriptedGate()
        let app = MergingApp(limits: MergingLimits(maximumConcurrentItems: 3)) { router in
            router.get("v1/wait/{name}") { _, _ in
                running.withLock { $0 = ($0.now + 1, max($0.most, $0.now + 1)) }
                try await gate.pass()
                running.withLock { $0.now -= 1 }
                return "done"
            }
        }
        let envelope = (1...10).map { "/v1/wait/\($0)".item("\($0)") }.joined(separator: ",")
        let envelopeResponse = Task { try await app.post(#"{"requests":[\#(envelope)]}"#) }
        try await gate.waitForArrivals(count: 3)
        #expect(running.withLock { $0.now } == 3)
        gate.open()
        let responses = try await envelopeResponse.value.json["responses"]
        #expect(responses.elements.map { $0["status"].int } == Array(repeating: 200, count: 10))
        #expect(running.withLock { $0.most } == 3)
    }

    @Test func oneThatTakesTooLongIsLeftBehind() async throws {
        let clock = ManualClock()
        let gate = ScriptedGate()
        let left = ScriptedGate()
        let app = MergingApp(limits: MergingLimits(timePerItem: .seconds(3)), clock: clock) { router in
            router.get("v1/slow") { _, _ in
                // A task of its own does not observe the cancellation.
                try await Task { try await gate.pass() }.value
                left.open()
                return "late"
            }
        }
        let response = Task { try await app.responses(to: "/v1/slow".item("1"), "/v1/echo/a".item("2")) }
        try await gate.waitForArrivals()
        try await waitUntil { clock.nextDeadline?.offset == .seconds(3) }
        clock.advance(by: .seconds(3))
        let responses = try await response.value
        #expect(responses["1"]?["status"].int == 504)
        #expect(responses["2"]?["status"].int == 200)
        gate.open()
        try await left.pass()
    }

    @Test func allTogetherTakeOnlySoLong() async throws {
        let clock = ManualClock()
        let gate = ScriptedGate()
        var limits = MergingLimits(maximumConcurrentItems: 1, timePerItem: .seconds(9))
        limits.totalTime = .seconds(5)
        let app = MergingApp(limits: limits, clock: clock) { router in
            router.get("v1/slow") { _, _ in
                try await gate.pass()
                return "slow"
            }
        }
        let response = Task {
            try await app.responses(to: "/v1/echo/a".item("1"), "/v1/slow".item("2"), "/v1/echo/b".item("3"))
        }
        try await gate.waitForArrivals()
        try await waitUntil { clock.nextDeadline?.offset == .seconds(5) }
        clock.advance(by: .seconds(5))
        let responses = try await response.value
        #expect((1...3).map { responses["\($0)"]?["status"].int } == [200, 504, 504])
    }

    @Test func onlyItemsGetTheEnvelopesIdentity() async throws {
        struct Identifying: RouterMiddleware {
            typealias Context = AppContext
            func handle(
                _ request: Request, context: AppContext,
                next: @concurrent (Request, AppContext) async throws -> Response
            ) async throws -> Response {
                var context = context
                if context.item == nil { context.identity = request.headers[.authorization] }
                return try await next(request, context)
            }
        }
        let app = MergingApp(
            lending: { envelope, item in
                var context = envelope
                context.item = item.position
                return context
            },
            { router in
                router.add(middleware: Identifying())
                router.get("v1/who") { _, context in "\(context.identity ?? "nobody") \(context.item ?? 0)" }
            })
        let item = "/v1/who".item("1")
        let forged = "/v1/who".item("2", headers: #"[["Authorization","root"]]"#)
        let responses = try await app.responses(to: item, forged, headers: [.authorization: "ada"])
        #expect(responses["1"]?["body"].string == "ada 1")
        #expect(responses["2"]?["body"].string == "ada 2")
        #expect(try await app.responses(to: item)["1"]?["body"].string == "nobody 1")
        let head = HTTPRequest(method: .get, scheme: "https", authority: "app.test", path: "/v1/who")
        let response = try await app.responder.respond(
            to: Request(head: head, body: RequestBody(buffer: ByteBuffer())),
            context: AppContext(source: AppContext.Source()))
        let body = Collected()
        try await response.body.write(body.writer)
        #expect(String(decoding: body.bytes, as: UTF8.self) == "nobody 0")
    }

    @Test func failedContextFailsOnlyItsRequest() async throws {
        let app = MergingApp(
            lending: { envelope, item in
                if item.id == "1" { throw HTTPError(.forbidden) }
                return envelope
            }, { _ in })
        let responses = try await app.responses(to: "/v1/echo/a".item("1"), "/v1/echo/a".item("2"))
        #expect(responses["1"]?["status"].int == 403)
        #expect(responses["2"]?["status"].int == 200)
    }
}
