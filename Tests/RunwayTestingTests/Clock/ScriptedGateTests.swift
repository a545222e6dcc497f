import RunwayTesting
import Testing

@Suite(.timeLimit(.minutes(10)))
struct ScriptedGateTests {
    @Test func holdsEverybodyUntilItOpens() async throws {
        let gate = ScriptedGate()
        #expect(!gate.isOpen)
        let tasks = (0..<3).map { _ in Task { try await gate.pass() } }
        try await gate.waitForArrivals(count: 3)
        #expect(gate.arrivalCount == 3)
        gate.open()
        for task in tasks { try await task.value }
        #expect(gate.isOpen)
    }

    @Test func staysOpen() async throws {
        let gate = ScriptedGate()
        gate.open()
        gate.open()
        try await gate.pass()
        try await gate.pass()
        #expect(gate.arrivalCount == 2)
    }

    @Test func cancelledTaskDoesNotWaitOn() async throws {
        let gate = ScriptedGate()
        let task = Task { try await gate.pass() }
        try await gate.waitForArrivals()
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(!gate.isOpen)
    }

    @Test func waitForArrivalsTimesOutWithASentence() async throws {
        let error = await #expect(throws: WaitTimedOut.self) {
            try await ScriptedGate().waitForArrivals(within: .milliseconds(1))
        }
        #expect(error?.description == "Gave up after 0.001 seconds: waited for 1 arrivals at a gate, saw 0.")
    }
}
