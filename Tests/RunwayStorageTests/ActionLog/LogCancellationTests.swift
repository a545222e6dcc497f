import Foundation
import Runway
import RunwayTesting
import Testing

@testable import RunwayStorage

/// Waits that end when their task is cancelled, while what they wait for goes on.
@Suite(.timeLimit(.minutes(10)))
struct LogCancellationTests {
    @Test func cancelledFlushReturnsWhileSendingGoesOn() async throws {
        let gate = ScriptedGate()
        let fixture = LogFixture(LogServer { _, count in count == 0 ? .held(gate) : nil })
        let log = fixture.open()
        for number in 0..<39 { log.record("r\(number)") }
        // All are on disk by then, so that the flush is about all of them.
        try await log.record("last").committed()
        let flush = Task { await log.flush() }
        try await gate.waitForArrivals()
        flush.cancel()
        await flush.value
        #expect(fixture.server.names.isEmpty)
        gate.open()
        try await waitUntil("the records") { fixture.server.names.count == 40 }
        #expect(fixture.server.countsOnce)
        await log.close()
    }

    @Test func cancelledPassReturns() async {
        let buffer = RecordBuffer(ActionLogOptions(), clock: .system)
        let pass = Task { await buffer.pass() }
        for await _ in buffer.additions.prefix(1) {}
        pass.cancel()
        await pass.value
        // The writer's pass finds a wait that has ended.
        await buffer.perform {}
    }

    @Test func cancelledWaitForACommitThrows() async throws {
        let buffer = RecordBuffer(ActionLogOptions(), clock: .system)
        let receipt = buffer.add("a", [:], .normal, account: "")
        let wait = Task { try await receipt.committed() }
        wait.cancel()
        await #expect { try await wait.value } throws: { ($0 as? StorageError)?.kind == .cancelled }
        receipt.settle(.success(()))
        try await receipt.committed()
    }
}
