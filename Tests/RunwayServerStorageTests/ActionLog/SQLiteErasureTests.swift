import Foundation
import GRDB
import RunwayServer
import Testing

@testable import RunwayServerStorage

/// How the sink over a real file removes contents.
struct SQLiteErasureTests {
    private let folder = ScratchFolder()

    @Test(arguments: [true, false]) func eachTransactionRemovesAThousandContents(_ isErasure: Bool) async throws {
        let first = try SQLiteActionLogSink(at: folder.file)
        for _ in 0..<2 {
            _ = try await first.store(.init(1, stream: UUID(), account: "ada", (0..<1000).map { _ in UUID() }))
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
            if isErasure {
                try await second.erase(account: "ada")
            } else {
                try second.removeContents(receivedBefore: .distantFuture)
            }
        }
        await #expect(throws: ServerStorageError.self) { try await remove() }
        let places = try ActionLogFile(at: folder.file).records(limit: 2000).map(\.sequence)
        #expect(places == Array(1001...2000 as ClosedRange<Int64>))
        try await second.close()
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
