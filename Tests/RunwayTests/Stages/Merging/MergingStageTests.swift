import HTTPTypes
import RunwayJSON
import RunwayTesting
import Testing

@testable import Runway

@Suite(.timeLimit(.minutes(10)))
struct MergingStageTests {
    @Test func requestsDuringAFlightMergeAtItsEnd() async throws {
        let layer = MergingLayer()
        let first = try await layer.holdOne()
        let calls = (1...3).map { number in Task { try await layer.network.call(Read("item/\(number)")) } }
        try await layer.waitForWaiting(3)
        #expect(layer.server.paths == ["/v1/held"])
        layer.server.held.open()
        _ = try await first.value
        for (index, call) in calls.enumerated() {
            let rawData = try await call.value
            #expect(rawData["path"].string == "/v1/item/\(index + 1)")
            #expect(rawData.response.headerFields[HTTPField.Name("X-Item")!] == "yes")
            #expect(rawData.source == .network)
        }
        #expect(layer.server.paths == ["/v1/held", "/v1/_batch"])
        #expect(Set(layer.server.requests[1].itemPaths) == ["/v1/item/1", "/v1/item/2", "/v1/item/3"])
        #expect(layer.network.merger.laneCount == 0)
    }

    @Test func waitersAreSentAfterFiftyMilliseconds() async throws {
        let layer = MergingLayer()
        let first = try await layer.holdOne()
        let calls = (1...2).map { number in Task { try await layer.network.call(Read("item/\(number)")) } }
        try await layer.waitForWaiting(2)
        try await waitUntil { layer.clock.nextDeadline?.offset == .milliseconds(50) }
        layer.clock.advance(by: .milliseconds(50))
        for call in calls { _ = try await call.value }
        #expect(layer.server.paths == ["/v1/held", "/v1/_batch"])
        layer.server.held.open()
        _ = try await first.value
    }

    @Test func sequentialCallsAreSentUnmerged() async throws {
        let layer = MergingLayer(EnvelopeServer()) { $0.settling = .milliseconds(2) }
        for number in 1...3 { _ = try await layer.network.call(Read("item/\(number)")) }
        #expect(layer.server.paths == ["/v1/item/1", "/v1/item/2", "/v1/item/3"])
        let records = try await layer.records.records(count: 3)
        #expect(records.flatMap { $0.decisions(of: MergeDecision.self) } == [.sentAtOnce, .sentAtOnce, .sentAtOnce])
    }

    @Test func aSingleWaiterIsSentUnmerged() async throws {
        let layer = MergingLayer()
        let first = try await layer.holdOne()
        let call = Task { try await layer.network.call(Read("item")) }
        try await layer.waitForWaiting(1)
        layer.server.held.open()
        _ = try await (first.value, call.value)
        #expect(layer.server.paths == ["/v1/held", "/v1/item"])
        let record = try await layer.records.records(count: 2).max { $0.id < $1.id }
        #expect(record?.decisions(of: MergeDecision.self) == [.waitedAlone])
        #expect(record?.attempts.count == 1)
    }

    /// Eight callers who each call again after their response share nearly every request.
    @Test func repeatedCallersAreMerged() async throws {
        let layer = MergingLayer(EnvelopeServer(holdsEnvelopes: true)) { $0.settling = .milliseconds(2) }
        let first = try await layer.holdOne()
        let callers = (1...7).map { caller in
            Task { for round in 1...3 { _ = try await layer.network.call(Read("\(caller)/\(round)")) } }
        }
        try await layer.waitForWaiting(7)
        layer.server.held.open()
        _ = try await first.value
        let last = Task { for round in 1...3 { _ = try await layer.network.call(Read("8/\(round)")) } }
        layer.server.envelopes.open()
        for caller in callers + [last] { try await caller.value }
        #expect(layer.server.paths == ["/v1/held", "/v1/_batch", "/v1/_batch", "/v1/_batch"])
        #expect(layer.server.requests.map(\.items.count) == [0, 8, 8, 8])
    }

    @Test func fullEnvelopesLeaveAtOnce() async throws {
        let layer = MergingLayer(EnvelopeServer(holdsEnvelopes: true)) { $0.maximumCount = 4 }
        let first = try await layer.holdOne()
        let calls = (1...8).map { number in Task { try await layer.network.call(Read("\(number)")) } }
        // Nothing has landed yet: that they are full is why they left.
        try await layer.server.envelopes.waitForArrivals(count: 2)
        #expect(layer.server.requests.map(\.items.count) == [0, 4, 4])
        layer.server.envelopes.open()
        for call in calls { _ = try await call.value }
        layer.server.held.open()
        _ = try await first.value
    }

    @Test func largeRequestsAreSentAlone() async throws {
        let layer = MergingLayer(EnvelopeServer()) { $0.maximumByteCount = 100 }
        let first = try await layer.holdOne()
        let large = try await layer.network.call(Write(content: .bytes(Array(repeating: 65, count: 101))))
        #expect(large["path"].string == "/v1/write")
        // Path, name and value of one field and 41 bytes: two of them do not fit.
        let calls = (1...2).map { _ in
            Task { try await layer.network.call(Write(content: .bytes(Array(repeating: 65, count: 41)))) }
        }
        // The second lets the first leave, and leaves when that has landed.
        for call in calls { _ = try await call.value }
        #expect(layer.server.paths == ["/v1/held", "/v1/write", "/v1/write", "/v1/write"])
        layer.server.held.open()
        _ = try await first.value
    }

    @Test func nothingIsMergedUnlessTheServiceSaysSo() async throws {
        let layer = MergingLayer()
        layer.network.configure(Merged.self) { $0.merging = nil }
        let first = try await layer.holdOne()
        _ = try await layer.network.call(Read("item"))
        #expect(layer.server.paths == ["/v1/held", "/v1/item"])
        layer.server.held.open()
        _ = try await first.value
        let records = try await layer.records.records(count: 2)
        #expect(records.allSatisfy { $0.decisions(of: MergeDecision.self).isEmpty })
    }

    @Test func unmergeableRequestsAreSentAtOnce() async throws {
        let layer = MergingLayer()
        let first = try await layer.holdOne()
        _ = try await layer.network.call(LonelyRead(path: "lonely"))
        let stream = try await layer.network.stream(Read("stream"))
        _ = try await stream.body.collect(upTo: 100)
        let body = RequestBody.stream(BodyStream([1, 2]), byteCount: 2, isReplayable: true)
        _ = try await layer.network.call(Write(content: body))
        let head = HTTPRequest(method: .get, scheme: "https", authority: "merged.test", path: "/v1/exchange")
        _ = try await layer.network.exchange(Request(head: head), with: Merged.self)
        #expect(layer.server.paths == ["/v1/held", "/v1/lonely", "/v1/stream", "/v1/write", "/v1/exchange"])
        layer.server.held.open()
        _ = try await first.value
        let records = try await layer.records.records(count: 5)
        let reasons = records.sorted { $0.id < $1.id }.flatMap { $0.decisions(of: MergeDecision.self) }
        #expect(
            reasons == [
                .sentAtOnce, .notMerged(.endpoint), .notMerged(.unsuited), .notMerged(.unsuited), .notMerged(.endpoint),
            ])
    }

    @Test func accountsAndEnvironmentsDoNotShareAnEnvelope() async throws {
        let layer = MergingLayer()
        var calls: [Task<RawData, any Error>] = []
        for account in ["ada", "bob"] {
            layer.network.configure(Merged.self) { $0.account = account }
            calls.append(try await layer.holdOne())
            for number in 1...2 {
                let count = layer.network.merger.waitingCount
                calls.append(Task { try await layer.network.call(Read("\(account)/\(number)")) })
                try await layer.waitForWaiting(count + 1)
            }
        }
        layer.network.configure(Merged.self) { $0.environment = .development }
        calls.append(try await layer.holdOne())
        #expect(layer.network.merger.waitingCount == 4)
        layer.server.held.open()
        for call in calls { _ = try await call.value }
        let envelopes = layer.server.requests.filter { !$0.items.isEmpty }.map(\.itemPaths).sorted { $0[0] < $1[0] }
        #expect(envelopes == [["/v1/ada/1", "/v1/ada/2"], ["/v1/bob/1", "/v1/bob/2"]])
    }
}

extension MergingLayer {
    /// Waits until so many requests wait to leave with others.
    func waitForWaiting(_ count: Int) async throws {
        try await waitUntil { network.merger.waitingCount >= count }
    }

    /// Merges requests into one envelope, while one is in flight, and returns their calls in order.
    func merge<E: Endpoint>(_ endpoints: [E]) async throws -> [Task<RawData, any Error>] {
        let first = try await holdOne()
        var calls: [Task<RawData, any Error>] = []
        for endpoint in endpoints {
            calls.append(Task { [network] in try await network.call(endpoint) })
            try await waitForWaiting(calls.count)
        }
        server.held.open()
        _ = try await first.value
        return calls
    }
}
