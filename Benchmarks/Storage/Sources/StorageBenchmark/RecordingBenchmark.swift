import Foundation
import GRDB
import Runway

@testable import RunwayStorage

/// Measures what a record costs its caller and how long its commit takes, beside a bare row of SQLite and an append to a file.
enum RecordingBenchmark {
    private static let bytes = [UInt8](repeating: 65, count: 250)

    static func run(in folder: URL) async throws {
        let database = try StorageDatabase.open(at: folder.appending(path: "rows/rows.sqlite"), durability: .full)
        try await database.write { try $0.execute(sql: "CREATE TABLE t (id INTEGER PRIMARY KEY, bytes BLOB NOT NULL)") }
        let file = open(folder.appending(path: "file").path, O_WRONLY | O_CREAT | O_APPEND, 0o600)
        defer { close(file) }
        let log = BenchmarkLog.open(at: folder.appending(path: "log/log.sqlite"))
        let clock = ContinuousClock()
        var (rows, files, synced, calls, commits) = (
            [Duration](), [Duration](), [Duration](), [Duration](), [Duration]()
        )
        for _ in 0..<20 {
            for _ in 0..<100 {
                rows.append(
                    try clock.measure {
                        try database.write { database in
                            let insert = try database.cachedStatement(sql: "INSERT INTO t (bytes) VALUES (?)")
                            try insert.execute(arguments: [Data(bytes)])
                        }
                    })
            }
            for _ in 0..<100 {
                files.append(clock.measure { precondition(write(file, bytes, bytes.count) == bytes.count) })
                synced.append(clock.measure { precondition(fdatasync(file) == 0) })
            }
            for number in 0..<100 {
                let start = clock.now
                let receipt = BenchmarkLog.record(number, in: log)
                calls.append(clock.now - start)
                try await receipt.committed()
                commits.append(clock.now - start)
            }
        }
        Times.report("SQLite row of 250 bytes, on the drive", rows)
        Times.report("append of 250 bytes to a file", files)
        Times.report("append of 250 bytes to a file, on the drive", zip(files, synced).map { $0 + $1 })
        Times.report("ActionLog.record, for its caller", calls)
        Times.report("ActionLog.record, until the receipt says committed", commits)
        Targets.expect("ActionLog.record p99", Times.late(calls) / .milliseconds(1), atMost: 1, "ms")
        Targets.expect("ActionLog.record to the commit p99", Times.late(commits) / .milliseconds(1), atMost: 10, "ms")
        var burst: [Duration] = []
        var last: ActionReceipt?
        for number in 0..<5000 {
            let start = clock.now
            last = BenchmarkLog.record(number, in: log)
            burst.append(clock.now - start)
        }
        try await last?.committed()
        Times.report("ActionLog.record, for its caller, 5,000 in a row", burst)
        Targets.expect("ActionLog.record in a row p99", Times.late(burst) / .milliseconds(1), atMost: 1, "ms")
        await log.close()
    }
}

/// Measures how long a log with 100,000 waiting records takes to open, and to record more.
enum ReopeningBenchmark {
    static func run(in folder: URL) async throws {
        let file = folder.appending(path: "log/log.sqlite")
        let count = 100_000
        let filled = BenchmarkLog.open(at: file)
        for start in stride(from: 0, to: count, by: 1000) {
            var last: ActionReceipt?
            for number in start..<start + 1000 { last = BenchmarkLog.record(number, in: filled) }
            try await last?.committed()
        }
        await filled.close()
        let clock = ContinuousClock()
        var (openings, calls, commits) = ([Duration](), [Duration](), [Duration]())
        for round in 0..<5 {
            let start = clock.now
            let log = BenchmarkLog.open(at: file)
            let state = await log.currentState
            openings.append(clock.now - start)
            precondition(state.waitingCount == count + round * 100, "\(state)")
            for number in 0..<100 {
                let start = clock.now
                let receipt = BenchmarkLog.record(number, in: log)
                calls.append(clock.now - start)
                try await receipt.committed()
                commits.append(clock.now - start)
            }
            await log.close()
        }
        Times.report("ActionLog, open with 100,000 records", openings)
        Times.report("ActionLog.record with 100,000 waiting, for its caller", calls)
        Times.report("ActionLog.record with 100,000 waiting, until committed", commits)
        Targets.expect("open with 100,000 records", (openings.max() ?? .zero) / .milliseconds(1), atMost: 200, "ms")
        Targets.expect(
            "to the commit with 100,000 waiting p99", Times.late(commits) / .milliseconds(1), atMost: 10, "ms")
    }
}

/// The log that is measured.
enum BenchmarkLog {
    enum Logging: APIService {
        static let name = "logging"
        static let environments: [ServiceEnvironment: String] = [.release: "https://log.test"]
        static let deadline = Duration.seconds(60)
    }

    private struct Unreachable: Transport {
        func send(_ request: Request, in flight: Flight) async throws(NetworkError) -> Response {
            throw NetworkError(.noNetwork, in: .transporting, "There is no network.", sending: .notSent)
        }
    }

    /// A log without a network.
    static func open(at file: URL) -> ActionLog {
        var options = ActionLogOptions()
        options.maximumCount = 200_000
        return ActionLog(
            at: file, sendingTo: Logging.self, at: "log",
            over: NetworkLayer(transport: Unreachable(), status: SettableNetworkStatus(.none)), options: options)
    }

    static func record(_ number: Int, in log: ActionLog) -> ActionReceipt {
        log.record(
            "opened",
            [
                "listing": .integer(Int64(number)), "city": "上海", "from": "search",
                "position": .integer(Int64(number % 30)),
            ])
    }
}
