import Foundation
import GRDB
import RunwayServer
import Synchronization
import Testing

@testable import RunwayServerStorage

/// How many records a process has listed.
private final class ListedCount: Sendable {
    private let count = Atomic(0)

    func add() -> Int { count.wrappingAdd(1, ordering: .relaxed).newValue }
}

/// The sink over real files.
struct SQLiteActionLogSinkTests {
    private let folder = ScratchFolder()

    @Test func batchIsStoredOnceAndGapsAreReported() async throws {
        let sink = try SQLiteActionLogSink(at: folder.file)
        let (stream, a, b) = (UUID(), UUID(), UUID())
        #expect(try await sink.store(.init(2, stream: stream, [a])) == .gap(expected: 1))
        let installation = UUID()
        #expect(try await sink.store(.init(1, of: installation, stream: stream, [a])) == .stored(duplicates: []))
        #expect(try await sink.store(.init(1, of: installation, stream: stream, [a])) == .known)
        #expect(
            try await sink.store(.init(1, of: installation, stream: UUID(), [a, b])) == .stored(duplicates: [a]))
        #expect(try await sink.store(.init(3, of: installation, stream: stream, [b])) == .gap(expected: 2))
        #expect(try ActionLogFile(at: folder.file).records().map(\.id) == [a, b])
    }

    @Test func knownNumberOfOtherRecordsIsNoDuplicate() async throws {
        let sink = try SQLiteActionLogSink(at: folder.file)
        let (installation, stream, a, b) = (UUID(), UUID(), UUID(), UUID())
        for (number, id) in [(1, a), (2, b)] as [(Int64, UUID)] {
            _ = try await sink.store(.init(number, of: installation, stream: stream, [id]))
        }
        // The client was restored from a backup, and numbers its records as before.
        for ids in [[UUID()], [a, UUID()]] {
            #expect(
                try await sink.store(.init(1, of: installation, stream: stream, ids)) == .gap(expected: 3))
        }
        #expect(try await sink.store(.init(1, of: installation, stream: stream, [b])) == .known)
        #expect(try ActionLogFile(at: folder.file).records().map(\.id) == [a, b])
    }

    @Test func highestNumbersAndIdsSurviveRestarts() async throws {
        let (installation, stream) = (UUID(), UUID())
        let ids = (0..<20).map { _ in UUID() }
        for (index, id) in ids.enumerated() {
            let sink = try SQLiteActionLogSink(at: folder.file)
            for number in 1...Int64(index + 1) {
                let batch = ActionLogBatch(number, of: installation, stream: stream, [ids[Int(number) - 1]])
                #expect(try await sink.store(batch) == (number <= index ? .known : .stored(duplicates: [])))
            }
            #expect(
                try await sink.store(.init(1, of: installation, stream: UUID(), [id])) == .stored(duplicates: [id]))
            try await sink.close()
        }
        #expect(try ActionLogFile(at: folder.file).records().map(\.id) == ids)
    }

    /// Changes a closed file as damage would.
    private func damage(_ sql: String) throws {
        let queue = try DatabaseQueue(path: folder.file.path)
        try queue.write { try $0.execute(sql: sql) }
        try queue.close()
    }

    @Test(arguments: [
        "name = 'closed'", "json = x'7B7D'", "account = 'bob'", "received = received + 1", "batch = 9",
        "installation = zeroblob(16)", "json = 'text'", "sent = 1", "checksum = checksum + 1",
    ])
    func damagedRecordIsReportedAndNotReturned(_ damage: String) async throws {
        let sink = try SQLiteActionLogSink(at: folder.file)
        let (stream, a, b, c) = (UUID(), UUID(), UUID(), UUID())
        var batch = ActionLogBatch(1, stream: stream, [a, b, c])
        batch.account = "ada"
        _ = try await sink.store(batch)
        try await sink.close()
        let file = ActionLogFile(at: folder.file)
        #expect(try file.damagedRecords() == [])
        try self.damage("UPDATE record SET \(damage) WHERE sequence = 2")
        #expect(try file.records().map(\.id) == [a, c])
        #expect(try file.damagedRecords() == [2])
        // Its id is known all the same.
        let again = try SQLiteActionLogSink(at: folder.file)
        #expect(try await again.store(ActionLogBatch(1, stream: UUID(), [b])) == .stored(duplicates: [b]))
        // What is erased has no contents that could be damaged.
        for account in ["ada", "bob"] { try await again.erase(account: account) }
        #expect(try file.damagedRecords() == [])
        try await again.close()
    }

    @Test func bothClocksAreStored() async throws {
        let received = Date(timeIntervalSince1970: 1_790_000_000.25)
        let sink = try SQLiteActionLogSink(at: folder.file) { received }
        let dates = [Date(timeIntervalSince1970: 1_700_000_000.5), nil]
        for sent in dates {
            var batch = ActionLogBatch(1, stream: UUID(), [UUID()])
            batch.sent = sent
            _ = try await sink.store(batch)
        }
        let records = try ActionLogFile(at: folder.file).records()
        #expect(records.map(\.sent) == dates && records.allSatisfy { $0.received == received })
        try await sink.close()
    }

    @Test func damagedNumberHasItsClientBeginAnotherStream() async throws {
        let sink = try SQLiteActionLogSink(at: folder.file)
        let (installation, stream, ids) = (UUID(), UUID(), (1...9).map { _ in UUID() })
        for number in 1...5 {
            let batch = ActionLogBatch(Int64(number), of: installation, stream: stream, [ids[number]])
            _ = try await sink.store(batch)
        }
        try await sink.close()
        try damage("UPDATE stream SET highest = 2")
        let again = try SQLiteActionLogSink(at: folder.file)
        for number in [1, 3, 6] as [Int64] {
            let batch = ActionLogBatch(number, of: installation, stream: stream, [ids[Int(number)]])
            guard case .gap(let expected) = try await again.store(batch) else {
                Issue.record("The number \(number) was taken.")
                continue
            }
            #expect(expected != number)
        }
        let next = ActionLogBatch(1, of: installation, stream: UUID(), [ids[5], ids[6]])
        #expect(try await again.store(next) == .stored(duplicates: [ids[5]]))
        #expect(try ActionLogFile(at: folder.file).records().count == 6)
        try await again.close()
    }

    @Test func fileOfTheFirstVersionIsMigrated() async throws {
        let (installation, stream, a, b) = (UUID(), UUID(), UUID(), UUID())
        try FileManager.default.createDirectory(at: folder.url, withIntermediateDirectories: true)
        let queue = try DatabaseQueue(path: folder.file.path)
        try await queue.write { database in
            let schema = ActionLogFile.schema
            try database.execute(sql: schema.tables)
            try database.execute(
                sql: "PRAGMA application_id = \(schema.applicationID); PRAGMA user_version = 1")
            try database.execute(
                sql: "INSERT INTO stream VALUES (?, ?, 1)", arguments: [installation.data, stream.data])
            try database.execute(
                sql: "INSERT INTO record VALUES (1, ?, ?, ?, 1, 7, NULL, 'opened', ?)",
                arguments: [a.data, installation.data, stream.data, Data("{}".utf8)])
        }
        try queue.close()
        let file = ActionLogFile(at: folder.file)
        #expect(try file.records().map(\.id) == [a])
        let sink = try SQLiteActionLogSink(at: folder.file)
        #expect(try await sink.store(.init(1, of: installation, stream: stream, [a])) == .known)
        #expect(try await sink.store(.init(2, of: installation, stream: stream, [b])) == .stored(duplicates: []))
        #expect(try file.records().map(\.id) == [a, b])
        #expect(try file.damagedRecords() == [])
        try await sink.close()
    }

    @Test func everyOneOfManyWaitingBatchesIsStored() async throws {
        let sink = try SQLiteActionLogSink(at: folder.file)
        let installations = (0..<50).map { _ in UUID() }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for installation in installations {
                group.addTask {
                    let stream = UUID()
                    for number in 1...20 as ClosedRange<Int64> {
                        let batch = ActionLogBatch(number, of: installation, stream: stream, [UUID(), UUID()])
                        let storage = try await sink.store(batch)
                        #expect(storage == .stored(duplicates: []))
                    }
                }
            }
            try await group.waitForAll()
        }
        let counts = try ActionLogFile(at: folder.file).counts()
        #expect(Set(counts.map(\.installation)) == Set(installations))
        #expect(counts.allSatisfy { $0.name == "opened" && $0.count == 40 } && counts.count == installations.count)
    }

    @Test func fullWriterRefusesBatchesWithoutStoringThem() async throws {
        let (started, start) = AsyncStream<Void>.makeStream()
        let gate = DispatchSemaphore(value: 0)
        var limits = ActionLogWriterLimits()
        limits.maximumWaitingCount = 2
        // The date is read by the writer's thread, between taking a group and writing it.
        let sink = try SQLiteActionLogSink(at: folder.file, limits: limits) {
            start.yield()
            gate.wait()
            return Date()
        }
        let first = Task { try await sink.store(.init(1, stream: UUID(), [UUID()])) }
        for await _ in started.prefix(1) {}
        var (stored, busy) = (0, 0)
        try await withThrowingTaskGroup(of: Bool.self) { group in
            for _ in 0..<5 {
                group.addTask {
                    do {
                        _ = try await sink.store(.init(1, stream: UUID(), [UUID()]))
                        return true
                    } catch let error as StoreRefusal where error == .busy {
                        return false
                    }
                }
            }
            for try await isStored in group {
                if isStored { stored += 1 } else { busy += 1 }
                // All that can't wait have been refused.
                if busy == 3 { for _ in 0..<3 { gate.signal() } }
            }
        }
        #expect(try await first.value == .stored(duplicates: []))
        #expect((stored, busy) == (2, 3))
        #expect(try ActionLogFile(at: folder.file).records().count == 3)
    }

    @Test func erasureComesAfterWhatIsBeingStored() async throws {
        let (started, start) = AsyncStream<Void>.makeStream()
        let gate = DispatchSemaphore(value: 0)
        // The date is read by the writer's thread, between taking a group and writing it.
        let sink = try SQLiteActionLogSink(at: folder.file) {
            start.yield()
            gate.wait()
            return Date()
        }
        let storing = Task { try await sink.store(.init(1, stream: UUID(), account: "ada", [UUID()])) }
        for await _ in started.prefix(1) {}
        let erasing = Task { try await sink.erase(account: "ada") }
        for _ in 0..<2 { gate.signal() }
        #expect(try await storing.value == .stored(duplicates: []))
        try await erasing.value
        #expect(try ActionLogFile(at: folder.file).records().isEmpty)
        try await sink.close()
    }

    @Test func erasedRecordsAreNotStoredAgain() async throws {
        let sink = try SQLiteActionLogSink(at: folder.file)
        let (a, b) = (UUID(), UUID())
        _ = try await sink.store(.init(1, stream: UUID(), account: "ada", [a], named: "secret-of-ada"))
        _ = try await sink.store(.init(1, stream: UUID(), account: "bob", [b]))
        try await sink.erase(account: "ada")
        #expect(try ActionLogFile(at: folder.file).records().map(\.id) == [b])
        #expect(try await sink.store(.init(1, stream: UUID(), account: "ada", [a])) == .stored(duplicates: [a]))
        try sink.removeContents(receivedBefore: .distantFuture)
        #expect(try ActionLogFile(at: folder.file).records().isEmpty)
        try await sink.close()
        for name in try FileManager.default.contentsOfDirectory(atPath: folder.url.path) {
            let bytes = try Data(contentsOf: folder.url.appending(path: name))
            #expect(bytes.range(of: Data("secret-of-ada".utf8)) == nil, "\(name)")
        }
    }

    @Test(arguments: [true, false]) func failedRemovalOverwritesWhatItRemoved(_ isErasure: Bool) async throws {
        let first = try SQLiteActionLogSink(at: folder.file)
        // One more than a transaction examines.
        let ids = (0...1000).map { _ in UUID() }
        _ = try await first.store(.init(1, stream: UUID(), account: "ada", ids))
        try await first.close()
        try damage(
            """
            CREATE TRIGGER failure BEFORE UPDATE ON record WHEN OLD.sequence > 1000
            BEGIN SELECT RAISE(ABORT, 'failure'); END
            """)
        let sink = try SQLiteActionLogSink(at: folder.file)
        await #expect(throws: ServerStorageError.self) {
            if isErasure {
                try await sink.erase(account: "ada")
            } else {
                try sink.removeContents(receivedBefore: .distantFuture)
            }
        }
        #expect(try ActionLogFile(at: folder.file).records().map(\.id) == [ids[1000]])
        #expect(sink.logByteCount == 0)
        try await sink.close()
    }

    @Test func fileHasOneWriterAndIsPrivate() async throws {
        let sink = try SQLiteActionLogSink(at: folder.file)
        #expect {
            try SQLiteActionLogSink(at: folder.file)
        } throws: {
            ($0 as? ServerStorageError)?.kind == .locked
        }
        _ = try await sink.store(.init(1, stream: UUID(), [UUID()]))
        for name in try FileManager.default.contentsOfDirectory(atPath: folder.url.path) {
            let path = folder.url.appending(path: name).path
            let rights = try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? NSNumber
            #expect(rights?.intValue == 0o600, "\(name)")
        }
        try await sink.close()
        try await SQLiteActionLogSink(at: folder.file).close()
    }

    @Test func closedSinkRefusesBatches() async throws {
        let sink = try SQLiteActionLogSink(at: folder.file)
        try await sink.close()
        await #expect(throws: CancellationError.self) { try await sink.store(.init(1, stream: UUID(), [UUID()])) }
    }

    @Test func filesOfOthersAreLeftAlone() throws {
        try FileManager.default.createDirectory(at: folder.url, withIntermediateDirectories: true)
        func kind(_ url: URL) -> ServerStorageError.Kind? {
            do {
                _ = try SQLiteActionLogSink(at: url)
                return nil
            } catch { return error.kind }
        }
        let garbage = folder.url.appending(path: "garbage")
        try Data(repeating: 7, count: 9000).write(to: garbage)
        #expect(kind(garbage) == .corrupted)
        #expect(try Data(contentsOf: garbage) == Data(repeating: 7, count: 9000))
        let foreign = folder.url.appending(path: "foreign")
        try DatabaseQueue(path: foreign.path).write { try $0.execute(sql: "CREATE TABLE a (b)") }
        #expect(kind(foreign) == .foreign)
        let newer = folder.url.appending(path: "newer")
        try DatabaseQueue(path: newer.path).write {
            try $0.execute(
                sql: """
                    CREATE TABLE a (b); PRAGMA application_id = \(ActionLogFile.schema.applicationID);
                    PRAGMA user_version = \(ActionLogFile.schema.version + 1)
                    """)
        }
        #expect(kind(newer) == .newerSchema)
        #expect(throws: ServerStorageError.self) { try ActionLogFile(at: folder.url.appending(path: "none")).counts() }
    }

    @Test func batchFailedByAFullDiskSucceedsLater() async throws {
        let sink = try SQLiteActionLogSink(at: folder.file)
        let (installation, stream) = (UUID(), UUID())
        _ = try await sink.store(.init(1, of: installation, stream: stream, [UUID()]))
        try sink.limitPages(to: 1)
        let large = ActionLogBatch(
            installation: installation, stream: stream, number: 2, account: nil,
            records: [.init(id: UUID(), name: "large", json: [UInt8](repeating: 65, count: 100_000))])
        await #expect {
            try await sink.store(large)
        } throws: {
            ($0 as? ServerStorageError)?.kind == .full
        }
        try sink.limitPages(to: 100_000)
        #expect(try await sink.store(large) == .stored(duplicates: []))
    }

    #if os(Linux) || os(macOS)
        @Test func acknowledgedBatchesSurviveKill() async throws {
            for round in 1...5 {
                let folder = ScratchFolder()
                let (path, list) = (folder.file.path, folder.url.appending(path: "stored").path)
                await #expect(processExitsWith: .signal(SIGKILL)) {
                    [path = path as String, list = list as String, round = round as Int] in
                    try await SQLiteActionLogSinkTests.storeUntilKilled(path, list, after: 23 * round)
                }
                let acknowledged = try String(contentsOfFile: list, encoding: .utf8).split(separator: "\n")
                    .map(String.init)
                #expect(acknowledged.count >= 23 * round)
                let sink = try SQLiteActionLogSink(at: folder.file)
                let stored = try ActionLogFile(at: folder.file).records(limit: 100_000).map(\.id.uuidString)
                #expect(Set(stored).count == stored.count)
                #expect(Set(acknowledged).isSubset(of: stored))
                try await sink.close()
            }
        }

        /// Stores batches of eight clients and lists what was acknowledged, until another thread kills the process.
        private static func storeUntilKilled(_ path: String, _ list: String, after count: Int) async throws {
            let sink = try SQLiteActionLogSink(at: URL(fileURLWithPath: path))
            let descriptor = open(list, O_WRONLY | O_CREAT | O_APPEND, 0o600)
            let listed = ListedCount()
            await withTaskGroup(of: Void.self) { group in
                for _ in 0..<8 {
                    group.addTask {
                        let (installation, stream) = (UUID(), UUID())
                        var number: Int64 = 1
                        while true {
                            let id = UUID()
                            let batch = ActionLogBatch(number, of: installation, stream: stream, [id])
                            guard let storage = try? await sink.store(batch), storage == .stored(duplicates: []) else {
                                return
                            }
                            let line = Array("\(id)\n".utf8)
                            guard write(descriptor, line, line.count) == line.count else { return }
                            number += 1
                            if listed.add() == count { kill(getpid(), SIGKILL) }
                        }
                    }
                }
            }
        }
    #endif
}
