import Foundation
import GRDB
import Runway
import RunwayTesting
import Synchronization
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
        var state = await log.currentState
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
        #expect(await log.currentState.isOptedOut)
        try await log.setOptedOut(false)
        try await log.record("fifth").committed()
        await log.flush()
        #expect(fixture.server.names == ["fifth"])
        state = await log.currentState
        #expect(!state.isOptedOut)
        await log.close()
    }

    /// Leaves a file whose opt-out has removed all records but the oldest.
    private func interruptOptOut(in folder: ScratchFolder) throws {
        let journal = try Journal(in: folder)
        // The oldest is in a transaction of its own.
        try journal.append((0..<3).map { "\($0)" + String(repeating: "x", count: 600_000) })
        try journal.write { database in
            try database.execute(
                sql: """
                    CREATE TRIGGER interruption BEFORE DELETE ON entry WHEN OLD.sequence = 1
                    BEGIN SELECT RAISE(ABORT, 'interrupted'); END
                    """)
        }
        #expect(throws: StorageError.self) { try journal.setOptedOut(true) }
        #expect(try journal.isOptedOut() && journal.counts().waiting == ["": 1])
        try journal.write { try $0.execute(sql: "DROP TRIGGER interruption") }
        try journal.close()
    }

    @Test func resumingCompletesAnInterruptedOptOut() async throws {
        let fixture = LogFixture()
        try interruptOptOut(in: fixture.folder)
        // It has no layer yet: nothing else completes the opt-out.
        let log = ActionLog(at: fixture.folder.file)
        try await log.setOptedOut(false)
        let state = await log.currentState
        #expect(!state.isOptedOut && state.waitingCount == 0)
        await log.close()
    }

    @Test func nextRunCompletesAnInterruptedOptOut() async throws {
        let fixture = LogFixture()
        try interruptOptOut(in: fixture.folder)
        let log = fixture.open()
        try await waitUntil("the end of the erasure") { await log.currentState.waitingCount == 0 }
        #expect(await log.currentState.isOptedOut)
        #expect(fixture.server.batches.isEmpty)
        await log.close()
    }

    @Test func completionOverwritesWhatAnOptOutRemoved() throws {
        let folder = ScratchFolder()
        let journal = try Journal(in: folder)
        try journal.append(["diary"])
        try journal.storeDecision(true)
        // As after a kill: the write-ahead log still has what was removed.
        try journal.write { try $0.execute(sql: "DELETE FROM entry") }
        let log = URL(fileURLWithPath: folder.file.path + "-wal")
        #expect(try Data(contentsOf: log).firstRange(of: Data("diary".utf8)) != nil)
        let setAside = folder.file.appendingPathExtension("unreadable-1")
        try Data().write(to: setAside)
        try journal.completeOptOut()
        for file in [folder.file, log] {
            #expect(try Data(contentsOf: file).firstRange(of: Data("diary".utf8)) == nil, "\(file.lastPathComponent)")
        }
        #expect(FileManager.default.fileExists(atPath: setAside.path))
        try journal.close()
    }

    @Test func accountWithANullCharacterHasNoRecords() async throws {
        let (fixture, account) = (LogFixture(), "ada\u{0}x")
        fixture.status.set(.none)
        fixture.signIn("ada")
        let log = fixture.open()
        try await log.record("of ada").committed()
        fixture.signIn(account)
        let error = await #expect(throws: StorageError.self) { try await log.record("a").committed() }
        #expect(error?.kind == .rejected)
        for isErasedAtServer in [false, true] {
            let refusal = await #expect(throws: StorageError.self) {
                try await log.erase(account: account, atServer: isErasedAtServer)
            }
            #expect(refusal?.kind == .rejected)
        }
        // SQLite would have taken it for the other account.
        #expect(await log.currentState.waitingCount == 1)
        try await log.erase(account: "ada", atServer: true)
        try await log.setOptedOut(true)
        fixture.status.set(.wifi)
        await log.flush()
        let state = await log.currentState
        #expect(state.lost == [.rejected: 1] && state.unreadableFiles.isEmpty && state.pendingErasureCount == 1)
        #expect(fixture.server.erasures.isEmpty)
        fixture.signIn("ada")
        try await waitUntil("the erasure of the other account") { fixture.server.erasures == ["ada"] }
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
        try await waitUntil("its end") { await log.currentState.pendingErasureCount == 0 }
        await log.close()
    }

    @Test func optingOutErasesAllAccountsThatRecorded() async throws {
        let fixture = LogFixture()
        fixture.signIn("ada")
        var log = fixture.open()
        try await log.record("a").committed()
        await log.flush()
        await log.close()
        fixture.signIn("bob")
        log = fixture.open()
        try await log.record("b").committed()
        await log.flush()
        #expect(fixture.server.names == ["a", "b"])
        try await log.setOptedOut(true)
        try await waitUntil("the erasure of bob") { fixture.server.erasures == ["bob"] }
        try await waitUntil("its end") { await log.currentState.pendingErasureCount == 1 }
        fixture.signIn("ada")
        try await waitUntil("the erasure of ada") { fixture.server.erasures == ["bob", "ada"] }
        try await waitUntil("its end") { await log.currentState.pendingErasureCount == 0 }
        // The accounts are forgotten: the next decision is about what comes later.
        try await log.setOptedOut(false)
        fixture.signIn(nil)
        try await log.setOptedOut(true)
        #expect(await log.currentState.pendingErasureCount == 0)
        await log.close()
        for file in try FileManager.default.contentsOfDirectory(at: fixture.folder.url, includingPropertiesForKeys: nil)
        {
            #expect(try Data(contentsOf: file).firstRange(of: Data("bob".utf8)) == nil, "\(file.lastPathComponent)")
        }
    }

    @Test func optingOutErasesAccountsThatWereErasedLocally() async throws {
        let fixture = LogFixture()
        let log = fixture.open()
        for (account, isErasedAtServer) in [("ada", false), ("bob", true)] {
            fixture.signIn(account)
            try await log.record("of \(account)").committed()
            await log.flush()
            try await log.erase(account: account, atServer: isErasedAtServer)
        }
        try await waitUntil("the erasure of bob") { await log.currentState.pendingErasureCount == 0 }
        fixture.signIn(nil)
        try await log.setOptedOut(true)
        // The server was asked to erase the other account.
        #expect(await log.currentState.pendingErasureCount == 1)
        fixture.signIn("ada")
        try await waitUntil("the erasure of ada") { fixture.server.erasures == ["bob", "ada"] }
        await log.close()
    }

    @Test func serverErasureSurvivesARestartAndComesFirst() async throws {
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
        #expect(await log.currentState.pendingErasureCount == 1)
        fixture.signIn("ada")
        await log.flush()
        try await waitUntil("the record after the erasure") { fixture.server.names == ["of bob", "later"] }
        #expect(fixture.server.erasures == ["ada"])
        #expect(await log.currentState.pendingErasureCount == 0)
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
        #expect(await log.currentState.pendingErasureCount == 1)
        await log.close()
    }

    /// The server has no route, redirects, or responds with a success that confirms nothing.
    @Test(arguments: [200, 202, 302, 304, 404, 405, 501])
    func unconfirmedErasureIsNotRetriedForever(_ status: Int) async throws {
        let requests = Mutex(0)
        let fixture = LogFixture(
            LogServer { batch, _ in
                guard batch.number == 0 else { return nil }
                requests.withLock { $0 += 1 }
                return .status(status)
            })
        fixture.status.set(.none)
        fixture.signIn("ada")
        var log = fixture.open()
        try await log.record("erased").committed()
        try await log.erase(account: "ada", atServer: true)
        try await log.record("later").committed()
        fixture.status.set(.wifi)
        try await fixture.drain(log, upTo: 1)
        #expect(fixture.server.names == ["later"] && requests.withLock { $0 } == 5)
        var state = await log.currentState
        #expect(state.pendingErasureCount == 0 && state.refusedErasures == ["ada": "status \(status)"])
        #expect(try Data(contentsOf: fixture.folder.file).firstRange(of: Data("\"erased\"".utf8)) == nil)
        await log.close()

        log = fixture.open()
        try await log.record("of the next run").committed()
        await log.flush()
        #expect(fixture.server.names == ["later", "of the next run"] && requests.withLock { $0 } == 5)
        #expect(await log.currentState.refusedErasures == ["ada": "status \(status)"])
        // The app may ask again.
        try await log.setOptedOut(true)
        try await waitUntil("the server to be asked again") { requests.withLock { $0 } == 6 }
        state = await log.currentState
        #expect(state.isOptedOut && state.refusedErasures == [:] && state.waitingCount == 0)
        await log.close()
    }

    @Test func redirectedErasureIsNotDone() async throws {
        let fixture = LogFixture(LogServer { batch, _ in batch.number == 0 ? .redirect : nil })
        let log = fixture.open()
        try await log.record("of nobody").committed()
        await log.flush()
        fixture.signIn("ada")
        try await log.record("of ada").committed()
        await log.flush()
        #expect(fixture.server.names == ["of nobody", "of ada"])
        try await log.setOptedOut(true)
        try await waitUntil("the end of both erasures") {
            await log.flush()
            return await log.currentState.pendingErasureCount == 0
        }
        #expect(await log.currentState.refusedErasures == ["": "status 200", "ada": "status 200"])
        #expect(fixture.server.secrets.count == 5 && fixture.server.erasures.isEmpty)
        await log.close()
    }

    /// A date of which the second reading waits, which is that of the file when it is opened.
    private final class FileGate: Sendable {
        private let state = Mutex((isClosed: false, count: 0))

        var isReached: Bool { state.withLock { $0.count > 1 } }

        func close() { state.withLock { $0 = (true, 0) } }
        func open() { state.withLock { $0.isClosed = false } }

        var date: Date {
            let count = state.withLock { state in
                state.count += 1
                return state.count
            }
            while count > 1, state.withLock({ $0.isClosed }) { Thread.sleep(forTimeInterval: 0.001) }
            return Date()
        }
    }

    @Test func decisionWhileTheFileIsReadHolds() async throws {
        let gate = FileGate()
        let fixture = LogFixture(wall: { gate.date })
        var log = fixture.open()
        try await log.setOptedOut(true)
        await log.close()

        gate.close()
        log = fixture.open()
        // The file is being opened to be read, for what the user decided in the last run.
        try await waitUntil("the file to be opened") { gate.isReached }
        let decision = Task { [log] in try await log.setOptedOut(false) }
        try await waitUntil("the decision") { log.store.operationCount == 2 }
        gate.open()
        try await decision.value
        await log.flush()
        try await log.record("after").committed()
        await log.flush()
        #expect(fixture.server.names == ["after"])
        #expect(await !log.currentState.isOptedOut)
        await log.close()
    }

    @Test func stoppedClientStaysStoppedAndProbesLater() async throws {
        let fixture = LogFixture()
        fixture.server.setPace(#"{"wait":600,"sample":0}"#)
        var log = fixture.open()
        try await log.record("a").committed()
        await log.flush()
        await #expect(throws: StorageError.self) { try await log.record("b").committed() }
        #expect(await log.currentState.lost == [.sampled: 1])
        await log.close()

        log = fixture.open()
        try await waitUntil("the stored pace to be read") {
            log.record("c")
            return await log.currentState.lost[.sampled] ?? 0 > 0
        }
        await log.flush()
        #expect(fixture.server.names == ["a"])
        let count = await log.currentState.waitingCount
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
