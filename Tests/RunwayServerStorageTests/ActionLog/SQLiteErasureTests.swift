import Foundation
import GRDB
import RunwayServer
import Testing

@testable import RunwayServerStorage

/// How the sink over a real file removes contents.
struct SQLiteErasureTests {
    private let folder = ScratchFolder()

    /// What removes contents.
    enum Removal: CaseIterable { case ofAccount, ofNobody, byAge }

    @Test(arguments: Removal.allCases)
    func eachTransactionRemovesAThousandContents(_ removal: Removal) async throws {
        let first = try SQLiteActionLogSink(at: folder.file)
        let (installation, account) = (UUID(), removal == .ofNobody ? nil : "ada")
        for _ in 0..<2 {
            let ids = (0..<1000).map { _ in UUID() }
            _ = try await first.store(.init(1, of: installation, stream: UUID(), account: account, ids))
        }
        try await first.close()
        // The abort rolls back everything that the transaction of this record removed.
        let queue = try DatabaseQueue(path: folder.file.path)
        try await queue.write { database in
            try database.execute(
                sql: """
                    CREATE TRIGGER stop BEFORE UPDATE ON record WHEN OLD.sequence = 1500
                    BEGIN SELECT RAISE(ABORT, 'stopped'); END
                    """)
        }
        try queue.close()
        let second = try SQLiteActionLogSink(at: folder.file)
        func remove() async throws {
            switch removal {
            case .ofAccount: try await second.erase(account: "ada")
            case .ofNobody: try await second.erase(anonymousRecordsOf: installation)
            case .byAge: try second.removeContents(receivedBefore: .distantFuture)
            }
        }
        await #expect(throws: ServerStorageError.self) { try await remove() }
        let places = try ActionLogFile(at: folder.file).records(limit: 2000).map(\.sequence)
        #expect(places == Array(1001...2000 as ClosedRange<Int64>))
        try await second.close()
    }

    @Test func erasureOfNobodyConcernsOneInstallation() async throws {
        let sink = try SQLiteActionLogSink(at: folder.file)
        let (installation, stream, a, b, c) = (UUID(), UUID(), UUID(), UUID(), UUID())
        _ = try await sink.store(.init(1, of: installation, stream: stream, [a]))
        _ = try await sink.store(.init(1, of: installation, stream: UUID(), account: "ada", [b]))
        _ = try await sink.store(.init(1, stream: UUID(), [c]))
        try await sink.erase(anonymousRecordsOf: UUID())
        let file = ActionLogFile(at: folder.file)
        #expect(try file.records().map(\.id) == [a, b, c])
        try await sink.erase(anonymousRecordsOf: installation)
        #expect(try file.records().map(\.id) == [b, c] && file.damagedRecords().isEmpty)
        // The number and the id are known, and the next batch of the stream is stored.
        #expect(try await sink.store(.init(1, of: installation, stream: stream, [a])) == .known)
        let d = UUID()
        #expect(try await sink.store(.init(2, of: installation, stream: stream, [a, d])) == .stored(duplicates: [a]))
        #expect(try file.records().map(\.id) == [b, c, d])
        try await sink.close()
    }

    @Test(arguments: [ActionLogOwner.account("ada"), .nobody(installation: UUID())])
    func erasureReadsNoOtherRecords(_ owner: ActionLogOwner) async throws {
        try await SQLiteActionLogSink(at: folder.file).close()
        let queue = try DatabaseQueue(path: folder.file.path)
        let plan = try await queue.read { database in
            try Row.fetchAll(
                database,
                sql: """
                    EXPLAIN QUERY PLAN SELECT sequence FROM record
                    WHERE \(owner.candidates.condition) AND sequence > 0 AND sequence <= 9 ORDER BY sequence LIMIT 1000
                    """,
                arguments: [owner.candidates.value]
            ).map { $0["detail"] as String }
        }
        #expect(plan.count == 1 && plan.allSatisfy { $0.contains("INDEX record_by_") }, "\(plan)")
        try queue.close()
    }

    @Test func erasureThatFindsNothingMovesNoLog() async throws {
        let sink = try SQLiteActionLogSink(at: folder.file)
        let installation = UUID()
        _ = try await sink.store(.init(1, of: installation, stream: UUID(), [UUID()]))
        try await sink.erase(anonymousRecordsOf: UUID())
        #expect(sink.logByteCount > 0)
        try await sink.erase(anonymousRecordsOf: installation)
        #expect(sink.logByteCount == 0)
        try await sink.close()
    }

    @Test(.timeLimit(.minutes(5))) func erasureWaitsForNoReader() async throws {
        let sink = try SQLiteActionLogSink(at: folder.file)
        _ = try await sink.store(.init(1, stream: UUID(), account: "ada", [UUID()]))
        var configuration = Configuration()
        configuration.readonly = true
        configuration.allowsUnsafeTransactions = true
        let reader = try DatabaseQueue(path: folder.file.path, configuration: configuration)
        try await reader.writeWithoutTransaction { try $0.execute(sql: "BEGIN; SELECT count(*) FROM record") }
        try await sink.erase(account: "ada")
        #expect(try ActionLogFile(at: folder.file).records().isEmpty)
        #expect(sink.logByteCount > 0)
        try await reader.writeWithoutTransaction { try $0.execute(sql: "COMMIT") }
        try await sink.close()
        let next = try SQLiteActionLogSink(at: folder.file)
        // All is moved to the file: what was erased is overwritten there.
        #expect(next.logByteCount == 0)
        try reader.close()
        try await next.close()
    }
}
