import Foundation
import HTTPTypes
import Runway
import RunwayTesting
import Testing

struct FlightRecordTests {
    @Test func everyCallHasOneRecordWithOneOutcome() async throws {
        let layer = StubbedLayer { request in
            request.head.path == "/v1/query" ? .json("{}", status: .notFound) : .json("{}")
        }
        for number in 0..<10 {
            if number.isMultiple(of: 2) {
                _ = try await layer.network.call(BookSearch())
            } else {
                _ = try await layer.failure(of: QueryCall())
            }
        }
        await layer.network.flushRecords()
        #expect(layer.records.records.map(\.id.number) == Array(1...10))
        #expect(
            layer.records.records.map(\.outcome.name)
                == (0..<10).map { $0.isMultiple(of: 2) ? "succeeded" : "failed" })
    }

    @Test func callThatNeverStartedHasARecordToo() async throws {
        let layer = StubbedLayer()
        _ = try await layer.failure(of: QueryCall(given: ["a": .double(.nan)]))
        let record = try await layer.record()
        guard let error = record.outcome.error else { throw WrongOutcome() }
        #expect(error.kind == .invalidParameters)
        #expect(record.attempts.isEmpty && record.decisions.isEmpty)
        #expect(record.source == nil && record.traceContext == nil)
    }

    @Test func recordHasCallDateAndDuration() async throws {
        let gate = ScriptedGate()
        let layer = StubbedLayer(name: "guide") { _ throws(NetworkError) in
            do { try await gate.pass() } catch { throw NetworkError(.cancelled, in: .transporting, "x") }
            return .json("[1]")
        }
        layer.clock.advance(by: .seconds(100))
        let call = Task { [network = layer.network] in try await network.call(BookSearch()) }
        try await gate.waitForArrivals()
        layer.clock.advance(by: .milliseconds(1500))
        gate.open()
        _ = try await call.value
        let record = try await layer.record()
        #expect(record.id.number == 1)
        #expect(record.network == "guide" && record.service == "library" && record.endpoint == "BookSearch")
        #expect(record.date == Date(timeIntervalSince1970: 1_767_225_700))
        #expect(record.duration == .milliseconds(1500))
        let attempt = try #require(record.attempts.first)
        #expect(attempt.start == .zero && attempt.end == .milliseconds(1500))
        #expect(attempt.status == .ok && attempt.responseByteCount == 3 && attempt.failure == nil)
        #expect(record.decisions.map(\.elapsed) == [.milliseconds(1500)])
        #expect(record.decisions.map(\.step) == [.judging])
    }

    @Test func parametersAreRecordedAsPassedAndAsSent() async throws {
        let layer = StubbedLayer { _ in .json(#"{"code":0}"#) }
        _ = try await layer.network.call(PaintingList(room: 3))
        let record = try await layer.record()
        #expect(record.parameters == ["room": 3])
        #expect(record.sentParameters == ["app": "guide", "lang": "zh", "room": 3])
        #expect(record.attempts.first?.url == "https://museum.test/api/paintings?app=guide&lang=zh&room=3")
        #expect(record.attempts.first?.method == .get)
        #expect(record.attempts.first?.headerFields[.acceptLanguage] == "zh")
    }

    @Test func parametersAreRecordedBeforeCompletion() async throws {
        struct Completed: Endpoint {
            static let service = Library.self
            static let method = HTTPRequest.Method.post
            var path: EndpointPath { "completed" }
            var city: String
            mutating func complete() { city = city.lowercased() }
            func validate() throws { if city.isEmpty { throw Refused("The city is empty.") } }
        }
        let sent = StubbedLayer()
        sent.network.configure(Library.self) { $0.commonParameters = ["v": 1, "token": "hunter2"] }
        _ = try await sent.network.call(Completed(city: "Hangzhou"))
        let record = try await sent.record()
        #expect(record.parameters == ["city": "Hangzhou"])
        #expect(record.sentParameters == ["v": 1, "token": "[redacted]", "city": "hangzhou"])
        let refused = StubbedLayer()
        _ = try await refused.failure(of: Completed(city: ""))
        #expect(try await refused.record().parameters == ["city": ""])
        #expect(try await refused.record().sentParameters == nil)
    }

    @Test func userInfoIsRefusedWithoutShowingIt() async throws {
        let layer = StubbedLayer()
        let head = HTTPRequest(method: .get, scheme: "https", authority: "me:hunter2@h.test", path: "/")
        let error = await #expect(throws: NetworkError.self) {
            try await layer.network.exchange(Request(head: head), with: Library.self)
        }
        #expect(error?.kind == .invalidParameters)
        #expect(!"\(try await layer.record())\(String(describing: error))".contains("hunter2"))
        #expect(layer.transport.requests.isEmpty)
    }

    @Test func decisionsAreInOrder() async throws {
        let layer = StubbedLayer { request in
            if request.head.path == "/next" { return .json("{}") }
            var head = HTTPResponse(status: .found)
            head.headerFields[.location] = "/next"
            return Response(head: head, body: .whole(RawData([], response: head)))
        }
        _ = try await layer.network.call(QueryCall())
        let record = try await layer.record()
        #expect(record.decisions.map(\.step) == [.judging, .redirecting, .judging])
        #expect(
            record.decisions.map(\.decision.description) == [
                "302 is a redirect", "following 302, hop 1", "200 is fine",
            ])
        #expect(record.attempts.map(\.status?.code) == [302, 200])
    }

    @Test func unknownValuesAreNilAndNeverZero() async throws {
        let layer = StubbedLayer { _ throws(NetworkError) in
            throw NetworkError(.noNetwork, in: .transporting, "The host could not be reached.")
        }
        let body = RequestBody.stream(BodyStream([1]), byteCount: nil, isReplayable: false)
        _ = try await layer.failure(of: RawCall(bytes: body))
        let record = try await layer.record()
        let attempt = try #require(record.attempts.first)
        #expect(attempt.requestByteCount == nil && attempt.responseByteCount == nil)
        #expect(attempt.status == nil && attempt.responseHeaderFields == nil && attempt.httpVersion == nil)
        #expect(attempt.failure == "The host could not be reached.")
        #expect(attempt.end == .zero)
        #expect(record.source == nil)
    }

    @Test func transportCanReportItsHTTPVersion() async throws {
        struct Versioned: Transport {
            func send(_ request: Request, in flight: Flight) async throws(NetworkError) -> Response {
                flight.noteHTTPVersion("HTTP/2")
                return .json("{}")
            }
        }
        let layer = StubbedLayer()
        layer.network.configure(Library.self) { $0.transport = Versioned() }
        _ = try await layer.network.call(QueryCall())
        #expect(try await layer.record().attempts.first?.httpVersion == "HTTP/2")
    }

    @Test func customDecisionIsFoundByItsName() async throws {
        struct Counting: RequestStage {
            var step: FlightStep { .customStage("quota") }
            func respond(
                to request: Request, in flight: Flight, next: RequestPipeline.Rest
            ) async throws(NetworkError) -> Response {
                flight.note("spent", fields: ["left": "9"], "9 calls left", in: step)
                flight.note("spent", "8 calls left", in: .admission)
                return try await next.send(request, in: flight)
            }
        }
        var pipeline = RequestPipeline.tested
        pipeline.insert(Counting(), before: .admission)
        let layer = StubbedLayer(pipeline: pipeline)
        _ = try await layer.network.call(QueryCall())
        let record = try await layer.record()
        let spent = record.decisions.filter { $0.name == "spent" }
        #expect(spent.map(\.fields) == [["left": "9"], [:]])
        #expect(spent.map(\.description) == ["9 calls left", "8 calls left"])
        #expect(spent.map(\.step) == [.customStage("quota"), .admission])
    }

    /// What is beyond a microsecond is cut off.
    @Test func durationHasAtMostSixDecimalPlaces() {
        let duration = Duration(secondsComponent: 4, attosecondsComponent: 999_528_692_999_000_000)
        #expect("\(duration.roundedSeconds)" == "4.999528")
        #expect("\(Duration.nanoseconds(-1_500).roundedSeconds)" == "-1e-06")
    }

    private struct WrongOutcome: Error {}
}
