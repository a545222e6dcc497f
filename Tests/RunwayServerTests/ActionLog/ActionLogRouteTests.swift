import Foundation
import Hummingbird
import Runway
import RunwayServer
import RunwayStorage
import RunwayTesting
import RunwayTransport
import Synchronization
import Testing

/// The log of the client and the sink of the server, over a socket.
@Suite(.timeLimit(.minutes(10)))
struct ActionLogRouteTests {
    /// Fails the first batches, after it stored some of them.
    private final class UnreliableSink: ActionLogSink {
        struct Failure: Error {}

        let stored = MemoryActionLogSink()
        private let count = Atomic(0)

        func store(_ batch: RunwayServer.ActionLogBatch) async throws -> ActionLogStorage {
            let number = count.wrappingAdd(1, ordering: .relaxed).oldValue
            if number % 3 == 0 { throw Failure() }
            let storage = try stored.store(batch)
            // It is stored, and the response says otherwise.
            if number % 3 == 1 { throw Failure() }
            return storage
        }
    }

    /// Runs a server with the route, and a log that sends to it.
    private func run(
        _ sink: some ActionLogSink, maximumRecordCount: Int = 1000,
        _ use: (ActionLog, ManualClock) async throws -> Void
    ) async throws {
        try await LogClient.serve {
            var route = ActionLogRoute(to: sink)
            route.limits.maximumRecordCount = maximumRecordCount
            route.add(to: $0)
        } _: { client in
            let log = client.open()
            try await use(log, client.clock)
            await log.close()
        }
    }

    private func send(_ count: Int, _ log: ActionLog, _ clock: ManualClock) async throws {
        for number in 0..<count { log.record("r\(number)", ["text": .string("值 \(number)")]) }
        try await log.drain(clock)
    }

    @Test func bothHalvesAgreeOnTheFormat() async throws {
        let sink = MemoryActionLogSink()
        try await run(sink) { log, clock in try await send(100, log, clock) }
        #expect(sink.records.map(\.name) == (0..<100).map { "r\($0)" })
        let first = try #require(sink.records.first).json
        #expect(String(decoding: first, as: UTF8.self).contains("\"properties\":{\"text\":\"值 0\"}"))
    }

    @Test func everyRecordIsStoredOnceThroughFailures() async throws {
        let sink = UnreliableSink()
        try await run(sink) { log, clock in try await send(100, log, clock) }
        #expect(sink.stored.records.map(\.name) == (0..<100).map { "r\($0)" })
    }

    @Test func batchThatIsTooLargeIsHalved() async throws {
        let sink = MemoryActionLogSink()
        try await run(sink, maximumRecordCount: 4) { log, clock in try await send(40, log, clock) }
        #expect(sink.records.map(\.name) == (0..<40).map { "r\($0)" })
    }

    @Test func memorySinkStoresABatchOnce() throws {
        let sink = MemoryActionLogSink()
        func batch(_ number: Int64, stream: UUID, _ ids: [UUID]) -> RunwayServer.ActionLogBatch {
            .init(
                installation: UUID(), stream: stream, number: number, account: nil,
                records: ids.map { .init(id: $0, name: "r", json: []) })
        }
        let (stream, a, b) = (UUID(), UUID(), UUID())
        #expect(try sink.store(batch(2, stream: stream, [a])) == .gap(expected: 1))
        #expect(try sink.store(batch(1, stream: stream, [a])) == .stored(duplicates: []))
        #expect(try sink.store(batch(1, stream: stream, [a])) == .known)
        #expect(try sink.store(batch(1, stream: UUID(), [a, b])) == .stored(duplicates: [a]))
        #expect(sink.records.map(\.id) == [a, b])
        // The number was used for other records.
        #expect(try sink.store(batch(1, stream: stream, [UUID()])) == .gap(expected: 2))
        #expect(try sink.store(batch(1, stream: stream, [a, UUID()])) == .gap(expected: 2))
        #expect(sink.records.map(\.id) == [a, b])
    }
}
