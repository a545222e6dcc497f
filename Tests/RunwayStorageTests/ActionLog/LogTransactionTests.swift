import Foundation
import GRDB
import Runway
import RunwayJSON
import RunwayTesting
import Synchronization
import Testing

@testable import RunwayStorage

/// What became of a batch is stored in one transaction: the process may end after any.
@Suite(.timeLimit(.minutes(10)))
struct LogTransactionTests {
    /// What the file of a log has after each transaction.
    private final class Commits: TransactionObserver, Sendable {
        struct Counts: Sendable {
            var claimed: Int
            var setAside: Int
            var streams: Int
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
                streams: count("stream"))
            counts.withLock { $0.append(found) }
        }
    }

    /// Records, and returns the transactions until a record was set aside.
    private func commits(recording names: [String], _ server: LogServer) async throws -> [Commits.Counts] {
        let fixture = LogFixture(server)
        fixture.status.set(.none)
        let log = fixture.open()
        for name in names { try await log.record(name).committed() }
        let commits = Commits()
        try await log.store.run { journal throws(StorageError) in
            try journal.write { $0.add(transactionObserver: commits) }
        }
        fixture.status.set(.wifi)
        try await waitUntil("the record to be set aside") { try await log.state().setAsideCount == 1 }
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
}
