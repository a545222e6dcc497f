import Foundation
import GRDB
import RunwayTables
import Synchronization

/// Measures how long a write of one row takes while 50,000 others are staged, beside no staging and beside GRDB's one
/// large transaction.
enum StagingBenchmark {
    private typealias Items = RecordBenchmark.Items
    private typealias Item = RecordBenchmark.Item

    static func run(in folder: URL) async throws {
        let count = 50_000
        let items = (1...count).map { Item($0) }
        let file = folder.appending(path: "staged/items.sqlite")
        let store = try await RecordStore.open(at: file, tables: [Items.self])
        let byHand = try RecordBenchmark.openByHand(folder.appending(path: "hand/items.sqlite"))
        // Keys that no staged row has.
        let number = Mutex(1_000_000)
        @Sendable func next() -> Item {
            Item(
                number.withLock {
                    $0 += 1
                    return $0
                })
        }
        @Sendable func write() async throws {
            let values = next().values
            _ = try await store.write { try $0.insert(values) }
        }
        let quiet = try await times(of: write) { try await Task.sleep(for: .seconds(5)) }
        let clock = ContinuousClock()
        var staging = Duration.zero
        let beside = try await times(of: write) {
            staging = try await clock.measure { try await store.stage(items.map(\.values)) }
        }
        var large = Duration.zero
        @Sendable func writeByHand() async throws {
            let item = next()
            try await byHand.write { try item.insert($0) }
        }
        let theirs = try await times(of: writeByHand) {
            large = try await clock.measure {
                try await byHand.write { file in for item in items { try item.insert(file) } }
            }
        }
        let found = try await store.read { try $0.count(Items.self, where: Items.id <= count) }
        precondition(found == count, "all rows are there")
        let median = Times.report("write of one row, no staging", quiet)
        let besideMedian = Times.report("write of one row, beside a staging of 50,000", beside)
        Times.report("write of one row, beside GRDB's transaction of 50,000", theirs)
        print("staging of 50,000 rows: \(staging), GRDB's transaction: \(large)")
        Targets.expect("wait of a write beside a staging, median", ms(besideMedian - median), atMost: 10, "ms")
        Targets.expect(
            "wait of a write beside a staging, 99th percentile", ms(Times.late(beside) - median), atMost: 10, "ms")
        print("   that is \(String(format: "%.1f", besideMedian / median)) times a write without a staging")
        try await store.close()
    }

    private static func ms(_ time: Duration) -> Double { time / .milliseconds(1) }

    /// Measures an operation again and again, every 2 ms, while another one runs.
    private static func times(
        of operation: @escaping @Sendable () async throws -> Void, while other: () async throws -> Void
    ) async throws -> [Duration] {
        try await withThrowingTaskGroup(of: [Duration].self) { group in
            let flag = Flag()
            group.addTask {
                var times: [Duration] = []
                while !flag.isSet || times.isEmpty {
                    times.append(try await ContinuousClock().measure { try await operation() })
                    try await Task.sleep(for: .milliseconds(2))
                }
                return times
            }
            try await other()
            flag.set()
            return try await group.next() ?? []
        }
    }

    private final class Flag: Sendable {
        /// Guards whether the other operation has ended.
        private let state = Mutex(false)
        var isSet: Bool { state.withLock { $0 } }
        func set() { state.withLock { $0 = true } }
    }
}
