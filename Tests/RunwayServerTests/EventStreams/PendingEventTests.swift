import RunwayTesting
import Synchronization
import Testing

@testable import RunwayServer

/// The events that wait to be stored, and those that are stored in one step.
@Suite(.timeLimit(.minutes(10)))
struct PendingEventTests {
    /// A log that stores nothing before its gate is open.
    private final class GatedLog: EventLog {
        let gate = ScriptedGate()
        private let log = MemoryEventLog()
        /// Guards how many events each step had.
        private let counts = Mutex<[Int]>([])

        var stepCounts: [Int] { counts.withLock { $0 } }

        func range() -> EventLogRange { log.range() }
        func append(_ events: [PublishedEvent]) async throws -> EventLogRange {
            counts.withLock { $0.append(events.count) }
            try await gate.pass()
            return log.append(events)
        }
        func events(after offset: Int64, upTo count: Int) -> (first: Int64, events: [PublishedEvent]) {
            log.events(after: offset, upTo: count)
        }
    }

    private let log = GatedLog()

    /// Publishes an event that is being stored, and then others that wait, one after the other. The log stores them after `body`.
    private func publish(
        _ byteCounts: [Int], to server: HubUnderTest, _ body: () async throws -> Void = {}
    ) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await server.publish("first") }
            try await log.gate.waitForArrivals()
            for (index, byteCount) in byteCounts.enumerated() {
                group.addTask { try await server.publish(String(repeating: "x", count: byteCount)) }
                try await waitUntil("event \(index)") { server.hub.state.withLock { $0.pending.count } == index + 1 }
            }
            try await body()
            log.gate.open()
            try await group.waitForAll()
        }
        #expect(server.hub.state.withLock { $0.pendingByteCount } == 0)
    }

    /// The second is larger than the bound, and alone.
    @Test(arguments: [[600, 400], [2000]]) func bytesOfPendingEventsAreBounded(_ byteCounts: [Int]) async throws {
        let server = try await HubUnderTest(log) { $0.maximumPendingByteCount = 1000 }
        try await publish(byteCounts, to: server) {
            await #expect(throws: EventHubError.tooManyPending) { try await server.publish("x") }
            #expect(server.hub.state.withLock { $0.pending.count } == byteCounts.count)
        }
        try await server.publish("x")
    }

    @Test func stepsOfTheLogAreBoundedInBytes() async throws {
        try await publish(Array(repeating: 900_000, count: 10), to: HubUnderTest(log))
        #expect(log.stepCounts == [1, 5, 5])
    }
}
