import Foundation
import Runway
import RunwayJSON
import RunwayTesting
import Testing

@testable import RunwayStorage

/// What is set aside, sent at once and dropped at the bounds of a log, also over several runs.
@Suite(.timeLimit(.minutes(10)))
struct LogBoundTests {
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

    @Test func restartsEvictNothingWhileTheServerRefusesAll() async throws {
        let isWell = Flag(false)
        let fixture = LogFixture(LogServer { _, _ in isWell.isOn ? nil : .status(500) })
        func open() -> ActionLog {
            fixture.open {
                $0.maximumSetAsideCount = 3
                $0.maximumServerFaults = 1
                $0.maximumAge = .seconds(365 * 86_400)
            }
        }
        var log = open()
        for number in 0..<10 { log.record("r\(number)") }
        try await drain(fixture, log) { await log.currentState.setAsideCount == 3 }
        for _ in 0..<3 {
            await log.close()
            log = open()
            let count = fixture.server.batches.count
            try await drain(fixture, log) { fixture.server.batches.count > count + 8 }
            let state = await log.currentState
            #expect(state.isServerRefusingAll && state.setAsideCount == 3 && state.waitingCount == 7)
            #expect(state.lost == [:])
        }
        isWell.isOn = true
        try await drain(fixture, log) {
            let state = await log.currentState
            return fixture.server.names.count == 10 && !state.isServerRefusingAll
        }
        // Those that earlier runs have set aside came, too.
        #expect(fixture.server.countsOnce)
        try await drain(fixture, log) { await log.currentState.waitingCount == 0 }
        #expect(await log.currentState.setAsideCount == 0)
        await log.close()
        // Nothing of the series is left for the next run.
        log = open()
        await log.flush()
        #expect(await log.currentState.isServerRefusingAll == false)
        await log.close()
    }

    @Test func serverThatRefusesEveryNumberIsAFault() async throws {
        let fixture = LogFixture(LogServer { batch, _ in batch.names.contains("poison") ? .status(409) : nil })
        let log = fixture.open { $0.maximumServerFaults = 2 }
        for number in 0..<8 { log.record(number == 3 ? "poison" : "r\(number)") }
        try await drain(fixture, log) { fixture.server.names.count == 7 }
        let refused = try await log.refusedRecords()
        #expect(refused.map { String(decoding: $0.json, as: UTF8.self).contains("poison") } == [true])
        // Every attempt had a number of its own.
        let numbers = fixture.server.batches.map { "\($0.stream) \($0.number)" }
        #expect(Set(numbers).count == numbers.count && fixture.server.countsOnce)
        await log.close()
    }

    @Test func reasonsOfAServerAreBoundedInBytes() throws {
        let batch = JournalBatch(
            stream: UUID(), number: 1, scope: "", entries: [JournalEntry("{}")])
        let id = batch.entries[0].id
        // One character.
        let reason = "e" + String(repeating: "\u{301}", count: 5000)
        let record = #"{"id":"\#(id)","verdict":"refused","reason":"\#(reason)"}"#
        let text = #"{"stream":"\#(batch.stream.text)","batch":1,"records":[\#(record)]}"#
        let refused = ActionLogVerdicts(try JSONDocument(text).root, to: batch)?.refused[id]
        #expect(refused?.utf8.count == 799)
    }

    @Test func fullMemoryEvictsOldestOfLowestPriority() {
        var options = ActionLogOptions()
        options.maximumBufferedCount = 3
        let buffer = RecordBuffer(options, clock: LayerClock(ManualClock()))
        for number in 0..<5 { _ = buffer.add("r\(number)", [:], number == 0 ? .normal : .low, account: "") }
        _ = buffer.add("last", [:], .normal, account: "")
        #expect(Set(buffer.take(10).0.map(\.name)) == ["r0", "r4", "last"] && buffer.lost == [.memory: 3])
    }

    @Test func memoryIsBoundedByBytes() {
        var options = ActionLogOptions()
        options.maximumBufferedByteCount = 1000
        let buffer = RecordBuffer(options, clock: LayerClock(ManualClock()))
        let text = ParameterValue.string(String(repeating: "x", count: 300))
        for number in 0..<5 {
            _ = buffer.add("r\(number)", ["text": text], number == 0 ? .high : .normal, account: "")
        }
        #expect(buffer.take(10).0.map(\.name) == ["r0", "r3", "r4"])
        #expect(buffer.lost == [.memory: 2])
        buffer.removeTaken(rejected: 0)
        // One record is there, however large it is.
        _ = buffer.add("large", ["text": .string(String(repeating: "x", count: 2000))], .normal, account: "")
        #expect(buffer.count == 1)
    }

    @Test func recordThatIsTooLargeTakesNoMemory() async throws {
        let fixture = LogFixture()
        try Data("a file where the folder should be".utf8).write(to: fixture.folder.url)
        let log = fixture.open()
        let text = ParameterValue.string(String(repeating: "x", count: 20_000))
        let receipt = log.record("huge", ["list": .array([text, .object(["text": text])])])
        await #expect { try await receipt.committed() } throws: { ($0 as? StorageError)?.kind == .rejected }
        try FileManager.default.removeItem(at: fixture.folder.url)
        let state = await log.currentState
        #expect(state.bufferedCount == 0 && state.lost == [.rejected: 1])
        await log.close()
    }

    @Test func importantRecordIsSentAtOnce() async throws {
        let fixture = LogFixture()
        let log = fixture.open()
        try await log.record("a").committed()
        try await log.record("paid", priority: .high).committed()
        try await waitUntil("the records") { fixture.server.names == ["a", "paid"] }
        await log.close()
    }

    @Test func refusedRecordIsSentAgain() async throws {
        let isWell = Flag(false)
        let fixture = LogFixture(
            LogServer { batch, _ in !isWell.isOn && batch.names.contains("poison") ? .status(422) : nil })
        let log = fixture.open()
        try await log.record("poison").committed()
        try await drain(fixture, log) { await log.currentState.setAsideCount == 1 }
        isWell.isOn = true
        try await log.retry(Set(try await log.refusedRecords().map(\.id)))
        try await waitUntil("the record") { fixture.server.names == ["poison"] }
        #expect(await log.currentState.setAsideCount == 0)
        await log.close()
    }

    @Test func recordInAFullLogCanBeEdited() async throws {
        let fixture = LogFixture(LogServer { batch, _ in batch.names.contains("poison") ? .status(422) : nil })
        let log = fixture.open { $0.maximumCount = 2 }
        let receipt = log.record("poison", ["text": "a"])
        try await receipt.committed()
        try await drain(fixture, log) { await log.currentState.setAsideCount == 1 }
        fixture.status.set(.none)
        for number in 0..<3 { try await log.record("r\(number)").committed() }
        try await log.edit(receipt.id, as: "cure", ["text": "b"])
        fixture.status.set(.wifi)
        try await drain(fixture, log) { fixture.server.names.contains("cure") }
        await log.close()
    }

    @Test func erasureWaitsForWhatIsBeingWritten() async throws {
        let fixture = LogFixture()
        fixture.status.set(.none)
        let log = fixture.open()
        try await log.record("of nobody").committed()
        fixture.signIn("ada")
        let (isBlocked, block) = AsyncStream<Void>.makeStream()
        let gate = DispatchSemaphore(value: 0)
        let blocking = Task {
            try await log.store.run { _ throws(StorageError) in
                block.yield()
                gate.wait()
            }
        }
        for await _ in isBlocked.prefix(1) {}
        let count = log.store.operationCount
        let receipt = log.record("secret of ada")
        // The writer has taken the record, and waits for the file.
        try await waitUntil("the writer") { log.store.operationCount > count }
        let erasing = Task { try await log.erase(account: "ada") }
        gate.signal()
        try await blocking.value
        try await erasing.value
        // It was written before the erasure, or never.
        _ = try? await receipt.committed()
        let state = await log.currentState
        #expect(state.waitingCount == 1 && state.bufferedCount == 0)
        await log.close()
        for file in try FileManager.default.contentsOfDirectory(at: fixture.folder.url, includingPropertiesForKeys: nil)
        {
            #expect(try Data(contentsOf: file).firstRange(of: Data("secret of ada".utf8)) == nil)
        }
    }
}
