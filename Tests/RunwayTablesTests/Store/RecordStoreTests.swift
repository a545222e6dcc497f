import Foundation
import GRDB
import RunwayTesting
import Synchronization
import Testing

@testable import RunwayTables

struct RecordStoreTests {
    private let folder = ScratchFolder()

    @Test func aFailedTransactionLeavesNothing() async throws {
        let store = try await folder.open()
        await #expect(throws: Refusal.self) {
            try await store.write { file in
                try file.insert(task("half"))
                throw Refusal()
            }
        }
        #expect(try await store.read { try $0.count(Tasks.self) } == 0)
        try await store.write { try $0.insert(task("whole")) }
        try await store.close()
        #expect(await kind { _ = try await store.read { try $0.count(Tasks.self) } } == .unavailable)
        let again = try await folder.open()
        #expect(try await again.read { try $0.count(Tasks.self) } == 1)
    }

    @Test func readsCanNotWrite() async throws {
        let store = try await folder.open()
        #expect(await kind { try await store.read { try $0.connection.execute(sql: "DELETE FROM task") } } == .readOnly)
    }

    @Test func openingsWaitForTheCreatorOfTheFile() async throws {
        try FileManager.default.createDirectory(at: folder.url, withIntermediateDirectories: true)
        // Not in write-ahead-log mode yet, as while another process creates the file.
        var configuration = Configuration()
        configuration.allowsUnsafeTransactions = true
        let creator = try DatabaseQueue(path: folder.file.path, configuration: configuration)
        try await creator.writeWithoutTransaction { try $0.execute(sql: "BEGIN IMMEDIATE") }
        let timeout = Duration.milliseconds(400)
        let wait = await ContinuousClock().measure {
            #expect(await kind { _ = try await folder.open { $0.lockTimeout = timeout } } == .locked)
        }
        #expect(wait >= timeout)
        async let opening = folder.open { $0.lockTimeout = .seconds(300) }
        try await creator.writeWithoutTransaction { try $0.execute(sql: "ROLLBACK") }
        #expect(try await opening.read { try $0.count(Tasks.self) } == 0)
    }

    @Test func aCancelledTaskWritesNothing() async throws {
        let store = try await folder.open()
        let task = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            try await store.write { _ = try $0.insert(Values<Lists>()) }
        }
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(try await store.read { try $0.count(Lists.self) } == 0)
    }

    @Test func aFullDiskLosesNothing() async throws {
        let store = try await folder.open()
        try await store.write { try $0.insert(task("first")) }
        // SQLite reports the same error where its own limit of pages is reached.
        try await store.queue().writeWithoutTransaction { database in
            let count = try Int.fetchOne(database, sql: "PRAGMA page_count") ?? 0
            try database.execute(sql: "PRAGMA max_page_count = \(count)")
        }
        let large = task(String(repeating: "x", count: 100_000))
        #expect(await kind { _ = try await store.write { try $0.insert(large) } } == .full)
        try await store.queue().writeWithoutTransaction { try $0.execute(sql: "PRAGMA max_page_count = 100000") }
        try await store.write { try $0.insert(large) }
        #expect(try await store.read { try $0.count(Tasks.self) } == 2)
    }

    @Test(arguments: [false, true]) func anIgnoredFullDiskIsReported(isLast: Bool) async throws {
        let store = try await folder.open { $0.isShared = true }
        try await store.queue().writeWithoutTransaction { database in
            let count = try Int.fetchOne(database, sql: "PRAGMA page_count") ?? 0
            try database.execute(sql: "PRAGMA max_page_count = \(count)")
        }
        let large = task(String(repeating: "x", count: 100_000))
        let result = await kind {
            try await store.write { file in
                _ = try? file.insert(large)
                if !isLast { try file.insert(task("later")) }
            }
        }
        #expect(result == .full)
        #expect(try await store.read { try $0.count(Tasks.self) } == 0)
    }

    @Test func anUnknownFileIsNeverReplacedInSilence() async throws {
        try FileManager.default.createDirectory(at: folder.url, withIntermediateDirectories: true)
        let bytes = Data(repeating: 0x41, count: 8192)
        try bytes.write(to: folder.file)
        #expect(await kind { _ = try await folder.open() } == .corrupted)
        #expect(try Data(contentsOf: folder.file) == bytes)
        let kinds = Mutex<[TableError.Kind]>([])
        let recover: @Sendable (TableError) async -> RecordStore.Recovery = { error in
            kinds.withLock { $0.append(error.kind) }
            return .setAside
        }
        let store = try await folder.open { $0.recover = recover }
        #expect(try Data(contentsOf: #require(store.setAside)) == bytes)
        try await store.write { try $0.insert(task("anew")) }
        try await store.close()
        // The app decides once about each problem, and is not asked without a problem.
        try await folder.open { $0.recover = recover }.close()
        #expect(kinds.withLock { $0 } == [.corrupted])
    }

    @Test func damageAtEveryPageIsReported() async throws {
        var store = try await folder.open()
        let rows = try await store.write { file in
            for number in 0..<400 { try file.insert(task("task \(number)", due: .distantFuture)) }
            return try file.fetch(Tasks.self)
        }
        try await store.close()
        let whole = try Data(contentsOf: folder.file)
        let pageCount = whole.count / 4096
        #expect(pageCount > 20)
        for page in 0..<pageCount {
            var damaged = whole
            damaged.replaceSubrange(page * 4096..<(page + 1) * 4096, with: Data(repeating: 0xA5, count: 4096))
            try damaged.write(to: folder.file)
            let result = await kind {
                store = try await folder.open()
                // By the table, the index of the key and the other index, which together are all pages: each read
                // returns the rows that were written, or is refused.
                try await store.read { file in
                    #expect(try Set(file.fetch(Tasks.self)) == Set(rows), "page \(page)")
                    for row in rows {
                        let (id, list) = (try row.require(Tasks.id), try row.require(Tasks.list))
                        for condition in [Tasks.id == id, Tasks.list == list] {
                            #expect(try file.fetch(Tasks.self, where: condition) == [row], "page \(page)")
                        }
                    }
                    _ = try file.count(Lists.self)
                }
            }
            try await store.close()
            #expect([.corrupted, .differentSchema].contains(result), "page \(page)")
            #expect(try Data(contentsOf: folder.file) == damaged, "page \(page)")
        }
    }

    @Test func flippedBytesNeverCrash() async throws {
        let seed = UInt64.random(in: 0...UInt64.max)
        var generator = SeededGenerator(seed: seed)
        let rows = (0..<60).map { task("task \($0)") }
        let store = try await folder.open()
        try await store.write { file in for row in rows { try file.insert(row) } }
        try await store.close()
        let whole = try Data(contentsOf: folder.file)
        for _ in 0..<200 {
            var damaged = whole
            let place = Int.random(in: 0..<damaged.count, using: &generator)
            damaged[place] ^= 1 << UInt8.random(in: 0..<8, using: &generator)
            try damaged.write(to: folder.file)
            do {
                let store = try await folder.open()
                _ = try await store.read { try $0.fetch(Tasks.self).map { ($0[Tasks.title], $0[Tasks.due]) }.count }
                try await store.close()
            } catch {
                #expect(error is TableError, "seed \(seed), byte \(place): \(error)")
            }
        }
    }

    @Test func theWriteAheadLogIsBounded() async throws {
        let store = try await folder.open()
        let text = String(repeating: "x", count: 20_000)
        for _ in 0..<40 {
            try await store.write { file in for _ in 0..<20 { try file.insert(task(text)) } }
        }
        #expect(store.logByteCount <= 8 << 20)
    }

    @Test func aNewFileIsCreatedOnce() async throws {
        for _ in 0..<20 {
            let folder = ScratchFolder()
            try await withThrowingTaskGroup(of: RecordStore.self) { group in
                for _ in 0..<4 {
                    group.addTask { try await folder.open([Films.self]) { $0.lockTimeout = .seconds(60) } }
                }
                for try await store in group { try await store.write { _ = try $0.save(film(1)) } }
            }
        }
    }

    @Test(.timeLimit(.minutes(5))) func endedTransactionsAreNotRepeatedForEver() async throws {
        let store = try await folder.open { $0.isShared = true }
        let sql = "INSERT OR ROLLBACK INTO list (id) VALUES (1)"
        let result = await kind {
            try await store.write { file in
                // SQLite ends a transaction like this also on a full disk.
                for _ in 1...2 { _ = try? file.connection.execute(sql: sql) }
                try file.insert(task("later"))
            }
        }
        #expect(result == .interrupted)
        #expect(try await store.read { try $0.count(Lists.self) } == 0)
    }

    #if os(Linux) || os(macOS)
        @Test func awaitedWritesSurviveKill() async throws {
            for round in 1...4 {
                let folder = ScratchFolder()
                let (path, listPath) = (folder.file.path, folder.url.appending(path: "committed").path)
                try await folder.open().close()
                await #expect(processExitsWith: .signal(SIGKILL)) {
                    [path = path as String, listPath = listPath as String, round = round as Int] in
                    try await RecordStoreTests.writeUntilKilled(path, listPath, after: 9 * round)
                }
                let committed = try String(contentsOfFile: listPath, encoding: .utf8).split(separator: "\n").count
                #expect(committed >= 9 * round)
                let store = try await folder.open()
                let (tasks, lists) = try await store.read { (try $0.count(Tasks.self), try $0.count(Lists.self)) }
                // One more may have been committed before it was listed; both tables have a transaction, or none.
                #expect(tasks == lists && [committed, committed + 1].contains(tasks))
            }
        }

        private static func writeUntilKilled(_ path: String, _ listPath: String, after count: Int) async throws {
            let store = try await RecordStore.open(at: URL(fileURLWithPath: path), tables: [Tasks.self, Lists.self])
            let descriptor = open(listPath, O_WRONLY | O_CREAT | O_APPEND, 0o600)
            let written = Atomic(0)
            DispatchQueue.global().async {
                while written.load(ordering: .relaxed) < count {}
                kill(getpid(), SIGKILL)
            }
            while true {
                try await store.write { file in
                    try file.insert(task("one"))
                    try file.insert(Values<Lists>())
                }
                guard write(descriptor, "x\n", 2) == 2 else { return }
                written.add(1, ordering: .relaxed)
            }
        }

        @Test func twoProcessesWriteOneFile() async throws {
            let store = try await folder.open { $0.isShared = true }
            let path = folder.file.path
            let other = Task {
                await #expect(processExitsWith: .success) { [path = path as String] in
                    let file = URL(fileURLWithPath: path)
                    let store = try await RecordStore.open(at: file, tables: [Tasks.self, Lists.self])
                    for _ in 0..<100 { try await store.write { _ = try $0.insert(Values<Lists>()) } }
                    try await store.close()
                }
            }
            for _ in 0..<100 { try await store.write { _ = try $0.insert(Values<Lists>()) } }
            _ = await other.value
            #expect(try await store.read { try $0.count(Lists.self) } == 200)
        }
    #endif
}
