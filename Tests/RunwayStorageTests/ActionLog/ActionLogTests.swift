import Foundation
import Runway
import RunwayJSON
import RunwayTesting
import Synchronization
import Testing

@testable import RunwayStorage

@Suite(.timeLimit(.minutes(10)))
struct ActionLogTests {
    @Test func recordsArriveInOrderOnce() async throws {
        let fixture = LogFixture()
        let log = fixture.open()
        for number in 0..<100 { log.record("r\(number)", ["n": .integer(Int64(number))]) }
        await log.flush()
        #expect(fixture.server.names == (0..<100).map { "r\($0)" })
        #expect(fixture.server.countsOnce)
        #expect(fixture.server.batches.map(\.number) == Array(1...fixture.server.batches.count))
        #expect(fixture.server.batches.allSatisfy { $0.records.count <= 30 })
        let state = await log.currentState
        #expect(state.waitingCount == 0 && state.bufferedCount == 0)
        #expect(state.sentCount == 100)
        await log.close()
    }

    @Test func thirtyRecordsAreSentUnasked() async throws {
        let fixture = LogFixture()
        let log = fixture.open()
        for number in 0..<29 { log.record("r\(number)") }
        try await log.record("last").committed()
        try await waitUntil("the batch") { fixture.server.names.count == 30 }
        await log.close()
    }

    @Test func unsentRecordsAreSentAtTheNextLaunch() async throws {
        let fixture = LogFixture()
        fixture.status.set(.none)
        let first = fixture.open()
        try await first.record("left").committed()
        await first.close()
        #expect(fixture.server.batches.isEmpty)
        fixture.status.set(.wifi)
        let second = fixture.open()
        try await waitUntil("the record") { fixture.server.names == ["left"] }
        await second.close()
    }

    @Test func networkThatReturnsHasRecordsSent() async throws {
        let fixture = LogFixture()
        fixture.status.set(.none)
        let log = fixture.open()
        log.record("waits")
        await log.flush()
        #expect(fixture.server.batches.isEmpty)
        fixture.status.set(.wifi)
        try await waitUntil("the record") { fixture.server.names == ["waits"] }
        await log.close()
    }

    @Test func lostResponseRepeatsTheSameBatch() async throws {
        let fixture = LogFixture(LogServer { _, count in count == 0 ? .lostResponse : nil })
        let log = fixture.open()
        log.record("a")
        await log.flush()
        log.record("b")
        try await waitUntil("the second batch") {
            await log.flush()
            return fixture.server.names.count == 2
        }
        #expect(fixture.server.names == ["a", "b"])
        let batches = fixture.server.batches
        #expect(batches.map(\.number) == [1, 1, 2])
        #expect(batches[0].names == batches[1].names)
        await log.close()
    }

    @Test func transientFailuresLoseNothing() async throws {
        let fixture = LogFixture(LogServer { _, count in count % 3 == 2 ? nil : .status(count % 3 == 0 ? 503 : 500) })
        let log = fixture.open()
        for number in 0..<70 { log.record("r\(number)") }
        try await fixture.drain(log, upTo: 70)
        #expect(fixture.server.names == (0..<70).map { "r\($0)" })
        #expect(await log.currentState.lost == [:])
        await log.close()
    }

    @Test func poisonRecordIsSetAsideAlone() async throws {
        let fixture = LogFixture(LogServer { batch, _ in batch.names.contains("poison") ? .status(400) : nil })
        let log = fixture.open()
        for number in 0..<40 { log.record(number == 17 ? "poison" : "r\(number)") }
        try await fixture.drain(log, upTo: 39)
        #expect(fixture.server.countsOnce)
        #expect(fixture.server.names == (0..<40).filter { $0 != 17 }.map { "r\($0)" })
        let refused = try await log.refusedRecords()
        #expect(refused.map { String(decoding: $0.json, as: UTF8.self).contains("poison") } == [true])
        try await log.discard(Set(refused.map(\.id)))
        #expect(await log.currentState.setAsideCount == 0)
        await log.close()
    }

    @Test func poisonRecordCanBeEdited() async throws {
        let fixture = LogFixture(LogServer { batch, _ in batch.names.contains("poison") ? .status(422) : nil })
        let log = fixture.open()
        let receipt = log.record("poison", ["text": "a"])
        try await receipt.committed()
        try await waitUntil("the refusal") {
            await log.flush()
            return await log.currentState.setAsideCount == 1
        }
        let former = try #require(fixture.server.batches.last?.records.first)
        await #expect(throws: StorageError.self) { try await log.edit(UUID(), as: "cure") }
        await #expect(throws: StorageError.self) { try await log.edit(receipt.id, as: "nan", ["x": .double(.nan)]) }
        try await log.edit(receipt.id, as: "cure", ["text": "b", "password": "hunter2"])
        try await fixture.drain(log, upTo: 1)
        let record = try #require(fixture.server.batches.last?.records.first)
        for member in ["id", "time", "boot", "uptime", "session"] {
            #expect(
                record[member].rawBytes.elementsEqual(former[member].rawBytes) && record[member].exists, "\(member)")
        }
        #expect(record["name"].string == "cure" && record["properties"]["text"].string == "b")
        #expect(record["properties"]["password"].string != "hunter2")
        #expect(await log.currentState.setAsideCount == 0)
        await log.close()
    }

    @Test func attemptsAreDatedAndRecordsKeepTheirDates() async throws {
        let date = Mutex(Date(timeIntervalSince1970: 1_790_000_000))
        let fixture = LogFixture(
            LogServer { _, count in count == 0 ? .status(503) : nil }, wall: { date.withLock { $0 } })
        fixture.signIn("ada")
        let log = fixture.open()
        // The launch is over, so that one flush makes one attempt.
        await log.flush()
        let receipt = log.record("a")
        await log.flush()
        date.withLock { $0 -= 365 * 86_400 }
        try await fixture.drain(log, upTo: 1)
        let batches = fixture.server.batches
        #expect(batches.map(\.sent) == [1_790_000_000_000, 1_790_000_000_000 - 365 * 86_400_000])
        #expect(batches.map(\.account) == ["ada", "ada"])
        for record in batches.flatMap(\.records) {
            #expect(record["time"].int == 1_790_000_000_000)
            let id = try #require(record["id"].string.flatMap { UUID(uuidString: $0) })
            #expect(id == receipt.id && id.uuid.6 >> 4 == 7)
            for member in ["seq", "boot", "uptime", "session"] { #expect(record[member].exists, "\(member)") }
        }
        await log.close()
    }

    @Test func tooLargeBatchIsHalved() async throws {
        let fixture = LogFixture(
            LogServer { batch, _ in batch.account == nil && batch.records.count > 10 ? .status(413) : nil })
        fixture.status.set(.none)
        let log = fixture.open()
        for number in 0..<60 { log.record("r\(number)") }
        fixture.signIn("ada")
        for number in 0..<59 { log.record("a\(number)") }
        try await log.record("a59").committed()
        fixture.status.set(.wifi)
        try await fixture.drain(log, upTo: 120)
        let names = fixture.server.names
        #expect(names.filter { $0.hasPrefix("r") } == (0..<60).map { "r\($0)" })
        // The batches of another account are as large as before.
        #expect(names.filter { $0.hasPrefix("a") } == (0..<60).map { "a\($0)" })
        #expect(fixture.server.batches.filter { $0.account != nil }.map(\.records.count) == [30, 30])
        #expect(fixture.server.countsOnce)
        #expect(await log.currentState.setAsideCount == 0)
        await log.close()
    }

    @Test(arguments: ["", "{}", "[1,2", #"{"stream":"x","batch":1,"records":[]}"#, "null"])
    func garbageAcknowledgesNothing(_ text: String) async throws {
        let fixture = LogFixture(LogServer { _, count in count < 2 ? .text(text) : nil })
        let log = fixture.open()
        log.record("a")
        try await fixture.drain(log, upTo: 1)
        #expect(fixture.server.batches.map(\.number) == [1, 1, 1])
        await log.close()
    }

    @Test func halfAnAcknowledgementIsCountedOnce() async throws {
        let fixture = LogFixture(LogServer { batch, _ in batch.records.count > 1 ? .half : nil })
        let log = fixture.open()
        for number in 0..<20 { log.record("r\(number)") }
        try await waitUntil("all acknowledged") {
            await log.flush()
            fixture.clock.advance(by: .seconds(3600))
            return await log.currentState.waitingCount == 0
        }
        #expect(fixture.server.names == (0..<20).map { "r\($0)" })
        #expect(fixture.server.countsOnce)
        await log.close()
    }

    @Test func verdictsOnOtherRecordsMeanNothing() throws {
        let batch = JournalBatch(
            stream: UUID(), number: 3, scope: "", entries: [JournalEntry("{}")])
        let id = batch.entries[0].id
        func read(_ records: String) throws -> ActionLogVerdicts? {
            let text =
                #"{"stream":"\#(batch.stream.text)","batch":3,"records":[\#(records)],"pace":{"wait":1e300,"sample":-1}}"#
            return ActionLogVerdicts(try JSONDocument(text).root, to: batch)
        }
        #expect(try read(#"{"id":"\#(UUID())","verdict":"stored"}"#) == nil)
        #expect(try read(#"{"id":"\#(id)","verdict":"perhaps"}"#) == nil)
        let both = try read(#"{"id":"\#(id)","verdict":"stored"},{"id":"\#(id)","verdict":"refused"}"#)
        #expect(both?.stored == [id])
        #expect(both?.refused == [:])
        #expect(both?.gap == .seconds(86_400))
        #expect(both?.sampleRate == 0)
    }

    @Test func recordsAreSentOnlyAsTheirAccount() async throws {
        let fixture = LogFixture()
        fixture.status.set(.none)
        let log = fixture.open()
        fixture.signIn("ada")
        try await log.record("of ada").committed()
        fixture.signIn("bob")
        try await log.record("of bob").committed()
        fixture.status.set(.wifi)
        await log.flush()
        #expect(fixture.server.names == ["of bob"])
        #expect(fixture.server.batches.map(\.account) == ["bob"])
        fixture.signIn("ada")
        await log.flush()
        #expect(fixture.server.names == ["of bob", "of ada"])
        #expect(Set(fixture.server.batches.map(\.stream)).count == 2)
        await log.close()
    }

    @Test func erasedAccountIsNeverSent() async throws {
        let fixture = LogFixture()
        fixture.status.set(.none)
        let log = fixture.open()
        fixture.signIn("ada")
        try await log.record("stored").committed()
        log.record("buffered")
        try await log.erase(account: "ada")
        fixture.signIn("bob")
        log.record("other")
        fixture.signIn("ada")
        fixture.status.set(.wifi)
        await log.flush()
        fixture.signIn("bob")
        await log.flush()
        #expect(fixture.server.names == ["other"])
        await log.close()
    }

    @Test func secretsAreRedactedBeforeTheDisk() async throws {
        let fixture = LogFixture()
        fixture.status.set(.none)
        let log = fixture.open()
        try await log.record(
            "signed in",
            [
                "password": "hunter2", "nested": ["token": "hunter2"],
                "url": "https://a.example/?access_token=hunter2&x=1",
            ]
        ).committed()
        try await log.record("https://a.example/?access_token=hunter2&x=1").committed()
        await log.close()
        let bytes = try Data(contentsOf: fixture.folder.file)
        #expect(bytes.firstRange(of: Data("signed in".utf8)) != nil)
        #expect(bytes.firstRange(of: Data("hunter2".utf8)) == nil)
    }

    @Test func unwritableRecordIsRejectedAndCounted() async throws {
        let fixture = LogFixture()
        let log = fixture.open()
        await #expect(throws: StorageError.self) { try await log.record("nan", ["x": .double(.nan)]).committed() }
        await #expect(throws: StorageError.self) {
            try await log.record("huge", ["x": .string(String(repeating: "x", count: 40_000))]).committed()
        }
        try await log.record("fine").committed()
        #expect(await log.currentState.lost == [.rejected: 2])
        await log.flush()
        #expect(fixture.server.names == ["fine"])
        await log.close()
    }

    @Test func diskThatFailsLeavesRecordsInMemory() async throws {
        let fixture = LogFixture()
        try Data("a file where the folder should be".utf8).write(to: fixture.folder.url)
        let log = fixture.open()
        for name in ["a", "b"] {
            await #expect(throws: StorageError.self) { try await log.record(name).committed() }
        }
        let state = await log.currentState
        #expect(state.problem?.kind == .unavailable && state.bufferedCount == 2)
        try FileManager.default.removeItem(at: fixture.folder.url)
        await log.flush()
        #expect(fixture.server.names == ["a", "b"])
        #expect(await log.currentState.lost == [:])
        await log.close()
    }

    @Test func damagedFileIsReportedAndBegunAnew() async throws {
        let fixture = LogFixture()
        try FileManager.default.createDirectory(at: fixture.folder.url, withIntermediateDirectories: true)
        try Data("this is no database, and long enough for a header of one".utf8).write(to: fixture.folder.file)
        let log = fixture.open()
        // Nobody knows whether the user opted out.
        await #expect(throws: StorageError.self) { try await log.record("a").committed() }
        let state = await log.currentState
        #expect(state.unreadableFiles.count == 1 && state.isOptedOut)
        try await log.setOptedOut(false)
        try await log.record("b").committed()
        await log.flush()
        #expect(fixture.server.names == ["b"])
        await log.close()
    }

    @Test func secondLogOfAFileReportsTheLock() async throws {
        let fixture = LogFixture()
        let first = fixture.open()
        try await first.record("a").committed()
        let second = fixture.open()
        do throws(StorageError) {
            try await second.record("b").committed()
            Issue.record("Two logs use one file.")
        } catch {
            #expect(error.kind == .locked)
        }
        await first.close()
        await second.flush()
        #expect(Set(fixture.server.names) == ["a", "b"])
        await second.close()
    }

    @Test func recordAfterTheCloseIsRefused() async throws {
        let log = LogFixture().open()
        try await log.record("before").committed()
        await log.close()
        let late = log.record("after")
        let error = await #expect(throws: StorageError.self) { try await late.committed() }
        #expect(error?.kind == .rejected)
    }

    @Test func sessionEndsAfterSilence() async throws {
        let fixture = LogFixture()
        let log = fixture.open()
        // The launch is over: no call is in flight when the clock advances.
        await log.flush()
        log.record("a")
        fixture.clock.advance(by: .seconds(1800))
        log.record("b")
        fixture.clock.advance(by: .seconds(1801))
        log.record("c")
        await log.flush()
        let sessions = fixture.server.batches.flatMap(\.records).map { $0["session"].string }
        #expect(sessions[0] == sessions[1])
        #expect(sessions[1] != sessions[2])
        let uptimes = fixture.server.batches.flatMap(\.records).compactMap { $0["uptime"].int }
        #expect(uptimes[2] - uptimes[0] == 3_601_000)
        await log.close()
    }

    @Test func unsampledRecordsAreCounted() async throws {
        let fixture = LogFixture()
        let log = fixture.open { $0.sampleRates = ["scrolled": 0] }
        await #expect(throws: StorageError.self) { try await log.record("scrolled").committed() }
        try await log.record("opened").committed()
        #expect(await log.currentState.lost == [.sampled: 1])
        await log.close()
    }
}
