import Foundation
import GRDB
import Observation
import RunwayTesting
import Testing

@testable import RunwayTables

@MainActor private final class Landings: ObservedDelegate {
    let count = AwaitedValue(0)
    let failures = AwaitedValue(0)
    func observedDidLand<Value>(_ observed: Observed<Value>) { count.update { $0 += 1 } }
    func observed<Value>(_ observed: Observed<Value>, didFailWith error: any Error) { failures.update { $0 += 1 } }
}

@MainActor private final class ListCell: @MainActor VirtualRecord {
    var name = ""
    func write(to draft: inout Draft) { draft[Lists.name_] = name }
    func read(from draft: Draft) { name = draft[Lists.name_] ?? "" }
}

@MainActor struct ObservedTests {
    private let folder = ScratchFolder()

    private func list(_ name: String) -> Values<Lists> {
        var values = Values<Lists>()
        values[Lists.name_] = name
        return values
    }

    @Test func aCommitIsDelivered() async throws {
        let store = try await folder.open()
        let lists = store.observe { try $0.fetch(Lists.self) }
        let row = list("first")
        var iterator = lists.makeAsyncIterator()
        #expect(try await iterator.next() == [])
        try await store.write { _ = try $0.insert(row) }
        #expect(try await iterator.next()?.first?[Lists.name_] == "first")
        #expect(lists.value?.count == 1)
        lists.cancel()
        #expect(try await iterator.next() == nil)
    }

    @Test func aCommitChangesWhatAViewObserves() async throws {
        let store = try await folder.open()
        let lists = store.observe { try $0.count(Lists.self) }
        var counts = lists.makeAsyncIterator()
        #expect(try await counts.next() == 0)
        let changes = AwaitedValue(0)
        withObservationTracking {
            _ = lists.value
        } onChange: {
            changes.update { $0 += 1 }
        }
        let row = list("first")
        try await store.write { _ = try $0.insert(row) }
        try await changes.wait(until: 1)
        #expect(try await counts.next() == 1)
    }

    @Test func recordsOfAChosenTypeAreDelivered() async throws {
        let store = try await folder.open()
        let row = list("home")
        try await store.write { _ = try $0.insert(row) }
        let cells = store.observe(as: { ListCell() }) { try $0.fetch(Lists.self) }
        for try await cells in cells {
            #expect(cells.map(\.name) == ["home"])
            break
        }
    }

    @Test func onlyChangedResultsReachTheMainActor() async throws {
        let store = try await folder.open()
        let landings = Landings()
        let observed = (0..<100).map { number in
            let observed = store.observe { try $0.fetch(Lists.self, where: Lists.name_ == "\(number)") }
            observed.delegate = landings
            return observed
        }
        try await landings.count.wait(until: 100)
        let rows = (0..<5).map { list("\($0 * 20)") }
        try await store.write { file in for row in rows { try file.insert(row) } }
        try await landings.count.wait(until: 105)
        // The next commit is fetched after that one: nothing else was delivered in between.
        let last = list("99")
        try await store.write { _ = try $0.insert(last) }
        try await landings.count.wait(until: 106)
        #expect(observed[99].value?.count == 1)
    }

    @Test func anErrorEndsAndRetryBegins() async throws {
        let store = try await folder.open()
        let landings = Landings()
        let observed = store.observe { file in
            if try file.count(Lists.self) == 0 { throw Refusal() }
            return try file.fetch(Lists.self)
        }
        observed.delegate = landings
        try await landings.failures.wait(until: 1)
        #expect(observed.error is Refusal && observed.value == nil)
        let row = list("now")
        try await store.write { _ = try $0.insert(row) }
        observed.retry()
        try await landings.count.wait(until: 1)
        #expect(observed.error == nil && observed.value?.count == 1)
    }

    @Test func commitsOfOtherConnectionsAreObserved() async throws {
        let store = try await folder.open { $0.isShared = true }
        let lists = store.observe { try $0.fetch(Lists.self) }
        var iterator = lists.makeAsyncIterator()
        #expect(try await iterator.next() == [])
        let (other, row) = (try await folder.open(), list("of another"))
        try await other.write { _ = try $0.insert(row) }
        #expect(try await iterator.next()?.first?[Lists.name_] == "of another")
    }

    @Test(.timeLimit(.minutes(5))) func aLongTransactionOfAnotherStopsNoRead() async throws {
        let store = try await folder.open { ($0.isShared, $0.lockTimeout) = (true, .seconds(3600)) }
        let lists = store.observe { try $0.fetch(Lists.self) }
        var iterator = lists.makeAsyncIterator()
        #expect(try await iterator.next() == [])
        var configuration = Configuration()
        configuration.allowsUnsafeTransactions = true
        let other = try DatabaseQueue(path: folder.file.path, configuration: configuration)
        try await other.writeWithoutTransaction {
            try $0.execute(sql: "BEGIN IMMEDIATE; INSERT INTO list VALUES (1, 'late')")
        }
        // Each asks for a look at the file, as an event of the file system does.
        for _ in 0..<10 { NotificationCenter.default.post(name: Database.resumeNotification, object: nil) }
        // A read that waited for the transaction would wait for an hour.
        #expect(try await store.read { try $0.count(Lists.self) } == 0)
        try await other.writeWithoutTransaction { try $0.execute(sql: "COMMIT") }
        #expect(try await iterator.next()?.first?[Lists.name_] == "late")
    }
}
