import Runway
import RunwayTesting
import Testing

@Suite(.timeLimit(.minutes(10)))
struct RecordCollectorTests {
    /// The records of some calls.
    private func records(of count: Int) async throws -> [FlightRecord] {
        let collector = RecordCollector()
        let network = NetworkLayer(transport: StubTransport { _ in .json("{}") }, sinks: [collector])
        for id in 0..<count { _ = try await network.call(Item(id: id)) }
        return try await collector.records(count: count)
    }

    private func amended(_ record: FlightRecord) -> FlightRecord {
        var record = record
        record.isAmendment = true
        record.outcome = .cancelled
        return record
    }

    @Test func recordsAreInTheOrderOfLanding() async throws {
        #expect(try await records(of: 3).map(\.id.number) == [1, 2, 3])
    }

    @Test func flushedRecordsAreThereWithoutAWait() async throws {
        let collector = RecordCollector()
        let network = NetworkLayer(transport: StubTransport { _ in .json("{}") }, sinks: [collector])
        _ = try await network.call(Item())
        await network.flushRecords()
        #expect(collector.records.map(\.endpoint) == ["Item"])
    }

    @Test func amendedRecordReplacesTheEarlierOne() async throws {
        let received = try await records(of: 2)
        var foreign = received[0]
        foreign.network = "another"
        let collector = RecordCollector()
        for record in received + [foreign, amended(received[0])] { collector.receive(record) }
        #expect(collector.records.map(\.outcome.name) == ["cancelled", "succeeded", "succeeded"])
        #expect(collector.records.map(\.network) == ["default", "default", "another"])
    }

    @Test func waitEndsWithTheLastAwaitedRecord() async throws {
        let received = try await records(of: 2)
        let collector = RecordCollector()
        async let awaited = collector.records(count: 2)
        for record in received { collector.receive(record) }
        let seen = try await awaited
        #expect(seen.map(\.id) == received.map(\.id))
    }

    @Test func waitThatTimesOutNamesTheCount() async throws {
        let record = try await records(of: 1)[0]
        let collector = RecordCollector()
        collector.receive(record)
        // A record that is received again is not counted twice.
        collector.receive(amended(record))
        let error = await #expect(throws: WaitTimedOut.self) {
            try await collector.records(count: 2, within: .milliseconds(1))
        }
        #expect(error?.subject == "records")
        #expect(error?.expected == 2)
        #expect(error?.seen == 1)
    }

    @Test func cancelledWaitThrowsCancellationError() async {
        let collector = RecordCollector()
        let wait = Task { try await collector.records(count: 1) }
        wait.cancel()
        await #expect(throws: CancellationError.self) { try await wait.value }
    }
}
