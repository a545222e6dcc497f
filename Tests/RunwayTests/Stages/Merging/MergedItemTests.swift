import HTTPTypes
import RunwayJSON
import RunwayTesting
import Testing

@testable import Runway

/// Every request in an envelope has its own end, deadline, record and judgement.
@Suite(.timeLimit(.minutes(10)))
struct MergedItemTests {
    @Test func cancelledWaitersAreNotInTheEnvelope() async throws {
        let layer = MergingLayer()
        let first = try await layer.holdOne()
        let stored = (1...2).map { number in Task { try await layer.network.call(Read("stored/\(number)")) } }
        let gone = Task { try await layer.network.call(Read("gone")) }
        try await layer.waitForWaiting(3)
        gone.cancel()
        let error = try await #require(throws: NetworkError.self) { try await gone.value }
        #expect(error.kind == .cancelled)
        // A cancelled call does not wait for the end of its request.
        try await waitUntil { layer.network.merger.waitingCount == 2 }
        layer.server.held.open()
        _ = try await first.value
        for call in stored { _ = try await call.value }
        #expect(Set(layer.server.requests[1].itemPaths) == ["/v1/stored/1", "/v1/stored/2"])
        let record = try await layer.records.records(count: 5).first { $0.outcome.name == "cancelled" }
        #expect(record?.attempts.isEmpty == true)
    }

    @Test func itemCancelledInFlightLeavesTheOthersAlone() async throws {
        let layer = MergingLayer(EnvelopeServer(holdsEnvelopes: true))
        let calls = try await layer.merge([Read("1"), Read("2"), Read("3")])
        try await layer.server.envelopes.waitForArrivals()
        calls[1].cancel()
        let error = try await #require(throws: NetworkError.self) { try await calls[1].value }
        #expect(error.kind == .cancelled)
        layer.server.envelopes.open()
        #expect(try await calls[0].value["path"].string == "/v1/1")
        #expect(try await calls[2].value["path"].string == "/v1/3")
    }

    @Test func theLastCancelledCallCancelsTheEnvelope() async throws {
        let layer = MergingLayer(EnvelopeServer(holdsEnvelopes: true))
        let calls = try await layer.merge([Read("1"), Read("2")])
        try await layer.server.envelopes.waitForArrivals()
        for call in calls {
            call.cancel()
            await #expect(throws: NetworkError.self) { try await call.value }
        }
        let envelopeRecord = try #require(try await layer.envelopeRecord(among: 4))
        #expect(envelopeRecord.outcome.name == "cancelled")
        #expect(!layer.server.envelopes.isOpen)
        #expect(layer.network.merger.laneCount == 0)
        // The lane is free: the next request waits for nobody.
        #expect(try await layer.network.call(Read("next"))["path"].string == "/v1/next")
    }

    @Test func everyItemHasItsOwnDeadline() async throws {
        let layer = MergingLayer(EnvelopeServer(holdsEnvelopes: true))
        let first = try await layer.holdOne()
        let hasty = Task { try await layer.network.call(HastyRead(path: "hasty")) }
        try await layer.waitForWaiting(1)
        let patient = Task { try await layer.network.call(Read("patient")) }
        try await layer.waitForWaiting(2)
        layer.server.held.open()
        _ = try await first.value
        try await layer.server.envelopes.waitForArrivals()
        layer.clock.advance(by: .seconds(3))
        let error = try await #require(throws: NetworkError.self) { try await hasty.value }
        #expect(error.kind == .timedOut)
        layer.server.envelopes.open()
        #expect(try await patient.value["path"].string == "/v1/patient")
    }

    @Test func aDeadlineAlsoBoundsTheWait() async throws {
        let layer = MergingLayer(EnvelopeServer()) { $0.wait = .seconds(1) }
        let first = try await layer.holdOne()
        layer.clock.advance(by: .milliseconds(2500))
        struct Instant: Endpoint {
            static let service = Merged.self
            static let deadline: Duration? = .milliseconds(100)
            var path: EndpointPath { "instant" }
        }
        let call = Task { try await layer.network.call(Instant()) }
        try await layer.waitForWaiting(1)
        try await waitUntil { layer.clock.nextDeadline?.offset == .milliseconds(2600) }
        layer.clock.advance(by: .milliseconds(100))
        let error = try await #require(throws: NetworkError.self) { try await call.value }
        #expect(error.kind == .timedOut)
        try await waitUntil { layer.network.merger.waitingCount == 0 }
        layer.server.held.open()
        _ = try await first.value
        #expect(layer.server.paths == ["/v1/held"])
    }

    @Test func everyCallNamesItsEnvelope() async throws {
        let layer = MergingLayer()
        let calls = try await layer.merge([Read("1"), Read("2"), Read("3")])
        for call in calls { _ = try await call.value }
        let records = try await layer.records.records(count: 5)
        #expect(records.reduce(0) { $0 + $1.attempts.count } == layer.server.requests.count)
        let envelopeRecord = try #require(try await layer.envelopeRecord(among: 5))
        #expect(envelopeRecord.outcome.name == "succeeded")
        #expect(envelopeRecord.attempts.map(\.url) == ["https://merged.test/v1/_batch"])
        let items = records.filter { $0.endpoint == "Read" && $0.attempts.isEmpty }.sorted { $0.id < $1.id }
        #expect(envelopeRecord.decisions(of: MergeDecision.self) == [.carries(items.map(\.id))])
        #expect(
            items.flatMap { $0.decisions(of: MergeDecision.self) }
                == (1...3).map { .carried(position: $0, count: 3, by: envelopeRecord.id) })
        #expect("\(items[2].decisions(of: MergeDecision.self)[0])" == "merged as item 3 of 3 in \(envelopeRecord.id)")
        #expect(
            items.allSatisfy {
                $0.decisions(of: JudgingDecision.self) == [JudgingDecision(status: 200, verdict: .fine)]
            })
        #expect(envelopeRecord.decisions(of: JudgingDecision.self) == [JudgingDecision(status: 200, verdict: .fine)])
    }

    @Test func eachItemIsJudgedAndFailsAlone() async throws {
        let layer = MergingLayer(
            EnvelopeServer { _ in
                .json(
                    #"""
                    {"responses":[{"id":"1","status":200,"headers":[],"body":"{\"code\":0}"},
                    {"id":"2","status":500,"headers":[],"body":"oops"},
                    {"id":"3","status":200,"headers":[],"body":"{\"code\":17}"},
                    {"id":"4","status":200,"headers":[],"body":"{\"code\":401}"}]}
                    """#)
            })
        let calls = try await layer.merge([Read("1"), Read("2"), Read("3"), Read("4")])
        #expect(try await calls[0].value["code"].int == 0)
        let refused = try await #require(throws: NetworkError.self) { try await calls[1].value }
        #expect(refused.kind == .refused && refused.status == .internalServerError)
        let failed = try await #require(throws: NetworkError.self) { try await calls[2].value }
        #expect(failed.serviceError == ServiceError(code: "17"))
        let token = try await #require(throws: NetworkError.self) { try await calls[3].value }
        #expect(token.kind == .needsAccessToken)
        #expect(try await layer.envelopeRecord(among: 6)?.outcome.name == "succeeded")
    }

    @Test func anItemThatIsRedirectedFollowsByItself() async throws {
        let layer = MergingLayer(
            EnvelopeServer { _ in
                .json(
                    #"""
                    {"responses":[{"id":"1","status":302,"headers":[["Location","/v1/other"]]},
                    {"id":"2","status":200,"headers":[],"body":"{}"},
                    {"id":"3","status":301,"headers":[["Location","gopher://hole"]]}]}
                    """#)
            })
        let calls = try await layer.merge([Read("1"), Read("2"), Read("3")])
        #expect(try await calls[0].value["path"].string == "/v1/other")
        _ = try await calls[1].value
        let error = try await #require(throws: NetworkError.self) { try await calls[2].value }
        #expect(error.kind == .refused)
        #expect(layer.server.paths == ["/v1/held", "/v1/_batch", "/v1/other"])
        let record = try await layer.records.records(count: 5).first {
            $0.decisions(of: RedirectDecision.self).count == 1
        }
        #expect(record != nil)
    }

    @Test(arguments: [true, false])
    func anEnvelopesRecordHasNoSecrets(_ isRedacted: Bool) async throws {
        let layer = MergingLayer(redaction: isRedacted ? Redaction(recordsBodies: true) : .none)
        let reads = (1...2).map { Read("\($0)", headers: ["Authorization": "Bearer hidden"]) }
        for call in try await layer.merge(reads) { _ = try await call.value }
        let envelopeRecord = try #require(try await layer.envelopeRecord(among: 4))
        #expect((envelopeRecord.attempts.first?.requestBody == nil) == isRedacted)
        #expect((envelopeRecord.attempts.first?.responseBody == nil) == isRedacted)
        #expect((envelopeRecord.attempts.first?.headerFields[.authorization] == "Bearer hidden") == !isRedacted)
    }

    @Test func noStateOutlivesItsCalls() async throws {
        weak var network: NetworkLayer?
        do {
            let layer = MergingLayer(EnvelopeServer()) { $0.settling = .milliseconds(2) }
            network = layer.network
            let calls = try await layer.merge([Read("1"), Read("2")])
            try await waitUntil { layer.clock.nextDeadline?.offset == .milliseconds(2) }
            layer.clock.advance(by: .milliseconds(2))
            for call in calls { _ = try await call.value }
            // The wakes that were asked for are due, and find nothing left to do.
            layer.clock.advance(by: .seconds(1))
            await layer.network.flushRecords()
        }
        try await waitUntil { network == nil }
    }
}
