import Foundation
import Runway
import RunwayTesting
import Synchronization
import Testing

@testable import RunwayStorage

/// A server that fails by a fault of its own, on some records or on all.
@Suite(.timeLimit(.minutes(10)))
struct LogFaultTests {
    /// Flushes, past every backoff, until a condition holds.
    private func drain(
        _ fixture: LogFixture, _ log: ActionLog, until condition: () async throws -> Bool
    ) async throws {
        try await waitUntil("the server to be done") {
            await log.flush()
            return try await condition()
        } meanwhile: {
            fixture.clock.advance(by: .seconds(601))
        }
    }

    @Test(arguments: [500, 404, 415]) func onlyTheFailingRecordIsSetAside(_ status: Int) async throws {
        let fixture = LogFixture(LogServer { batch, _ in batch.names.contains("poison") ? .status(status) : nil })
        let log = fixture.open()
        for number in 0..<40 { log.record(number == 17 ? "poison" : "r\(number)") }
        try await drain(fixture, log) { fixture.server.names.count == 39 }
        #expect(fixture.server.names == (0..<40).filter { $0 != 17 }.map { "r\($0)" })
        #expect(fixture.server.countsOnce)
        #expect(fixture.server.batches.count < 50)
        let refused = try await log.refusedRecords()
        #expect(refused.map { String(decoding: $0.json, as: UTF8.self).contains("poison") } == [true])
        #expect(refused[0].reason == "The server failed on it with status \(status).")
        let state = await log.currentState
        #expect(state.lost == [:] && !state.isServerRefusingAll)
        await log.close()
    }

    @Test func serverThatRefusesEverythingGetsItAllLater() async throws {
        let isWell = Flag(false)
        let fixture = LogFixture(LogServer { _, _ in isWell.isOn ? nil : .status(404) })
        let log = fixture.open()
        for number in 0..<40 { log.record("r\(number)") }
        try await drain(fixture, log) { await log.currentState.isServerRefusingAll }
        var state = await log.currentState
        #expect(state.setAsideCount >= 3 && state.setAsideCount + state.waitingCount == 40)
        isWell.isOn = true
        try await drain(fixture, log) { fixture.server.names.count == 40 }
        #expect(fixture.server.countsOnce)
        state = await log.currentState
        #expect(state.lost == [:] && state.setAsideCount == 0 && !state.isServerRefusingAll)
        await log.close()
    }

    @Test func flushSendsWhatASeriesOfRefusalsReturns() async throws {
        let isWell = Flag(false)
        let fixture = LogFixture(
            LogServer { batch, _ in
                if batch.names == ["r3"] { isWell.isOn = true }
                return isWell.isOn ? nil : .status(422)
            })
        let log = fixture.open()
        await log.flush()
        for number in 0..<4 { try await log.record("r\(number)").committed() }
        // The first ends with the second refusal, and the second with the third: the server seems to refuse everything.
        for _ in 0..<3 { await log.flush() }
        #expect(fixture.server.names == ["r3", "r0", "r1", "r2"])
        let state = await log.currentState
        #expect(state.waitingCount == 0 && state.setAsideCount == 0)
        await log.close()
    }

    @Test func refusalOfErasedRecordsEndsNothing() async throws {
        let gate = ScriptedGate()
        let fixture = LogFixture(LogServer { _, count in count == 0 ? .refused(gate) : nil })
        let log = fixture.open()
        await log.flush()
        try await log.record("erased", priority: .high).committed()
        try await gate.waitForArrivals()
        try await log.erase(account: "")
        try await log.record("later", priority: .high).committed()
        try await waitUntil("the cause to send it") {
            log.sender.loop.schedule { $0.policy.reading?.counts[""] == 1 }
        }
        gate.open()
        try await waitUntil("the later record") { fixture.server.names == ["later"] }
        await log.close()
    }

    @Test func serverFaultsEvictNoRecords() async throws {
        let fixture = LogFixture(LogServer { _, _ in .status(500) })
        let log = fixture.open {
            $0.maximumSetAsideCount = 4
            $0.maximumServerFaults = 1
            $0.maximumAge = .seconds(365 * 86_400)
        }
        for number in 0..<10 { log.record("r\(number)") }
        try await drain(fixture, log) { fixture.server.batches.count > 40 }
        let state = await log.currentState
        #expect(state.setAsideCount == 4 && state.waitingCount == 6)
        #expect(state.lost == [:])
        await log.close()
    }

    @Test func refusedAccountDoesNotHoldUpAnother() async throws {
        let fixture = LogFixture(LogServer { batch, _ in batch.account == nil ? .status(403) : nil })
        let log = fixture.open()
        try await log.record("of nobody").committed()
        fixture.signIn("ada")
        for number in 0..<40 { log.record("r\(number)") }
        await log.flush()
        #expect(fixture.server.names == (0..<40).map { "r\($0)" })
        #expect(fixture.server.batches.filter { $0.account == nil }.count < 5)
        #expect(await log.currentState.waitingCount == 1)
        await log.close()
    }

    @Test func unresponsiveServerIsSentTheSameBatchAgain() async throws {
        let gate = ScriptedGate()
        let fixture = LogFixture(LogServer { _, count in count == 0 ? .held(gate) : nil })
        let log = fixture.open()
        log.record("a")
        let flush = Task { await log.flush() }
        try await gate.waitForArrivals()
        try await waitUntil("the second attempt") {
            fixture.server.names == ["a"]
        } meanwhile: {
            // Not past the deadline of the second attempt.
            if fixture.server.batches.count < 2 { fixture.clock.advance(by: .seconds(5)) }
        }
        await flush.value
        #expect(fixture.server.batches.map(\.number) == [1, 1])
        await log.close()
    }

    @Test func signInDuringRetryAfterReadsNothing() async throws {
        let fixture = LogFixture(LogServer { _, count in count == 0 ? .status(503, retryAfter: 60) : nil })
        fixture.status.set(.none)
        fixture.signIn("ada")
        var log = fixture.open()
        try await log.record("of ada").committed()
        await log.close()
        fixture.signIn(nil)
        fixture.status.set(.wifi)
        log = fixture.open()
        try await log.record("of nobody").committed()
        await log.flush()
        #expect(fixture.server.batches.count == 1)
        let count = log.store.operationCount
        fixture.signIn("ada")
        await log.sender.servicesDidChange()
        #expect(log.store.operationCount == count)
        fixture.clock.advance(by: .seconds(61))
        try await waitUntil("both records") { Set(fixture.server.names) == ["of ada", "of nobody"] }
        await log.close()
    }

    @Test func retryAfterHoldsInTheNextRun() async throws {
        let fixture = LogFixture(LogServer { _, count in count == 0 ? .status(503, retryAfter: 60) : nil })
        var log = fixture.open()
        try await log.record("a").committed()
        await log.flush()
        await log.close()
        log = fixture.open()
        await log.flush()
        #expect(fixture.server.batches.count == 1)
        fixture.clock.advance(by: .seconds(61))
        try await waitUntil("the record") { fixture.server.names == ["a"] }
        await log.close()
    }

    @Test func nothingIsReadFromDiskDuringRetryAfter() async throws {
        let fixture = LogFixture(LogServer { _, count in count == 0 ? .status(503, retryAfter: 60) : nil })
        let log = fixture.open()
        try await log.record("a").committed()
        await log.flush()
        #expect(fixture.server.batches.count == 1)
        let count = log.store.operationCount
        for _ in 0..<5 {
            fixture.clock.advance(by: .seconds(11))
            await log.flush()
        }
        #expect(log.store.operationCount == count)
        #expect(fixture.server.batches.count == 1)
        fixture.clock.advance(by: .seconds(6))
        try await waitUntil("the record") { fixture.server.names == ["a"] }
        await log.close()
    }
}
