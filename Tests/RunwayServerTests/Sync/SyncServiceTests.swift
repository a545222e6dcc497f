import Foundation
import RunwaySyncCore
import RunwaySyncSimulator
import RunwayTesting
import Synchronization
import Testing

@testable import RunwayServer

/// Waiting for predecessors, wake-ups, the bounds of the log, and administration.
@Suite(.timeLimit(.minutes(10)))
struct SyncServiceTests {
    private let device = Identifier(high: 5, low: 1)
    private let space = UUID(Identifier(high: 0, low: 10))

    @Test func aPacketWaitsForTheOneBeforeIt() async throws {
        let clock = ManualClock()
        let service = SyncService(store: .memory(), clock: clock) { _, _, _ in true }
        try await SyncClient.serve(service) { (client) async throws -> Void in
            async let second = client.push(.insert(2), from: device)
            try await clock.waitForSleepers()
            #expect(try await client.push(.insert(1), from: device) == .verdicts([.applied(1)], head: 1))
            #expect(try await second == .verdicts([.applied(2)], head: 2))
        }
    }

    @Test func aPacketWaitsForFiveSeconds() async throws {
        let clock = ManualClock()
        let checks = Mutex(0)
        let service = SyncService(store: .memory(), clock: clock) { _, _, _ in
            checks.withLock { $0 += 1 }
            return true
        }
        try await SyncClient.serve(service) { (client) async throws -> Void in
            async let second = client.push(.insert(2), from: device)
            for _ in 1...5 {
                try await clock.waitForSleepers()
                clock.advance(by: .seconds(1))
            }
            #expect(try await second == .gap(ChainEnd()))
            // The packet is tried when it arrives, when its wait begins, and each second; each time the right to read is
            // checked twice.
            #expect(checks.withLock { $0 } == 14)
        }
    }

    @Test func onlySoManyPacketsWait() async throws {
        let clock = ManualClock()
        let service = SyncService(store: .memory(), clock: clock) { _, _, _ in true }
        func pushLate(_ number: UInt64) async throws -> SyncResponse {
            let packet = Packet(device: Identifier(high: 6, low: number), transactions: [.insert(2)])
            return try await service.respond(to: .push(packet), in: Identifier(space), as: "ada", byteCount: 300)
        }
        try await withThrowingTaskGroup(of: SyncResponse.self) { group in
            for number in UInt64(1)...100 { group.addTask { try await pushLate(number) } }
            try await clock.waitForSleepers(count: 100)
            // A further packet is refused at once.
            #expect(try await pushLate(101) == .gap(ChainEnd()))
            clock.advance(by: .seconds(5))
            for try await response in group { #expect(response == .gap(ChainEnd())) }
        }
    }

    @Test func commitsArePublished() async throws {
        let log = MemoryEventLog()
        let hub = try await EventHub(name: "sync", log: log)
        let service = SyncService(store: .memory(), hub: hub) { _, _, _ in true }
        try await SyncClient.serve(service) { (client) async throws -> Void in
            for number in UInt64(1)...20 { _ = try await client.push(.insert(number), from: device) }
            try await waitUntil("the head is published") {
                log.events(after: 0, upTo: 100).events.last?.data == #"{"head":20}"#
            }
            let topics = Set(log.events(after: 0, upTo: 100).events.map(\.topic))
            #expect(topics == [SyncService.topic(of: UUID(Identifier(high: 0, low: 10)))])
        }
    }

    @Test func theLogIsBounded() async throws {
        let store = SyncStore.memory()
        let limits = SyncLogLimits(maximumByteCount: 20_000)
        let service = SyncService(store: store, logLimits: limits) { _, _, _ in true }
        try await SyncClient.serve(service) { (client) async throws -> Void in
            var writer = SyncedDevice(1, client)
            for row in UInt64(1)...600 { try writer.write(["a": .text(String(repeating: "x", count: 100))], row) }
            try await writer.sync()
            let summary = try #require(try await store.space(space))
            #expect(summary.head == 600)
            #expect(summary.horizon > 300)
            #expect(summary.logByteCount < 40_000)
            // A new device is behind the horizon, and reads the rows.
            var reader = SyncedDevice(2, client)
            try await reader.sync()
            #expect(reader.file.shownRows == writer.file.shownRows)
        }
    }

    @Test func administrationSeesAndChangesSpaces() async throws {
        let store = SyncStore.memory()
        let service = SyncService(store: store) { _, _, _ in true }
        try await SyncClient.serve(service) { (client) async throws -> Void in
            _ = try await client.push(.insert(1), .insert(2, ["a": .integer(7)]), from: device)
            let before = try #require(try await store.spaces().first)
            #expect(before.id == space && before.head == 2 && before.horizon == 0)
            let devices = try await store.devices(in: space)
            #expect(devices.map(\.id) == [UUID(device)])
            #expect(devices.map(\.subject) == ["ada"])
            #expect(devices.map(\.operationCount) == [2])
            #expect(try await store.log(of: space).map(\.number) == [1, 2])
            #expect(try await store.log(of: space, after: 1).first?.changes.first?.values == ["a": .integer(7)])
            let epoch = try await store.beginEpoch(in: space)
            #expect(try await store.space(space)?.epoch == epoch)
            let cursor = Cursor(epoch: Identifier(before.epoch), number: 2, tag: 0)
            #expect(try await client.send(.pull(.init(device: device, cursor: cursor, offset: 0))) == .history)
            try await store.trimLog(of: space, to: SyncLogLimits(maximumAge: .seconds(-60)))
            #expect(try await store.space(space)?.horizon == 2)
            #expect(try await store.close(device: UUID(device), in: space))
            #expect(try await !store.close(device: UUID(), in: space))
            #expect(try await store.devices(in: space).map(\.isClosed) == [true])
            guard case .revoked = try await client.push(.insert(3), from: device) else {
                Issue.record("the device is not closed")
                return
            }
        }
    }

    @Test func theServerWritesAsADevice() async throws {
        let seen = Mutex<[SyncCommit]>([])
        let store = SyncStore.memory { commit in
            if commit.changes.first?.table == "locked" { throw SyncRefusal("locked") }
            seen.withLock { $0.append(commit) }
        }
        let service = SyncService(store: store) { _, _, _ in false }
        let row = UUID()
        #expect(try await service.write(in: space) { $0.set(["n": .integer(1)], of: row, in: "note") } == 1)
        let second = try await service.write(in: space) { writer in
            let values = try writer.values(of: row, in: "note")
            #expect(values == ["n": .integer(1)])
            writer.set(["n": .integer(2), "a": .text("x")], of: row, in: "note")
            writer.delete(UUID(), in: "note")
        }
        #expect(second == 2)
        // Nothing changes.
        #expect(try await service.write(in: space) { $0.set(["n": .integer(2)], of: row, in: "note") } == nil)
        await #expect(throws: SyncRefusal("locked")) {
            try await service.write(in: space) { $0.set([:], of: row, in: "locked") }
        }
        await #expect(throws: SyncWriteError.self) {
            try await service.write(in: space) { $0.set(["n": .real(.nan)], of: row, in: "note") }
        }
        await #expect(throws: SyncWriteError.self) {
            try await service.write(in: space) { writer in
                for _ in 0...5_000 { writer.set(["n": .null], of: UUID(), in: "note") }
            }
        }
        #expect(try await store.space(space)?.head == 2)
        #expect(seen.withLock { $0.map(\.subject) } == [nil, nil])
    }

    @Test func failedTransactionsLeaveMemoryAsItWas() async throws {
        struct Failure: Error {}
        let fails = Mutex(false)
        let store = SyncStore.memory { _ in if fails.withLock({ $0 }) { throw Failure() } }
        let service = SyncService(store: store) { _, _, _ in true }
        let (row, other) = (UUID(), UUID())
        try await service.write(in: space) { $0.set(["a": .text("1")], of: row, in: "note") }
        fails.withLock { $0 = true }
        for space in [space, other] {
            await #expect(throws: Failure.self) {
                try await service.write(in: space) { writer in
                    for row in [row, other] { writer.set(["a": .text("2")], of: row, in: "note") }
                }
            }
        }
        #expect(try await store.log(of: space).map(\.number) == [1])
        #expect(try await store.space(other) == nil)
        try await service.write(in: space) { writer in
            guard try writer.values(of: row, in: "note") == ["a": .text("1")] else { throw Failure() }
            guard try writer.values(of: other, in: "note") == nil else { throw Failure() }
        }
    }

    @Test func devicesReceiveWritesOfTheServer() async throws {
        let service = SyncService(store: .memory()) { _, _, _ in true }
        let space = space
        try await SyncClient.serve(service) { (client) async throws -> Void in
            var device = SyncedDevice(1, client)
            try device.write(["a": .text("mine")], 1)
            try await device.sync()
            let row = UUID(Identifier(high: 1, low: 1))
            try await service.write(in: space) { $0.set(["b": .text("server's")], of: row, in: "note") }
            try await device.sync()
            let key = RowKey("note", Identifier(row))
            #expect(device.file.shown(key) == ["a": .text("mine"), "b": .text("server's")])
            // The id of the server's device is not free.
            let id = SyncService.device(of: Identifier(space))
            #expect(try await client.push(.insert(1), from: id) == .deviceTaken)
        }
    }

    @Test func strangersCannotCloseTheServersDevice() async throws {
        let store = SyncStore.memory()
        let service = SyncService(store: store) { _, _, _ in false }
        let (space, row) = (space, UUID())
        try await service.write(in: space) { $0.set(["n": .integer(1)], of: row, in: "note") }
        let id = SyncService.device(of: Identifier(space))
        try await SyncClient.serve(service) { (client) async throws -> Void in
            #expect(try await client.push(.insert(1), from: id) == .deviceTaken)
            #expect(try await client.send(.pull(.init(device: id, cursor: .none, offset: 0))) == .deviceTaken)
        }
        #expect(try await store.devices(in: space).map(\.isClosed) == [false])
        #expect(try await service.write(in: space) { $0.set(["n": .integer(2)], of: row, in: "note") } == 2)
    }

    /// Updates that the server acknowledged before a restore, of rows that it does not have.
    private func resent(_ rows: Range<UInt64>, of device: UInt64, number: Int64 = 1) -> Transaction {
        let operations = rows.map { row in
            let key = RowKey("note", Identifier(high: 1, low: row))
            let id = Identifier(high: 200 + device, low: row)
            return RunwaySyncCore.Operation(id: id, action: .update(key, life: 1, ["b": .integer(1)]))
        }
        var transaction = Transaction(
            number: number, previous: number > 1 ? Identifier(high: 200 + device, low: rows.lowerBound - 1) : nil,
            time: HybridTime(milliseconds: 1), basis: Basis(epoch: Identifier(high: 0, low: 0), number: 0),
            operations: operations)
        transaction.wasAcknowledged = true
        return transaction
    }

    @Test func hooksSeeWhoWroteWhatWaited() async throws {
        let seen = Mutex<[SyncCommit]>([])
        let service = SyncService(store: .memory { commit in seen.withLock { $0.append(commit) } }) { _, _, _ in true }
        try await SyncClient.serve(service) { (client) async throws -> Void in
            let ada = Identifier(high: 5, low: 1)
            #expect(try await client.push(resent(1..<2, of: 1), from: ada) == .verdicts([.applied(1)], head: 1))
            var ben = client
            ben.subject = "ben"
            let insert = Transaction.insert(1, of: 2, ["a": .text("x")])
            #expect(try await ben.push(insert, from: Identifier(high: 5, low: 2)) == .verdicts([.applied(2)], head: 2))
            let commit = try #require(seen.withLock { $0.last })
            #expect(commit.subject == "ben")
            #expect(commit.changes.map(\.values) == [["a": .text("x"), "b": .integer(1)]])
            #expect(commit.changes.map(\.writers) == [["b": "ada"]])
        }
    }

    @Test func rowsBesideWhichUpdatesWaitAreBounded() async throws {
        let service = SyncService(store: .memory()) { _, _, _ in true }
        func push(_ rows: Range<UInt64>, number: Int64) async throws -> SyncResponse {
            let packet = Packet(device: device, transactions: [resent(rows, of: 1, number: number)])
            return try await service.respond(to: .push(packet), in: Identifier(space), as: "ada", byteCount: 1000)
        }
        for (index, start) in [UInt64(1), 5_001].enumerated() {
            let number = Int64(index)
            let response = try await push(start..<start + 5_000, number: number * 5_000 + 1)
            #expect(response == .verdicts([.applied(number + 1)], head: number + 1))
        }
        #expect(try await push(10_001..<10_002, number: 10_001) == .verdicts([.refused(.tooMany, head: 2)], head: 2))
        // A further update of a row beside which others wait is applied.
        #expect(
            try await service.respond(
                to: .push(Packet(device: Identifier(high: 5, low: 2), transactions: [resent(1..<2, of: 2)])),
                in: Identifier(space), as: "ada", byteCount: 1000) == .verdicts([.applied(3)], head: 3))
    }

    @Test func oldAppsHaveToUpdate() async throws {
        let service = SyncService(store: .memory(), minimumSchema: 2) { _, _, _ in true }
        try await SyncClient.serve(service) { (client) async throws -> Void in
            #expect(try await client.push(.insert(1), from: device) == .upgrade)
        }
    }

    @Test func marksOfBackupsOnlyGrow() async throws {
        let store = SyncStore.memory()
        let service = SyncService(store: store) { _, _, _ in true }
        try await SyncClient.serve(service) { (client) async throws -> Void in
            _ = try await client.push(.insert(1), .insert(2), from: device)
            for (number, expected) in [(1, 1), (3, 1), (0, 1), (2, 2)] as [(Int64, Int64)] {
                try await store.markBackup(of: space, through: number)
                let pull = PullRequest(device: device, cursor: .none, offset: 0)
                guard case .page(let page) = try await client.send(.pull(pull)) else { return }
                #expect(page.backup == expected)
            }
        }
    }
}
