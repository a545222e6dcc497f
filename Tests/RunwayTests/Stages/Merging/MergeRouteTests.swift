import HTTPTypes
import RunwayJSON
import RunwayTesting
import Testing

@testable import Runway

/// What is learned of a route: that it is not there, or that its origin uses HTTP/2.
@Suite(.timeLimit(.minutes(10)))
struct MergeRouteTests {
    private func call(_ layer: MergingLayer, _ paths: String...) async throws {
        var tasks: [Task<RawData, any Error>] = []
        for path in paths { tasks.append(Task { try await layer.network.call(Read("\(path)")) }) }
        for task in tasks { _ = try await task.value }
    }

    @Test(arguments: [404, 405, 501])
    func aMissingRouteIsRememberedForAServer(_ status: Int) async throws {
        let layer = MergingLayer(EnvelopeServer { _ in .json("", status: HTTPResponse.Status(code: status)) })
        let calls = try await layer.merge([Read("1"), Read("2")])
        #expect(try await calls[0].value["path"].string == "/v1/1")
        #expect(try await calls[1].value["path"].string == "/v1/2")
        #expect(layer.server.paths.filter { $0 == "/v1/_batch" }.count == 1)
        let again = Task { try await layer.network.call(Read("again/held")) }
        _ = try await again.value
        try await call(layer, "3", "4", "5")
        #expect(layer.server.paths.filter { $0 == "/v1/_batch" }.count == 1)
        let records = try await layer.records.records(count: 8)
        #expect(records.contains { $0.decisions(of: MergeDecision.self).last == .notAccepted(status: status) })
        #expect(records.contains { $0.decisions(of: MergeDecision.self) == [.notMerged(.noRoute)] })
        #expect(records.reduce(0) { $0 + $1.attempts.count } == layer.server.requests.count)
    }

    @Test func anotherEnvironmentIsTestedAgain() async throws {
        let server = EnvelopeServer { request throws(NetworkError) in
            if request.head.authority == "merged.test" { return .json("", status: .notFound) }
            return try await EnvelopeServer.unmerge(request)
        }
        let layer = MergingLayer(server)
        for call in try await layer.merge([Read("1"), Read("2")]) { _ = try await call.value }
        layer.network.configure(Merged.self) { $0.environment = .development }
        try await call(layer, "3")
        #expect(layer.network.merger.laneCount == 0)
        let records = try await layer.records.records(count: 5)
        #expect(records.last?.decisions(of: MergeDecision.self) == [.sentAtOnce])
    }

    @Test(arguments: [400, 413, 415])
    func itemsOfAnUnreadEnvelopeAreSentAlone(_ status: Int) async throws {
        let layer = MergingLayer(EnvelopeServer { _ in .json("", status: HTTPResponse.Status(code: status)) })
        for call in try await layer.merge([Read("1"), Read("2")]) { _ = try await call.value }
        #expect(layer.server.requests.count == 4)
        _ = try await layer.network.call(Read("3"))
        let records = try await layer.records.records(count: 5)
        #expect(records.last?.decisions(of: MergeDecision.self) == [.sentAtOnce])
    }

    @Test func noRequestIsMergedOverKnownHTTP2() async throws {
        let layer = MergingLayer(EnvelopeServer(httpVersion: "HTTP/2", negotiatesLate: true))
        let first = Task { try await layer.network.call(Read("held")) }
        try await layer.server.negotiation.waitForArrivals()
        let calls = (1...2).map { number in Task { try await layer.network.call(Read("\(number)")) } }
        try await layer.waitForWaiting(2)
        // The version is unknown while the first request is in flight; its result shows it, and the waiting requests are sent
        // one by one.
        layer.server.held.open()
        layer.server.negotiation.open()
        for call in calls + [first] { _ = try await call.value }
        #expect(Set(layer.server.paths) == ["/v1/held", "/v1/1", "/v1/2"])
        let records = try await layer.records.records(count: 3)
        #expect(records.filter { $0.decisions(of: MergeDecision.self) == [.notMerged(.http2)] }.count == 2)
    }

    @Test func discoveredHTTP2SendsWaitersOneByOne() async throws {
        let layer = MergingLayer(EnvelopeServer(httpVersion: "HTTP/2", negotiatesLate: true))
        let first = Task { try await layer.network.call(Read("held")) }
        try await layer.server.negotiation.waitForArrivals()
        let calls = (1...2).map { number in Task { try await layer.network.call(Read("\(number)")) } }
        try await layer.waitForWaiting(2)
        layer.server.negotiation.open()
        try await layer.server.held.waitForArrivals()
        try await waitUntil { layer.clock.nextDeadline?.offset == .milliseconds(50) }
        layer.clock.advance(by: .milliseconds(50))
        for call in calls { _ = try await call.value }
        #expect(Set(layer.server.paths) == ["/v1/held", "/v1/1", "/v1/2"])
        layer.server.held.open()
        _ = try await first.value
        let records = try await layer.records.records(count: 3)
        #expect(records.filter { $0.decisions(of: MergeDecision.self) == [.notMerged(.http2)] }.count == 2)
        #expect(layer.network.merger.laneCount == 0)
    }

    @Test func requestsBesideHTTP2DoNotWait() async throws {
        let layer = MergingLayer(EnvelopeServer(httpVersion: "HTTP/2"))
        let first = try await layer.holdOne()
        let call = Task { try await layer.network.call(Read("1")) }
        try await waitUntil { layer.server.paths.count >= 2 || layer.network.merger.waitingCount > 0 }
        #expect(layer.server.paths == ["/v1/held", "/v1/1"])
        layer.server.held.open()
        _ = try await (first.value, call.value)
    }

    @Test func overHTTP2RequestsAreMergedByPolicy() async throws {
        let layer = MergingLayer(EnvelopeServer(httpVersion: "HTTP/2")) { $0.mergesOverHTTP2 = true }
        for call in try await layer.merge([Read("1"), Read("2")]) { _ = try await call.value }
        #expect(layer.server.paths == ["/v1/held", "/v1/_batch"])
    }

    @Test func overHTTP1RequestsAreMerged() async throws {
        let layer = MergingLayer(EnvelopeServer(httpVersion: "HTTP/1.1"))
        for call in try await layer.merge([Read("1"), Read("2")]) { _ = try await call.value }
        #expect(layer.server.paths == ["/v1/held", "/v1/_batch"])
    }

    @Test func storedRoutesAreBounded() async throws {
        let layer = MergingLayer(EnvelopeServer(httpVersion: "HTTP/2"))
        for number in 0..<(2 * Merger.maximumRoutes) {
            layer.network.configure(Merged.self) { $0.baseURLs = [.release: "https://\(number).merged.test"] }
            _ = try await layer.network.call(Read("x"))
        }
        #expect(layer.network.merger.knownRouteCount == Merger.maximumRoutes)
        #expect(layer.network.merger.laneCount == 0)
    }
}
