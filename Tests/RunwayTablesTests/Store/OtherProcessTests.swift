import Foundation
import GRDB
import RunwayTesting
import Testing

@testable import RunwayTables

#if os(Linux) || os(macOS)
    /// Two processes that have one file open.
    @Suite(.serialized, .timeLimit(.minutes(10))) struct OtherProcessTests {
        private let folder = ScratchFolder()

        @Test @MainActor func commitsOfAnotherProcessAreObserved() async throws {
            let store = try await folder.open { $0.isShared = true }
            let lists = store.observe { try $0.count(Lists.self) }
            var counts = lists.makeAsyncIterator()
            #expect(try await counts.next() == 0)
            for count in 1...4 {
                // It ends before it closes the file, or after.
                await #expect(processExitsWith: count % 2 == 0 ? .success : .signal(SIGKILL)) {
                    [path = folder.file.path as String, count = count as Int] in
                    let file = URL(fileURLWithPath: path)
                    let other = try await RecordStore.open(at: file, tables: [Tasks.self, Lists.self])
                    try await other.write { _ = try $0.insert(Values<Lists>()) }
                    if count % 2 == 1 { kill(getpid(), SIGKILL) }
                    try await other.close()
                }
                #expect(try await counts.next() == count)
            }
        }

        @Test func theLogIsBoundedBesideAReader() async throws {
            var largest = 0
            // A reader that stands still prevents that the log is moved. Then the test is repeated.
            for _ in 0..<10 where largest <= 8 << 20 || largest >= 24 << 20 {
                largest = try await oneAtATime { try await largestLogBesideAReader(in: ScratchFolder()) }
            }
            #expect(largest > 8 << 20 && largest < 24 << 20, "\(largest)")
        }

        /// Writes 32 MB beside a process that reads, and returns the largest size of the log.
        private func largestLogBesideAReader(in folder: ScratchFolder) async throws -> Int {
            let store = try await folder.open { $0.isShared = true }
            let pipe = folder.url.appending(path: "pipe")
            try #require(mkfifo(pipe.path, 0o600) == 0)
            async let ending: Void = {
                await #expect(processExitsWith: .signal(SIGKILL)) {
                    [path = folder.file.path as String, pipe = pipe.path as String] in
                    try Self.readAtAllTimes(path, pipe)
                }
            }()
            let bytes = try await RecordStore.inBackground {
                try FileHandle(forReadingFrom: pipe).readToEnd() ?? Data()
            }
            let reader = try #require(pid_t(String(decoding: bytes, as: UTF8.self)))
            defer { kill(reader, SIGKILL) }
            let text = String(repeating: "x", count: 500_000)
            var largest = 0
            for _ in 0..<64 {
                try await store.write { _ = try $0.insert(task(text)) }
                largest = max(largest, store.logByteCount)
            }
            kill(reader, SIGKILL)
            await ending
            #expect(try await store.read { try $0.count(Tasks.self) } == 64)
            return largest
        }

        /// Reads with two connections, of which one has a snapshot at each time.
        private static func readAtAllTimes(_ path: String, _ pipe: String) throws {
            var configuration = Configuration()
            configuration.readonly = true
            configuration.allowsUnsafeTransactions = true
            let connections = try (0..<2).map { _ in try DatabaseQueue(path: path, configuration: configuration) }
            func begin(_ number: Int) throws {
                try connections[number % 2].inDatabase { try $0.execute(sql: "BEGIN; SELECT COUNT(*) FROM list") }
            }
            try begin(0)
            let file = try FileHandle(forWritingTo: URL(fileURLWithPath: pipe))
            try file.write(contentsOf: Data("\(getpid())".utf8))
            try file.close()
            for number in 1... {
                try begin(number)
                try connections[(number - 1) % 2].inDatabase { try $0.execute(sql: "COMMIT") }
            }
        }
    }
#endif
