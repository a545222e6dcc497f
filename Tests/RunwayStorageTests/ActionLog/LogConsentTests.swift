import Foundation
import Runway
import RunwayTesting
import Testing

@testable import RunwayStorage

/// What the user and the server decide: opting out, erasure, and the server's pace.
@Suite(.timeLimit(.minutes(10)))
struct LogConsentTests {
    @Test func optingOutRemovesEverythingAndIsStored() async throws {
        let fixture = LogFixture()
        fixture.status.set(.none)
        var log = fixture.open()
        try await log.record("first").committed()
        log.record("second")
        try await log.setOptedOut(true)
        await #expect(throws: StorageError.self) { try await log.record("third").committed() }
        var state = try await log.state()
        #expect(state.isOptedOut && state.waitingCount == 0 && state.bufferedCount == 0)
        #expect(state.lost == [.optedOut: 1])
        await log.close()
        #expect(try Data(contentsOf: fixture.folder.file).firstRange(of: Data("first".utf8)) == nil)

        fixture.status.set(.wifi)
        log = fixture.open()
        // The next run does not know before it has read the file.
        await #expect(throws: StorageError.self) { try await log.record("fourth").committed() }
        await log.flush()
        #expect(fixture.server.batches.isEmpty)
        #expect(try await log.state().isOptedOut)
        try await log.setOptedOut(false)
        try await log.record("fifth").committed()
        await log.flush()
        #expect(fixture.server.names == ["fifth"])
        state = try await log.state()
        #expect(!state.isOptedOut)
        await log.close()
    }

    @Test func optingOutErasesTheAccountAtTheServer() async throws {
        let fixture = LogFixture()
        fixture.signIn("ada")
        let log = fixture.open()
        try await log.record("a").committed()
        await log.flush()
        try await log.setOptedOut(true)
        try await waitUntil("the erasure") { fixture.server.erasures == ["ada"] }
        try await waitUntil("its end") { try await log.state().pendingErasureCount == 0 }
        await log.close()
    }

    @Test func erasureAtTheServerSurvivesARestartAndComesFirst() async throws {
        let fixture = LogFixture(
            LogServer { batch, _ in batch.records.isEmpty && batch.account == "bob" ? .status(500) : nil })
        fixture.status.set(.none)
        fixture.signIn("ada")
        var log = fixture.open()
        try await log.record("erased").committed()
        try await log.erase(account: "ada", atServer: true)
        try await log.record("later").committed()
        await log.close()

        fixture.signIn("bob")
        fixture.status.set(.wifi)
        log = fixture.open()
        try await log.record("of bob").committed()
        await log.flush()
        #expect(fixture.server.names == ["of bob"] && fixture.server.erasures.isEmpty)
        #expect(try await log.state().pendingErasureCount == 1)
        fixture.signIn("ada")
        await log.flush()
        try await waitUntil("the record after the erasure") { fixture.server.names == ["of bob", "later"] }
        #expect(fixture.server.erasures == ["ada"])
        #expect(try await log.state().pendingErasureCount == 0)
        await #expect(throws: StorageError.self) { try await log.erase(account: "", atServer: true) }
        await log.close()
    }

    @Test func erasureThatFailsHoldsUpItsAccountAlone() async throws {
        let fixture = LogFixture(LogServer { batch, _ in batch.number == 0 ? .status(404) : nil })
        fixture.status.set(.none)
        let log = fixture.open()
        try await log.record("of nobody").committed()
        fixture.signIn("ada")
        try await log.erase(account: "ada", atServer: true)
        try await log.record("of ada").committed()
        fixture.status.set(.wifi)
        await log.flush()
        #expect(fixture.server.names == ["of nobody"])
        #expect(try await log.state().pendingErasureCount == 1)
        await log.close()
    }

    @Test func stoppedClientStaysStoppedAndProbesLater() async throws {
        let fixture = LogFixture()
        fixture.server.setPace(#"{"wait":600,"sample":0}"#)
        var log = fixture.open()
        try await log.record("a").committed()
        await log.flush()
        await #expect(throws: StorageError.self) { try await log.record("b").committed() }
        #expect(try await log.state().lost == [.sampled: 1])
        await log.close()

        log = fixture.open()
        try await waitUntil("the stored pace to be read") {
            log.record("c")
            return try await log.state().lost[.sampled] ?? 0 > 0
        }
        await log.flush()
        #expect(fixture.server.names == ["a"])
        let count = try await log.state().waitingCount
        fixture.server.setPace("")
        fixture.clock.advance(by: .seconds(601))
        try await log.record("probe").committed()
        await log.flush()
        #expect(fixture.server.names.last == "probe" && fixture.server.names.count == count + 2)
        try await log.record("d").committed()
        await log.close()
    }

    @Test func sampleWithoutAWaitLastsAnHour() async throws {
        let fixture = LogFixture()
        fixture.server.setPace(#"{"sample":0}"#)
        let log = fixture.open()
        try await log.record("a").committed()
        await log.flush()
        fixture.clock.advance(by: .seconds(3599))
        await #expect(throws: StorageError.self) { try await log.record("b").committed() }
        fixture.clock.advance(by: .seconds(2))
        try await log.record("c").committed()
        await log.close()
    }
}
