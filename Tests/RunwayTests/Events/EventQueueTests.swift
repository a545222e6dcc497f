import Dispatch
import Foundation
import RunwayTesting
import Synchronization
import Testing

@testable import Runway

/// A sink that blocks its thread at its first record until it is released.
private final class BlockingSink: EventSink {
    let entered = ScriptedGate()
    private let released = DispatchSemaphore(value: 0)
    /// Guards the numbers that came.
    private let seen = Mutex<[UInt64]>([])
    var numbers: [UInt64] { seen.withLock { $0 } }

    func receive(_ record: FlightRecord) {
        seen.withLock { $0.append(record.id.number) }
        guard !entered.isOpen else { return }
        entered.open()
        released.wait()
    }

    func release() { released.signal() }
}

/// A sink that counts how many threads are in it at once.
private final class CrowdedSink: EventSink {
    private struct State {
        var inside = 0
        var crowd = 0
        var numbers: [UInt64] = []
    }

    /// Guards who is inside and what came.
    private let state = Mutex(State())
    var crowd: Int { state.withLock { $0.crowd } }
    var numbers: [UInt64] { state.withLock { $0.numbers } }

    func receive(_ record: FlightRecord) {
        state.withLock { state in
            state.inside += 1
            state.crowd = max(state.crowd, state.inside)
        }
        sched_yield()
        state.withLock { state in
            state.numbers.append(record.id.number)
            state.inside -= 1
        }
    }
}

/// A sink that finishes another flight for each record that it receives, so that its queue is never empty.
private final class RestlessSink: EventSink {
    /// Guards the layer whose flights it finishes.
    private let network = Mutex<NetworkLayer?>(nil)

    func start(_ network: NetworkLayer) {
        self.network.withLock { $0 = network }
        network.makeFlight(QueryCall.self, .standard).finish(.succeeded)
    }

    func stop() { network.withLock { $0 = nil } }

    func receive(_ record: FlightRecord) {
        network.withLock { $0 }?.makeFlight(QueryCall.self, .standard).finish(.succeeded)
    }
}

@Suite(.timeLimit(.minutes(10)))
struct EventQueueTests {
    /// Waits for a flush of the layer's records, for as long as ``waitUntil`` waits.
    private func flush(_ network: NetworkLayer, fileID: String = #fileID, line: Int = #line) async throws {
        let isOver = Mutex(false)
        let flush = Task {
            await network.flushRecords()
            isOver.withLock { $0 = true }
        }
        defer { flush.cancel() }
        try await waitUntil("the flush to end", fileID: fileID, line: line) { isOver.withLock { $0 } }
    }

    @Test func sinkThatBlocksDelaysNoFlight() async throws {
        let sink = BlockingSink()
        let layer = StubbedLayer(sinks: [sink])
        for _ in 0..<50 { _ = try await layer.network.call(QueryCall()) }
        try await sink.entered.pass()
        for _ in 0..<50 { _ = try await layer.network.call(QueryCall()) }
        #expect(sink.numbers == [1])
        sink.release()
        await layer.network.flushRecords()
        #expect(sink.numbers == Array(1...100))
        #expect(layer.records.records.map(\.id.number) == Array(1...100))
        #expect(layer.network.droppedRecordCount == 0)
    }

    @Test func recordsBeyondTheBoundAreDroppedAndCounted() async throws {
        let sink = BlockingSink()
        let layer = StubbedLayer(sinks: [sink])
        func fly(_ count: Int) {
            for _ in 0..<count { layer.network.makeFlight(QueryCall.self, .standard).finish(.succeeded) }
        }
        fly(1)
        try await sink.entered.pass()
        // The one that the sink has in hand counts.
        fly(EventQueue.maximumPendingRecords - 1)
        #expect(layer.network.droppedRecordCount == 0)
        fly(10)
        #expect(layer.network.droppedRecordCount == 10)
        sink.release()
        await layer.network.flushRecords()
        #expect(sink.numbers == Array(1...UInt64(EventQueue.maximumPendingRecords)))
        fly(1)
        await layer.network.flushRecords()
        #expect(sink.numbers.last == UInt64(EventQueue.maximumPendingRecords + 11))
        #expect(layer.network.droppedRecordCount == 10)
    }

    @Test func flushOfAnIdleQueueReturnsAtOnce() async throws {
        let layer = StubbedLayer()
        try await flush(layer.network)
        #expect(layer.records.records.isEmpty)
        try await flush(NetworkLayer(transport: StubTransport { _ in .json("{}") }, pipeline: .tested))
    }

    @Test func flushWaitsForEarlierRecords() async throws {
        let sink = BlockingSink()
        let layer = StubbedLayer(sinks: [sink])
        _ = try await layer.network.call(QueryCall())
        try await sink.entered.pass()
        async let flushed: Void = layer.network.flushRecords()
        async let flushedToo: Void = layer.network.flushRecords()
        sink.release()
        _ = await (flushed, flushedToo)
        #expect(sink.numbers == [1])
        #expect(layer.records.records.count == 1)
    }

    @Test func sinksReceiveRecordsInTheOrderOfLanding() async throws {
        let sink = CrowdedSink()
        let network = StubbedLayer(sinks: [sink]).network
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<200 { group.addTask { network.makeFlight(QueryCall.self, .standard).finish(.cancelled) } }
        }
        let flights = (0..<200).map { _ in network.makeFlight(QueryCall.self, .standard) }
        for flight in flights.reversed() { flight.finish(.vetoed) }
        await network.flushRecords()
        #expect(sink.crowd == 1)
        #expect(Set(sink.numbers.prefix(200)) == Set(1...200))
        #expect(sink.numbers.dropFirst(200) == flights.reversed().map(\.id.number)[...])
    }

    @Test func flushEndsDespiteNewRecords() async throws {
        let sink = RestlessSink()
        let layer = StubbedLayer(sinks: [sink])
        defer { sink.stop() }
        sink.start(layer.network)
        for _ in 0..<3 {
            let recordCount = layer.records.records.count
            try await flush(layer.network)
            try await waitUntil("new records to come") { layer.records.records.count > recordCount }
        }
    }

    @Test func callEndsOnceHoweverOftenItIsEnded() async throws {
        let layer = StubbedLayer()
        let flight = layer.network.makeFlight(QueryCall.self, .standard)
        #expect(flight.finish(.vetoed))
        #expect(!flight.finish(.succeeded))
        #expect(!flight.finish(.cancelled))
        #expect(try await layer.record().outcome.name == "vetoed")
    }
}
