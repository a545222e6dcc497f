import Foundation
import GRDB
import Runway
import RunwayJSON
import RunwayTesting
import Synchronization
import Testing

@testable import RunwayStorage

/// What became of a batch is stored in one transaction, and so is an opt-out: the process may end after any.
@Suite(.timeLimit(.minutes(10)))
struct LogTransactionTests {
    /// What the file of a log has after each transaction.
    private final class Commits: TransactionObserver, Sendable {
        struct Counts: Sendable {
            var claimed: Int
            var setAside: Int
            var streams: Int
            /// Of accounts that the server is to be asked to erase.
            var erasures: Int
            var optOuts: Int
        }

        private let counts = Mutex<[Counts]>([])

        var all: [Counts] { counts.withLock { $0 } }

        func observes(eventsOfKind eventKind: DatabaseEventKind) -> Bool { true }
        func databaseDidChange(with event: DatabaseEvent) {}
        func databaseDidRollback(_ db: Database) {}

        func databaseDidCommit(_ db: Database) {
            func count(_ rows: String) -> Int { (try? Int.fetchOne(db, sql: "SELECT count(*) FROM \(rows)")) ?? -1 }
            let found = Counts(
                claimed: count("entry WHERE state = 1"), setAside: count("entry WHERE state = 2"),
                streams: count("stream"), erasures: count("setting WHERE name LIKE 'erase %'"),
                optOuts: count("setting WHERE name = 'optedOut' AND value = '1'"))
            counts.withLock { $0.append(found) }
        }
    }

    /// Observes the transactions of a log from now on.
    private func observe(_ log: ActionLog) async throws -> Commits {
        let commits = Commits()
        try await log.store.run { journal throws(StorageError) in
            try journal.write { $0.add(transactionObserver: commits) }
        }
        return commits
    }

    /// Records, and returns the transactions until a record was set aside.
    private func commits(recording names: [String], _ server: LogServer) async throws -> [Commits.Counts] {
        let fixture = LogFixture(server)
        fixture.status.set(.none)
        let log = fixture.open()
        for name in names { try await log.record(name).committed() }
        let commits = try await observe(log)
        fixture.status.set(.wifi)
        try await waitUntil("the record to be set aside") { await log.currentState.setAsideCount == 1 }
        await log.close()
        #expect(commits.all.contains { $0.claimed == names.count })
        return commits.all
    }

    @Test func verdictsOnABatchAreOneTransaction() async throws {
        let server = LogServer { batch, _ in
            let records = batch.records.enumerated().map { index, record in
                #"{"id":"\#(record["id"].string ?? "")","verdict":"\#(index == 0 ? "refused" : "stored")"}"#
            }
            let list = records.joined(separator: ",")
            return .text(#"{"stream":"\#(batch.stream)","batch":\#(batch.number),"records":[\#(list)]}"#)
        }
        let commits = try await commits(recording: ["poison", "a"], server)
        // Otherwise the number of the batch would be sent again with fewer records.
        #expect(!commits.contains { $0.claimed > 0 && $0.setAside > 0 })
    }

    @Test func refusedBatchEndsInOneTransaction() async throws {
        let commits = try await commits(recording: ["poison"], LogServer { _, _ in .status(422) })
        #expect(!commits.contains { $0.setAside > 0 && $0.streams > 0 })
    }

    @Test func optOutAndItsErasuresAreOneTransaction() async throws {
        let fixture = LogFixture()
        fixture.status.set(.none)
        let log = fixture.open()
        try await log.record("a").committed()
        fixture.signIn("ada")
        let commits = try await observe(log)
        try await log.setOptedOut(true)
        // Otherwise the next run would have the server erase what it has, and go on recording.
        let states = commits.all.map { ($0.erasures, $0.optOuts) }
        #expect(states.allSatisfy { $0 == (0, 0) || $0 == (2, 1) } && states.contains { $0 == (2, 1) }, "\(states)")
        await log.close()
    }
}
