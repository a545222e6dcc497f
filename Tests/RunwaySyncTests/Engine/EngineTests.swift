import Foundation
import GRDB
import Runway
import RunwayServer
import RunwayServerStorage
import RunwaySyncCore
import RunwayTables
import RunwayTesting
import Synchronization
import Testing

@testable import RunwaySync

/// Devices over real files and sockets.
@Suite(.timeLimit(.minutes(5)))
struct EngineTests {
    private let list = UUID(number: 1)

    @Test(arguments: SyncServer.Place.allCases)
    func twoDevicesAgree(_ place: SyncServer.Place) async throws {
        try await SyncServer.run(in: place) { server in
            let (first, second) = (try await Device(server, joining: list), try await Device(server, joining: list))
            try await first.write(UUID(number: 2), in: list, "tea")
            try await second.write(UUID(number: 3), in: list, "milk")
            for device in [first, second, first] { #expect(await device.engine.syncInTime() == nil) }
            #expect(try await first.titles() == ["milk", "tea"])
            #expect(try await second.titles() == ["milk", "tea"])
            #expect(try await first.status(of: list).waitingCount == 0)
            try await first.close()
            try await second.close()
        }
    }

    @Test func observersSeeWhenARowIsSynced() async throws {
        try await SyncServer.run { server in
            let (device, note) = (try await Device(server, joining: nil), UUID(number: 2))
            try await device.write(note, in: list, "tea")
            let states = await device.store.observe { try $0.syncStatus(of: Notes.self, note) }
            let seen = Task { @MainActor in
                for try await state in states where state == .synced { return }
            }
            try await device.engine.join(list)
            try await seen.value
            #expect(try await device.status(of: list).waitingCount == 0)
            try await device.close()
        }
    }

    @Test func pokesBringChangesWithoutACall() async throws {
        try await SyncServer.run { server in
            let first = try await Device(server, joining: list)
            let second = try await Device(server, joining: list, events: true)
            try await first.write(UUID(number: 2), in: list, "tea")
            try await second.waitForTitles(["tea"])
            try await first.close()
            try await second.close()
        }
    }

    @Test func failedUploadResumesWithoutANewWrite() async throws {
        try await SyncServer.run { server in
            server.faults.add(.refuses(500), to: "push", count: 2)
            let (first, second) = (try await Device(server, joining: list), try await Device(server, joining: list))
            try await first.write(UUID(number: 2), in: list, "tea")
            try await second.waitForTitles(["tea"])
            #expect(server.faults.requests.filter { $0.hasSuffix("push") }.count >= 3)
            try await first.close()
            try await second.close()
        }
    }

    @Test func deviceThatDiffersReadsAllRowsAgain() async throws {
        try await SyncServer.run { server in
            let (first, second) = (try await Device(server, joining: list), try await Device(server, joining: list))
            let (space, note) = (try #require(Identifier(list.databaseValue)), UUID(number: 2).databaseValue)
            let key = RowKey("note", try #require(Identifier(note)))
            try await first.write(UUID(number: 2), in: list, "tea")
            for device in [first, second] { #expect(await device.engine.syncInTime() == nil) }
            let capture = try #require(second.store.follower as? ChangeCapture)
            try await second.store.writeAsFollower { database in
                let file = try capture.store(of: space, in: database)
                let row = try file.row(key)
                let columns: [(String, Cell)] = row.columns.map { name, cell in
                    (name, name == "title" ? Cell(.text("damaged"), cell.stamp) : cell)
                }
                try file.setRow(key, SyncRow(life: row.life, number: row.number, columns: Columns(columns)))
                try file.finish()
            }
            let change = Values(UUID(number: 2), in: list, title: "tea", rating: 1)
            try await first.store.write { try $0.save(change) }
            #expect(await first.engine.syncInTime() == nil)
            let isRight = Notes.title == "tea" && Notes.rating == 1
            while try await second.store.read({ try $0.count(Notes.self, where: isRight) }) == 0 {
                try await Task.sleep(for: .milliseconds(20))
            }
            // Reading all rows again hides nothing.
            #expect(await second.engine.syncInTime() == nil)
            let status = try await second.status(of: list)
            #expect(status.mismatchCount == 1 && status.lastMismatch != nil && status.problem == nil)
            #expect(try await first.status(of: list).mismatchCount == 0)
            await second.network.flushRecords()
            let found = second.records.records.filter { $0.decisions.contains { $0.name == "mismatch" } }
            #expect(found.map(\.endpoint) == ["SyncRead"] && found.allSatisfy(\.isAmendment))
            try await first.close()
            try await second.close()
        }
    }

    @Test(arguments: SyncServer.Place.allCases)
    func lostResponsesMakeNoSecondChange(_ place: SyncServer.Place) async throws {
        try await SyncServer.run(in: place) { server in
            let (first, second) = (try await Device(server, joining: nil), try await Device(server, joining: list))
            server.faults.add(.losesResponse, to: "push")
            try await first.write(UUID(number: 2), in: list, "tea")
            try await first.engine.join(list)
            try await second.waitForTitles(["tea"])
            while try await first.status(of: list).waitingCount > 0 { _ = await first.engine.syncNow() }
            try await second.write(UUID(number: 2), in: list, "milk")
            for device in [second, first] { #expect(await device.engine.syncInTime() == nil) }
            #expect(try await first.titles() == ["milk"])
            try await first.close()
            try await second.close()
        }
    }

    @Test func ownWritesNeverRevertOnTheScreen() async throws {
        try await SyncServer.run { server in
            let device = try await Device(server, joining: list, events: true)
            let ratings = await device.store.observe {
                try $0.fetch(Notes.self).first.flatMap { $0[Notes.rating] } ?? -1
            }
            let seen = Task { @MainActor in
                var values: [Int] = []
                for try await rating in ratings {
                    values.append(rating)
                    if rating == 60 { break }
                }
                return values
            }
            for rating in 0...60 {
                let values = Values(UUID(number: 2), in: list, title: "tea", rating: rating)
                try await device.store.write { try $0.save(values) }
                if rating % 7 == 0 { _ = await device.engine.syncNow() }
            }
            let values = try await seen.value
            #expect(values == values.sorted())
            try await device.close()
        }
    }

    /// The clocks stand still but for one interval of each device, in which no one writes or asks.
    @Test func outageEndsWithOneExchangeOfEachDevice() async throws {
        try await SyncServer.run { server in
            let clocks = (ManualClock(), ManualClock())
            let first = try await Device(server, joining: list, clock: clocks.0)
            let second = try await Device(server, joining: list, clock: clocks.1)
            for device in [first, second] { #expect(await device.engine.syncNow() == nil) }
            server.faults.add(.refuses(503), to: "push", count: 1_000)
            try await first.write(UUID(number: 2), in: list, "tea")
            for _ in 0..<4 { #expect(await first.engine.syncNow() == .unavailable) }
            server.faults.end()
            let count = server.faults.pushes.value
            clocks.0.advance(by: .seconds(4))
            try await server.faults.pushes.wait(until: count + 1)
            try await first.waitForNothingWaiting(in: list)
            #expect(server.faults.pushes.value == count + 1)
            clocks.1.advance(by: .seconds(4))
            try await second.waitForTitles(["tea"])
            try await first.close()
            try await second.close()
        }
    }

    @Test func restartedServerHasWhatItAcknowledged() async throws {
        let files = try TemporaryFolder()
        let spaces = files.url.appending(path: "spaces.sqlite")
        let folder = try TemporaryFolder()
        let store = try SyncStore.sqlite(at: spaces)
        try await SyncServer.run(store: store) { server in
            let device = try await Device(server, joining: list, in: folder)
            try await device.write(UUID(number: 2), in: list, "tea")
            #expect(await device.engine.syncInTime() == nil)
            server.faults.add(.losesResponse, to: "push", count: 1_000)
            try await device.write(UUID(number: 3), in: list, "milk")
            #expect(await device.engine.syncNow() != nil)
            try await device.close()
        }
        try await store.close()
        let again = try SyncStore.sqlite(at: spaces)
        try await SyncServer.run(store: again) { server in
            let first = try await Device(server, joining: nil, in: folder)
            let second = try await Device(server, joining: list)
            for device in [first, second] {
                #expect(await device.engine.syncInTime() == nil)
                #expect(try await device.titles() == ["milk", "tea"])
                let list = list
                #expect(try await device.store.read { try $0.syncCursor(of: list) } == 2)
                try await device.close()
            }
        }
        try await again.close()
    }

    @Test func movedRowsNameTheirNewSpace() async throws {
        try await SyncServer.run { server in
            let (note, other) = (UUID(number: 2), UUID(number: 7))
            let (first, second) = (try await Device(server, joining: list), try await Device(server, joining: list))
            for device in [first, second] { try await device.engine.join(other) }
            try await first.write(note, in: list, "tea")
            for device in [first, second] { #expect(await device.engine.syncInTime() == nil) }
            try await first.store.write { _ = try $0.move(Notes.self, note, to: other) }
            for device in [first, second] { #expect(await device.engine.syncInTime() == nil) }
            for device in [first, second] {
                let (row, statuses) = try await device.store.read { file in
                    let row = try file.fetchFirst(Notes.self)
                    let ids = [note, row?[Notes.id] ?? note]
                    return (row, try ids.map { try file.syncStatus(of: Notes.self, $0) })
                }
                #expect(row?[Notes.list] == other)
                #expect(statuses == [.moved(to: other), .synced])
                try await device.close()
            }
        }
    }

    @Test func copiedFileTakesANewID() async throws {
        try await SyncServer.run { server in
            let first = try await Device(server, joining: list)
            try await first.write(UUID(number: 2), in: list, "tea")
            #expect(await first.engine.syncInTime() == nil)
            try await first.close()
            let copy = try TemporaryFolder()
            for name in try FileManager.default.contentsOfDirectory(atPath: first.folder.url.path) {
                try FileManager.default.copyItem(
                    at: first.folder.url.appending(path: name), to: copy.url.appending(path: name))
            }
            let again = try await Device(server, joining: nil, in: first.folder)
            let second = try await Device(server, joining: nil, in: copy)
            try await again.write(UUID(number: 3), in: list, "milk")
            try await second.write(UUID(number: 4), in: list, "rice")
            for device in [again, second, again] { #expect(await device.engine.syncInTime() == nil) }
            for device in [again, second] { #expect(try await device.titles() == ["milk", "rice", "tea"]) }
            let ids = try await [again, second].asyncMap { device in
                try await device.store.read { file in
                    let body = try Data.fetchOne(file.connection, sql: "SELECT state FROM runway_sync_space")
                    return try DeviceState(encoded: Array(body ?? Data())).device
                }
            }
            #expect(ids[0] != ids[1])
            try await again.close()
            try await second.close()
        }
    }

    @Test(arguments: SyncServer.Place.allCases)
    func revokedSpacesAreRemovedWithTheirChangesShown(_ place: SyncServer.Place) async throws {
        let mayRead = Flag(true)
        try await SyncServer.run(in: place, mayRead: { _ in mayRead.value }) { server in
            let device = try await Device(server, joining: list)
            try await device.write(UUID(number: 2), in: list, "tea")
            #expect(await device.engine.syncInTime() == nil)
            mayRead.value = false
            try await device.write(UUID(number: 3), in: list, "milk")
            _ = await device.engine.syncInTime()
            let status = try await device.status(of: list)
            #expect(status.isRevoked)
            #expect(status.refusedChanges.map(\.reason) == ["revoked"])
            #expect(try await device.titles() == [])
            mayRead.value = true
            try await device.engine.join(list)
            try await device.waitForTitles(["tea"])
            try await device.close()
        }
    }

    @Test func leavingKeepsUnsentChangesUnlessTheyAreDiscarded() async throws {
        try await SyncServer.run { server in
            let device = try await Device(server, joining: list)
            _ = await device.engine.syncNow()
            server.faults.add(.refuses(500), to: "push", count: 1_000)
            try await device.write(UUID(number: 2), in: list, "tea")
            #expect(try await !device.engine.leave(list))
            #expect(try await device.titles() == ["tea"])
            #expect(try await device.engine.leave(list, discardsUnsent: true))
            #expect(try await device.titles() == [])
            try await device.close()
        }
    }

    @Test func signOutAsksAboutUnsentChanges() async throws {
        try await SyncServer.run { server in
            let device = try await Device(server, joining: list)
            _ = await device.engine.syncNow()
            server.faults.add(.refuses(500), to: "push", count: 1_000)
            try await device.write(UUID(number: 2), in: list, "tea")
            #expect(try await !device.engine.signOut { count in count == 1 ? .send : .discard })
            #expect(try await device.status(of: list).problem != nil)
            #expect(try await device.engine.signOut { _ in .keep })
            #expect(try await device.titles() == ["tea"])
            server.faults.end()
            try await device.write(UUID(number: 3), in: list, "milk")
            #expect(await device.engine.syncNow() == nil)
            try await device.store.close()
            // The first may have been on its way when the engine was closed.
            let second = try await Device(server, joining: list)
            #expect(await second.engine.syncInTime() == nil)
            #expect(try await !second.titles().contains("milk"))
            try await second.close()
        }
    }

    @Test(arguments: SyncServer.Place.allCases)
    func logOfManyPagesArrives(_ place: SyncServer.Place) async throws {
        try await SyncServer.run(in: place) { server in
            let first = try await Device(server, joining: list)
            for page in 0..<5 {
                let list = list
                try await first.store.write { file in
                    for number in 0..<600 {
                        try file.insert(Values(UUID(), in: list, title: "\(page * 600 + number)"))
                    }
                }
            }
            #expect(await first.engine.syncInTime() == nil)
            let second = try await Device(server, joining: list)
            #expect(await second.engine.syncInTime() == nil)
            #expect(try await second.store.read { try $0.count(Notes.self) } == 3_000)
            try await first.close()
            try await second.close()
        }
    }
}

extension SyncEngine {
    /// Synchronises now, and again after a timeout: on a machine that stands still, requests end by their deadlines.
    func syncInTime() async -> SyncProblem? {
        var problem = await syncNow()
        while problem == .offline { problem = await syncNow() }
        return problem
    }
}

/// A value that a test changes while a server reads it.
final class Flag: Sendable {
    /// Guards the value.
    private let state: Mutex<Bool>

    init(_ value: Bool) { state = Mutex(value) }

    var value: Bool {
        get { state.withLock { $0 } }
        set { state.withLock { $0 = newValue } }
    }
}

extension Array {
    func asyncMap<Value>(_ transform: (Element) async throws -> Value) async rethrows -> [Value] {
        var values: [Value] = []
        for element in self { values.append(try await transform(element)) }
        return values
    }
}
