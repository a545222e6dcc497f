import Foundation
import GRDB
import RunwayTables
import Synchronization

/// Measures records beside hand-written ones of GRDB, in one run and in turns: rows of ten columns.
enum RecordBenchmark {
    enum Items: RunwayTables.TableDefinition {
        static let name = "item"
        static let id = Column<Int>("id"), list = Column<Int>("listId"), title = Column<String>("title")
        static let note = Column<String?>("note"), done = Column<Bool>("done"), due = Column<Date?>("due")
        static let weight = Column<Double>("weight"), tag = Column<UUID>("tag"), link = Column<String>("link")
        static let bytes = Column<Data>("bytes")
        static let columns = TableColumns<Self>(id, list, title, note, done, due, weight, tag, link, bytes)
    }

    /// The record that an app writes by hand.
    struct Item: FetchableRecord, PersistableRecord {
        static let databaseTableName = "item"
        var id: Int, list: Int, title: String, note: String?, done: Bool, due: Date?
        var weight: Double, tag: UUID, link: String, bytes: Data

        init(_ number: Int) {
            (id, list, title) = (number, number % 100, "The title of item \(number)")
            (note, done) = (number % 3 == 0 ? nil : "A note of a few words, number \(number)", number % 2 == 0)
            due = number % 4 == 0 ? nil : Date(timeIntervalSince1970: 1.76e9 + Double(number))
            (weight, tag, link) = (Double(number) / 7, UUID(), "https://example.com/items/\(number)")
            bytes = Data(repeating: UInt8(truncatingIfNeeded: number), count: 24)
        }

        init(row: Row) {
            (id, list, title, note, done) = (row["id"], row["listId"], row["title"], row["note"], row["done"])
            (due, weight, tag, link) = (row["due"], row["weight"], row["tag"], row["link"])
            bytes = row["bytes"]
        }

        func encode(to container: inout PersistenceContainer) {
            container["id"] = id
            container["listId"] = list
            container["title"] = title
            container["note"] = note
            container["done"] = done
            container["due"] = due
            container["weight"] = weight
            container["tag"] = tag
            container["link"] = link
            container["bytes"] = bytes
        }

        var values: Values<Items> {
            var values = Values<Items>()
            values[Items.id] = id
            values[Items.list] = list
            values[Items.title] = title
            values[Items.note] = note
            values[Items.done] = done
            values[Items.due] = due
            values[Items.weight] = weight
            values[Items.tag] = tag
            values[Items.link] = link
            values[Items.bytes] = bytes
            return values
        }
    }

    /// The values of a row, read one by one.
    private static func sum(_ row: Values<Items>) -> Int {
        let due = row[Items.due]?.timeIntervalSince1970 ?? 0
        return (row[Items.id] ?? 0) &+ (row[Items.list] ?? 0) &+ (row[Items.title]?.utf8.count ?? 0)
            &+ (row[Items.note]?.utf8.count ?? 0) &+ (row[Items.done] == true ? 1 : 0) &+ Int(due)
            &+ Int(row[Items.weight] ?? 0) &+ Int(row[Items.tag]?.uuid.0 ?? 0) &+ (row[Items.link]?.utf8.count ?? 0)
            &+ (row[Items.bytes]?.count ?? 0)
    }

    static func run(in folder: URL) async throws {
        try await fetches(folder)
        try await inserts(folder)
        try await deliveries(folder)
        try await manyObservations(folder)
    }

    private static func open(_ url: URL) async throws -> RecordStore {
        try await RecordStore.open(at: url, tables: [Items.self])
    }

    /// GRDB's connection to a file that has the same settings.
    static func openByHand(_ url: URL) throws -> DatabaseQueue {
        var configuration = Configuration()
        configuration.prepareDatabase { database in
            try database.execute(sql: "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL")
        }
        try FileManager.default.createDirectory(
            at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
        let queue = try DatabaseQueue(path: url.path, configuration: configuration)
        try queue.write { try $0.execute(sql: Items.creatingSQL) }
        return queue
    }

    private static func expect(_ name: String, ofTheirSpeed minimum: Double, _ ours: Duration, _ theirs: Duration) {
        Targets.expect("\(name), time against GRDB's records", ours / theirs, atMost: 1 / minimum, "×")
        print("   that is \(String(format: "%.2f", theirs / ours)) of their speed, at least \(minimum)")
    }

    private static func inserts(_ folder: URL) async throws {
        let clock = ContinuousClock()
        var (ours, theirs): ([Duration], [Duration]) = ([], [])
        let items = (0..<50_000).map { Item($0) }
        for round in 0..<7 {
            let queue = try openByHand(folder.appending(path: "hand-\(round)/items.sqlite"))
            theirs.append(try clock.measure { try queue.write { file in for item in items { try item.insert(file) } } })
            try queue.close()
            let store = try await open(folder.appending(path: "store-\(round)/items.sqlite"))
            ours.append(
                try await clock.measure {
                    try await store.write { file in for item in items { try file.insert(item.values) } }
                })
            try await store.close()
        }
        let theirMedian = Times.report("insert 50,000, GRDB's records", theirs)
        expect("insert 50,000", ofTheirSpeed: 0.9, Times.report("insert 50,000, Values", ours), theirMedian)
    }

    private static func fetches(_ folder: URL) async throws {
        let (url, clock) = (folder.appending(path: "fetch/items.sqlite"), ContinuousClock())
        let store = try await open(url)
        try await store.write { file in for number in 0..<200_000 { try file.insert(Item(number).values) } }
        let queue = try DatabaseQueue(path: url.path)
        try await memory(store, queue)
        func check(_ count: Int) { precondition(count == 200_000, "all rows are there") }
        var (ours, theirs, read): ([Duration], [Duration], [Duration]) = ([], [], [])
        for _ in 0..<7 {
            theirs.append(try clock.measure { check(try queue.read { try Item.fetchAll($0) }.count) })
            ours.append(try await clock.measure { check(try await store.read { try $0.fetch(Items.self) }.count) })
            read.append(
                try await clock.measure {
                    let rows = try await store.read { try $0.fetch(Items.self) }
                    check(rows.count)
                    precondition(rows.reduce(0) { $0 &+ sum($1) } > 0, "the rows have values")
                })
        }
        let (median, theirMedian) = (
            Times.report("fetch 200,000, Values", ours), Times.report("fetch 200,000, GRDB's records", theirs)
        )
        expect("fetch 200,000", ofTheirSpeed: 0.8, median, theirMedian)
        let all = Times.report("fetch 200,000, and read all ten columns of each", read)
        print("   \(String(format: "%.2f", theirMedian / all)) of the speed of GRDB's records, which are read then")
        try await store.close()
    }

    /// The pages that the process has more when it has the rows.
    private static func memory(_ store: RecordStore, _ queue: DatabaseQueue) async throws {
        func used() throws -> Int {
            let pages = try String(contentsOfFile: "/proc/self/statm", encoding: .utf8).split(separator: " ")[1]
            return (Int(pages) ?? 0) * 4096
        }
        var start = try used()
        let items = try await queue.read { try Item.fetchAll($0) }
        print("memory of a row: GRDB's record \((try used() - start) / items.count) bytes")
        start = try used()
        let rows = try await store.read { try $0.fetch(Items.self) }
        print("memory of a row: Values \((try used() - start) / rows.count) bytes")
        // Until here, so that freed pages are not taken for those of the rows.
        withExtendedLifetime((items, rows)) {}
    }

    /// From the beginning of a write until the main actor has its result.
    private static func deliveries(_ folder: URL) async throws {
        let store = try await open(folder.appending(path: "observed/items.sqlite"))
        let queue = try openByHand(folder.appending(path: "observed-by-hand/items.sqlite"))
        try await store.write { file in for number in 0..<100 { try file.insert(Item(number).values) } }
        try await queue.write { file in for number in 0..<100 { try Item(number).insert(file) } }
        let (times, theirTimes) = try await Deliveries().measure(store, queue)
        let theirMedian = Times.report("delivery, ValueObservation", theirTimes)
        let median = Times.report("delivery, Observed", times)
        Targets.expect("delivery against ValueObservation's", median / theirMedian, atMost: 1.1, "×")
        try await store.close()
    }

    @MainActor private final class Deliveries: ObservedDelegate {
        private var waiter: CheckedContinuation<Void, Never>?

        func observedDidLand<Value>(_ observed: Observed<Value>) { land() }

        private func land() {
            waiter?.resume()
            waiter = nil
        }

        func measure(_ store: RecordStore, _ queue: DatabaseQueue) async throws -> ([Duration], [Duration]) {
            let observed = store.observe { try $0.fetch(Items.self, where: Items.list == 7) }
            await withCheckedContinuation { waiter in
                self.waiter = waiter
                observed.delegate = self
            }
            let observation = ValueObservation.tracking {
                try Item.filter(sql: "listId = 7").fetchAll($0).map(\.weight)
            }
            .removeDuplicates()
            let clock = ContinuousClock()
            var (times, theirTimes): ([Duration], [Duration]) = ([], [])
            var cancellable: AnyDatabaseCancellable?
            await withCheckedContinuation { waiter in
                self.waiter = waiter
                cancellable = observation.start(in: queue, onError: { _ in }) { [self] _ in land() }
            }
            for number in 0..<1000 {
                theirTimes.append(
                    await clock.measure {
                        await withCheckedContinuation { waiter in
                            self.waiter = waiter
                            Task.detached {
                                try await queue.write {
                                    try $0.execute(
                                        sql: "UPDATE item SET weight = ? WHERE id = 7", arguments: [-number - 1])
                                }
                            }
                        }
                    })
                let values = Self.change(number)
                times.append(
                    await clock.measure {
                        await withCheckedContinuation { waiter in
                            self.waiter = waiter
                            Task.detached { try await store.write { try $0.update(values) } }
                        }
                    })
            }
            withExtendedLifetime(cancellable) {}
            return (times, theirTimes)
        }

        private static func change(_ number: Int) -> Values<Items> {
            var values = Values<Items>()
            values[Items.id] = 7
            values[Items.weight] = Double(-number - 1)
            return values
        }
    }

    /// Counts the work of the main actor for a hundred observations, of which five change.
    private static func manyObservations(_ folder: URL) async throws {
        let store = try await open(folder.appending(path: "many/items.sqlite"))
        try await store.write { file in for number in 0..<1000 { try file.insert(Item(number).values) } }
        let count = try await Conversions().count(store)
        Targets.expect(
            "conversions on the main actor for a commit to 5 of 100 observations", Double(count), atMost: 5, "")
        try await store.close()
    }

    @MainActor private final class Conversions {
        private var (count, awaited, waiter) = (0, 100, CheckedContinuation<Void, Never>?.none)

        private func convert(_ rows: [Values<Items>]) -> Int {
            count += 1
            if count == awaited {
                waiter?.resume()
                waiter = nil
            }
            return rows.count
        }

        func count(_ store: RecordStore) async throws -> Int {
            var observations: [Observed<Int>] = []
            await withCheckedContinuation { waiter in
                self.waiter = waiter
                for list in 0..<100 {
                    observations.append(
                        store.observe({ try $0.fetch(Items.self, where: Items.list == list) }, converting: convert))
                }
            }
            (count, awaited) = (0, 5)
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask {
                    try await store.write { file in
                        for number in [3, 14, 15, 92, 65] {
                            var values = Values<Items>()
                            values[Items.id] = number
                            values[Items.done] = number % 2 == 1
                            try file.update(values)
                        }
                    }
                }
                try await group.waitForAll()
            }
            // A later commit, to one more list, comes after all deliveries of the first.
            if count < 5 { await withCheckedContinuation { waiter = $0 } }
            let first = count
            (count, awaited) = (0, 1)
            try await store.write { try $0.update(Item(20).values) }
            if count < 1 { await withCheckedContinuation { waiter = $0 } }
            withExtendedLifetime(observations) {}
            return first + count - 1
        }
    }
}
