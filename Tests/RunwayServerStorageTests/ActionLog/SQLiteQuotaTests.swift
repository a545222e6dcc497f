import Foundation
import GRDB
import RunwaySQLite
import RunwayServer
import Testing

@testable import RunwayServerStorage

/// How much a file stores of whom, and what is left for erasures.
struct SQLiteQuotaTests {
    private let folder = ScratchFolder()
    private let received = Date(timeIntervalSince1970: 1_790_000_000)

    private func open(
        _ byteCount: Int = 1 << 40, installation: Int = 1 << 40, share: Double = 1
    ) throws -> SQLiteActionLogSink {
        var quotas = ActionLogQuotas()
        quotas.maximumByteCount = byteCount
        quotas.maximumInstallationByteCount = installation
        quotas.shareOfSource = share
        return try SQLiteActionLogSink(at: folder.file, quotas: quotas) { [received] in received }
    }

    /// A first batch of a stream with one record, which counts 10,000 bytes.
    private func batch(
        of installation: UUID = UUID(), account: String? = nil, from source: String? = nil
    ) -> ActionLogBatch {
        let byteCount = 10_000 - 2 * ActionLogBatch.rowByteCount - (account?.utf8.count ?? 0) - 1
        return ActionLogBatch(
            installation: installation, stream: UUID(), number: 1, account: account,
            records: [.init(id: UUID(), name: "a", json: [UInt8](repeating: 65, count: byteCount))], source: source)
    }

    private func quota(
        _ sink: SQLiteActionLogSink, _ batch: ActionLogBatch
    ) async throws -> StoreRefusal.Kind? {
        do {
            _ = try await sink.store(batch)
            return nil
        } catch let error as StoreRefusal {
            return error.kind
        }
    }

    private func usage() throws -> [Int] {
        let queue = try DatabaseQueue(path: folder.file.path)
        defer { try? queue.close() }
        return try queue.read { try Int.fetchAll($0, sql: "SELECT bytes FROM usage") }
    }

    @Test func anInstallationHasABoundAcrossRestarts() async throws {
        let installation = UUID()
        for expected in [nil, nil, .installation, .installation] as [StoreRefusal.Kind?] {
            let sink = try open(installation: 25_000)
            #expect(try await quota(sink, batch(of: installation)) == expected)
            #expect(try await quota(sink, batch()) == nil)
            try await sink.close()
        }
        #expect(try usage().max() == 20_000)
    }

    @Test func aSourceTakesItsShareOfTheFile() async throws {
        let sink = try open(4_000_000, share: 0.1)
        var count = 0
        while try await quota(sink, batch(from: "a")) == nil { count += 1 }
        #expect((30...45).contains(count))
        #expect(try await quota(sink, batch(from: "a")) == .source)
        #expect(try await quota(sink, batch(from: "b")) == nil)
        try await sink.close()
    }

    @Test func fullFileRefusesEverybodyUntilAnErasure() async throws {
        let sink = try open(1_000_000)
        var count = 0
        while try await quota(sink, batch(account: "ada", from: "\(count)")) == nil { count += 1 }
        #expect((60...100).contains(count))
        #expect(try await quota(sink, batch(from: "z")) == .full)
        try await sink.erase(account: "ada")
        // Pages of removed contents are free.
        #expect(try await quota(sink, batch(from: "z")) == nil)
        try await sink.close()
    }

    enum Removal: CaseIterable { case ofAccount, ofNobody, byAge }

    @Test(arguments: Removal.allCases) func idsOfErasedRecordsCount(_ removal: Removal) async throws {
        let (sink, installation) = (try open(), UUID())
        for _ in 0..<3 {
            let account = removal == .ofAccount ? "ada" : nil
            #expect(try await quota(sink, batch(of: installation, account: account)) == nil)
        }
        let other = batch(account: "bob")
        _ = try await sink.store(other)
        for _ in 0..<2 {
            switch removal {
            case .ofAccount: try await sink.erase(account: "ada")
            case .ofNobody: try await sink.erase(anonymousRecordsOf: installation)
            case .byAge: try sink.removeContents(receivedBefore: .distantFuture)
            }
            let rest = removal == .byAge ? 512 : 10_000
            #expect(try Set(usage()) == [3 * 512, rest])
        }
        try await sink.close()
    }

    @Test func recordsOfAnEarlierVersionCount() async throws {
        let (sink, installation) = (try open(), UUID())
        for _ in 0..<3 { _ = try await sink.store(batch(of: installation)) }
        try await sink.close()
        let queue = try DatabaseQueue(path: folder.file.path)
        try await queue.write { try $0.execute(sql: "DROP TABLE usage; PRAGMA user_version = 3") }
        try queue.close()
        try await open().close()
        #expect(try usage() == [30_000])
    }

    @Test func storedRecordsOfNewStreamNeedNoRoom() async throws {
        let (sink, installation) = (try open(installation: 15_000), UUID())
        var repeated = batch(of: installation)
        #expect(try await sink.store(repeated) == .stored(duplicates: []))
        repeated.stream = UUID()
        #expect(try await sink.store(repeated) == .stored(duplicates: Set(repeated.records.map(\.id))))
        #expect(try await quota(sink, batch(of: installation)) == .installation)
        try await sink.close()
    }

    @Test(arguments: ["'text'", "-9223372036854775808", "x'00'", "9223372036854775807.0"])
    func damagedUsageLosesNoRecord(_ damage: String) async throws {
        let (sink, installation) = (try open(installation: 25_000), UUID())
        _ = try await sink.store(batch(of: installation, account: "ada"))
        try await sink.close()
        let queue = try DatabaseQueue(path: folder.file.path)
        try await queue.write { try $0.execute(sql: "UPDATE usage SET bytes = \(damage)") }
        try queue.close()
        let again = try open(installation: 25_000)
        #expect(try await quota(again, batch(of: installation)) == nil)
        try await again.erase(account: "ada")
        try await again.close()
    }

    @Test func erasuresHaveSpaceOfTheirOwn() throws {
        let reserve = folder.file.path + "-reserve"
        let database = try ServerDatabase(at: folder.file, ActionLogFile.schema, waitsForDrive: false, hasReserve: true)
        #expect(SQLiteFile.byteCount(at: reserve) == SpaceReserve.byteCount)
        // For which the disk is full as long as the reserve is there.
        func attempt(_ database: Database) throws -> Int {
            guard FileManager.default.fileExists(atPath: reserve) else { return 7 }
            throw DatabaseError(resultCode: .SQLITE_FULL)
        }
        #expect(throws: ServerStorageError.self) { try database.write(attempt) }
        #expect(try database.erase(attempt) == 7)
        database.endErasure()
        #expect(SQLiteFile.byteCount(at: reserve) == SpaceReserve.byteCount)
        try database.close()
    }

    @Test(arguments: ["-lock", "-reserve"]) func aLinkBesideTheFileIsNotFollowed(_ ending: String) async throws {
        try FileManager.default.createDirectory(at: folder.url, withIntermediateDirectories: true)
        let target = folder.url.appending(path: "target")
        let content = Data("of somebody else".utf8)
        try content.write(to: target)
        for target in [target, folder.url.appending(path: "new")] {
            let link = URL(fileURLWithPath: folder.file.path + ending)
            try? FileManager.default.removeItem(at: link)
            try FileManager.default.createSymbolicLink(at: link, withDestinationURL: target)
            if ending == "-lock" {
                #expect(throws: ServerStorageError.self) { try SQLiteActionLogSink(at: folder.file) }
                #expect(throws: ServerStorageError.self) { try SQLiteEventLog(file: folder.file) }
            } else {
                try await SQLiteActionLogSink(at: folder.file).close()
            }
        }
        #expect(try Data(contentsOf: target) == content)
        #expect(!FileManager.default.fileExists(atPath: folder.url.appending(path: "new").path))
    }

    @Test func damagedRowFailsItsOwnBatchAlone() async throws {
        try await SQLiteActionLogSink(at: folder.file).close()
        let queue = try DatabaseQueue(path: folder.file.path)
        try await queue.write { database in
            try database.execute(
                sql: """
                    CREATE TRIGGER damage BEFORE INSERT ON record WHEN NEW.name = 'damaged'
                    BEGIN SELECT RAISE(ABORT, 'damage'); END
                    """)
        }
        try queue.close()
        let (started, start) = AsyncStream<Void>.makeStream()
        let gate = DispatchSemaphore(value: 0)
        var limits = ActionLogWriterLimits()
        limits.maximumWaitingCount = 5
        // The date is read by the writer's thread, between taking a group and writing it.
        let sink = try SQLiteActionLogSink(at: folder.file, limits: limits) {
            start.yield()
            gate.wait()
            return Date()
        }
        let first = Task { try await sink.store(.init(1, stream: UUID(), [UUID()])) }
        for await _ in started.prefix(1) {}
        // Of eight batches five wait, so that at least one is damaged and one is not.
        enum Ending { case stored, busy, damaged }
        let endings = try await withThrowingTaskGroup(of: (Bool, Ending).self) { group in
            for number in 0..<8 {
                let isDamaged = number < 4
                group.addTask {
                    do {
                        let name = isDamaged ? "damaged" : "opened"
                        _ = try await sink.store(.init(1, stream: UUID(), [UUID()], named: name))
                        return (isDamaged, .stored)
                    } catch let error as StoreRefusal where error == .busy {
                        return (isDamaged, .busy)
                    } catch let error as ServerStorageError where error.kind == .corrupted {
                        return (isDamaged, .damaged)
                    }
                }
            }
            var endings: [(isDamaged: Bool, ending: Ending)] = []
            for try await ending in group {
                endings.append(ending)
                // All that can't wait have been refused.
                if endings.count == 3 { for _ in 0..<100 { gate.signal() } }
            }
            return endings
        }
        _ = try await first.value
        #expect(endings.prefix(3).allSatisfy { $0.ending == .busy })
        #expect(endings.dropFirst(3).allSatisfy { $0.ending == ($0.isDamaged ? .damaged : .stored) })
        try await sink.close()
    }
}
