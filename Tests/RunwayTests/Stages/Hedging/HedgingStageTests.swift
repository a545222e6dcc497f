import HTTPTypes
import RunwayTesting
import Testing

@testable import Runway

@Suite(.timeLimit(.minutes(10)))
struct HedgingStageTests {
    @Test func quickReadHasOneAttemptAndNoLine() async throws {
        let layer = ContestLayer()
        let call = try await layer.begin(SlowRead())
        layer.clock.advance(by: SlowRead.delay - .milliseconds(1))
        layer.transport.respond(0)
        #expect(try await call.value.text == "0")
        #expect(layer.transport.count == 1)
        #expect(try await layer.hedges().isEmpty)
    }

    @Test func firstGoodHeadOfTwoAttemptsWins() async throws {
        let layer = ContestLayer()
        let call = try await layer.beginHedged(SlowRead())
        layer.clock.advance(by: .milliseconds(20))
        layer.transport.head(of: 1)
        // Before the body is here the other attempt is off the wire.
        try await layer.transport.wait { $0.cancelled == [0] }
        layer.transport.respond(1)
        #expect(try await call.value.text == "1")
        #expect(layer.transport.parked.isEmpty && layer.transport.cancelled == [0])

        let record = try await layer.record()
        #expect(
            record.decisions(of: HedgeDecision.self) == [
                .started(after: .milliseconds(100)), .won(.second, after: .milliseconds(120)),
            ])
        #expect(record.attempts.map(\.start) == [.zero, .milliseconds(100)])
        #expect(record.attempts.map(\.status) == [nil, .ok])
        #expect(record.attempts[0].failure == "The other attempt received its response first.")
        #expect(record.attempts[0].end == .milliseconds(120))
        #expect(record.attempts[1].failure == nil)
    }

    @Test func theFirstAttemptMayStillWin() async throws {
        let layer = ContestLayer()
        let call = try await layer.beginHedged(SlowRead())
        layer.transport.respond(0)
        #expect(try await call.value.text == "0")
        try await layer.transport.wait { $0.cancelled == [1] }
        #expect(try await layer.hedges().last == .won(.first, after: .milliseconds(100)))
    }

    @Test func aHeadInTimePreventsTheSecondAttempt() async throws {
        let layer = ContestLayer()
        let call = try await layer.begin(SlowRead())
        layer.transport.head(of: 0)
        try await layer.waitForAlarm(at: SlowRead.delay)
        layer.clock.advance(by: .seconds(10))
        // The delay has passed once the next alarm is that of the deadline.
        try await layer.waitForAlarm(at: Library.deadline)
        layer.transport.respond(0)
        #expect(try await call.value.text == "0")
        #expect(layer.transport.count == 1)
        #expect(try await layer.hedges().isEmpty)
    }

    @Test(arguments: [500, 502, 503, 429, 408, 425])
    func aPoorResponseWaitsForTheOther(_ code: Int) async throws {
        let layer = ContestLayer()
        let call = try await layer.beginHedged(SlowRead())
        let status = HTTPResponse.Status(code: code)
        layer.transport.head(of: 1, status)
        layer.transport.respond(1, status)
        // An attempt that has ended can't be cancelled any more.
        try await layer.transport.wait { $0.flight(1).record(.default).attempts[1].end != nil }
        layer.clock.advance(by: .seconds(1))
        layer.transport.respond(0)
        #expect(try await call.value.text == "0")
        #expect(try await layer.hedges().last == .won(.first, after: .milliseconds(1100)))
        #expect(layer.transport.cancelled.isEmpty)
    }

    @Test func firstAttemptThatFailsWaitsForTheSecond() async throws {
        let layer = ContestLayer()
        let call = try await layer.beginHedged(SlowRead())
        layer.transport.fail(0)
        try await layer.transport.wait { $0.flight(0).record(.default).attempts[0].end != nil }
        layer.transport.respond(1)
        #expect(try await call.value.text == "1")
        let record = try await layer.record()
        #expect(record.attempts[0].failure == "gone 0")
        #expect(record.outcome.name == "succeeded")
    }

    @Test func aFailureBeforeTheDelayIsTheRequests() async throws {
        let layer = ContestLayer()
        let call = try await layer.begin(SlowRead())
        layer.transport.fail(0)
        let error = await #expect(throws: NetworkError.self) { try await call.value }
        #expect(error?.detail == "gone 0")
        #expect(layer.transport.count == 1)
    }

    @Test(arguments: [[0, 1], [1, 0]])
    func twoFailuresReportOneError(_ order: [Int]) async throws {
        let layer = ContestLayer()
        let call = try await layer.beginHedged(SlowRead())
        for index in order { layer.transport.fail(index) }
        let error = await #expect(throws: NetworkError.self) { try await call.value }
        #expect(error?.detail == "gone 0" && error?.kind == .noNetwork)
        #expect(try await layer.hedges().last == .lost)
    }

    @Test(arguments: [[0, 1], [1, 0]])
    func sentAttemptIsNeverCalledUnsent(_ order: [Int]) async throws {
        let layer = ContestLayer()
        let call = try await layer.beginHedged(SlowRead())
        for index in order {
            let sending: SendState = index == 0 ? .notSent : .sent
            let error = NetworkError(.notTrusted, in: .transporting, "gone \(index)", sending: sending)
            layer.transport.end(index, with: .failure(error))
        }
        let error = await #expect(throws: NetworkError.self) { try await call.value }
        #expect(error?.detail == "gone 0" && error?.sending == .sent)
    }

    @Test(arguments: [[0, 1], [1, 0]])
    func aPoorResponseWinsOverAFailure(_ order: [Int]) async throws {
        let layer = ContestLayer()
        let call = try await layer.beginHedged(SlowRead())
        for index in order {
            if index == 0 { layer.transport.fail(0) } else { layer.transport.respond(1, .internalServerError) }
            try await layer.transport.wait { !$0.parked.contains(index) }
        }
        let error = await #expect(throws: NetworkError.self) { try await call.value }
        #expect(error?.status == .internalServerError)
        #expect(try await layer.hedges().last == .lost)
    }

    @Test func onlyOptedInReadsAreHedged() async throws {
        struct Change: Endpoint {
            static let service = Library.self
            static let method = HTTPRequest.Method.put
            static let hedging = HedgingPolicy.after(.zero)
            var path: EndpointPath { "change" }
        }
        struct Upload: Endpoint {
            static let service = Library.self
            static let hedging = HedgingPolicy.after(.zero)
            static let encoding = ParameterEncoding.raw(contentType: "text/plain")
            var path: EndpointPath { "upload" }
            var content: RequestBody { .stream(BodyStream([1, 2, 3]), byteCount: 3, isReplayable: true) }
        }
        func check(_ endpoint: some Endpoint) async throws {
            let layer = ContestLayer()
            let call = try await layer.begin(endpoint)
            #expect(layer.transport.request(0).hedgedAttempt == nil, "\(endpoint)")
            layer.clock.advance(by: .seconds(30))
            layer.transport.respond(0)
            _ = try await call.value
            #expect(layer.transport.count == 1, "\(endpoint)")
            #expect(try await layer.hedges().isEmpty, "\(endpoint)")
        }
        try await check(Change())
        try await check(Upload())
        try await check(BookSearch())
    }

    @Test func aServiceSpeaksForItsEndpoints() async throws {
        enum Archive: APIService {
            static let environments: [ServiceEnvironment: String] = [.release: "https://archive.test"]
            static let hedging = HedgingPolicy.after(SlowRead.delay)
        }
        struct Letter: Endpoint {
            static let service = Archive.self
            var path: EndpointPath { "letter" }
        }
        struct Film: Endpoint {
            static let service = Archive.self
            static let hedging = HedgingPolicy.off
            var path: EndpointPath { "film" }
        }
        let layer = ContestLayer()
        let call = try await layer.beginHedged(Letter())
        layer.transport.respond(1)
        #expect(try await call.value.text == "1")
        #expect(Film.hedging == .off && BookSearch.hedging == .off)
    }

    @Test func callsThatShareARequestShareItsHedge() async throws {
        let layer = ContestLayer()
        let first = try await layer.begin(SlowRead())
        let calls = [first] + (0..<4).map { _ in Task { try await layer.network.call(SlowRead()) } }
        try await layer.transport.wait { $0.flight(0).flightsSharingRequest.count == 5 }
        layer.clock.advance(by: SlowRead.delay)
        try await layer.transport.wait { $0.count == 2 }
        layer.transport.respond(1)
        for call in calls { #expect(try await call.value.text == "1") }
        #expect(layer.transport.count == 2)
    }

    @Test func eachAttemptIsHedgedByItself() async throws {
        struct Stubborn: Endpoint {
            static let service = Library.self
            static let hedging = HedgingPolicy.after(SlowRead.delay)
            static let retry = RetryPolicy(maximumAttempts: 2, baseWait: .zero)
            var path: EndpointPath { "stubborn" }
        }
        let layer = ContestLayer()
        let call = try await layer.beginHedged(Stubborn())
        layer.transport.fail(0)
        layer.transport.fail(1)
        try await layer.transport.wait { $0.count == 3 }
        layer.clock.advance(by: SlowRead.delay)
        try await layer.transport.wait { $0.count == 4 }
        layer.transport.respond(3)
        #expect(try await call.value.text == "3")
        let hedges = try await layer.hedges()
        #expect(hedges.count == 4 && hedges[1] == .lost)
    }

    @Test func theRecordHasBothAttempts() async throws {
        let layer = ContestLayer()
        let call = try await layer.beginHedged(SlowRead())
        var wires = [WireRecord(), WireRecord()]
        for index in 0...1 {
            wires[index].address = "192.0.2.\(index):443"
            layer.transport.flight(index).noteWire(wires[index], of: layer.transport.request(index))
            layer.transport.flight(index).noteHTTPVersion("HTTP/\(index + 1)", of: layer.transport.request(index))
        }
        layer.transport.respond(0)
        _ = try await call.value
        let attempts = try await layer.record().attempts
        #expect(attempts.map(\.wire) == wires)
        #expect(attempts.map(\.httpVersion) == ["HTTP/1", "HTTP/2"])
        #expect(layer.transport.request(0).hedgedAttempt?.hasLost == false)
        #expect(layer.transport.request(1).hedgedAttempt?.hasLost == true)
    }

    @Test func hedgedStreamIsDecidedByItsHead() async throws {
        let layer = ContestLayer()
        let call = Task { try await layer.network.stream(SlowRead()) }
        try await layer.transport.wait { $0.count == 1 }
        layer.clock.advance(by: SlowRead.delay)
        try await layer.transport.wait { $0.count == 2 }
        layer.transport.end(
            0, with: .success(Response(head: HTTPResponse(status: .ok), body: .stream(BodyStream([1, 2, 3])))))
        let response = try await call.value
        #expect(try await response.body.collect(upTo: 10) == [1, 2, 3])
        let attempts = try await layer.record().attempts
        #expect(attempts.map(\.responseByteCount) == [3, nil])
        #expect(attempts[0].end != nil && attempts[0].failure == nil)
        #expect(attempts[1].failure == "The other attempt received its response first.")
    }
}
