import Foundation
import GRDB
import RunwayServer
import RunwaySyncCore
import Synchronization
import Testing

@testable import RunwayServerStorage

/// Spaces in a file: kills, hooks, tables of the app, damage.
@Suite(.timeLimit(.minutes(10)))
struct SQLiteSyncDatabaseTests {
    private static let space = Identifier(high: 7, low: 7)
    private let folder = ScratchFolder()

    private static func packet(_ numbers: ClosedRange<UInt64>, of device: UInt64 = 1) -> Packet {
        func id(_ number: UInt64) -> Identifier { Identifier(high: 100 + device, low: number) }
        let transactions = numbers.map { number in
            Transaction(
                number: Int64(number), previous: number > 1 ? id(number - 1) : nil, time: .zero,
                basis: Basis(epoch: Identifier(high: 0, low: 0), number: 0),
                operations: [
                    Operation(
                        id: id(number),
                        action: .insert(
                            RowKey("note", Identifier(high: device, low: number)), life: 1,
                            ["a": .text("\(number)")]))
                ])
        }
        return Packet(device: Identifier(high: 5, low: device), transactions: transactions)
    }

    private static func push(_ packet: Packet, to store: SyncStore) async throws -> SyncResponse {
        try await SyncService(store: store) { _, _, _ in true }.respond(
            to: .push(packet), in: space, as: "ada", byteCount: 100)
    }

    @Test func newDevicesThatShareACommitAreCounted() async throws {
        let store = try SyncStore.sqlite(at: folder.file)
        var refusedCount = 0
        for start in stride(from: UInt64(0), to: 1_010, by: 202) {
            refusedCount += try await withThrowingTaskGroup(of: SyncResponse.self) { group in
                for device in start + 1...start + 202 {
                    group.addTask { try await Self.push(Self.packet(1...1, of: device), to: store) }
                }
                return try await group.reduce(0) { $0 + ($1 == .tooManyDevices ? 1 : 0) }
            }
        }
        #expect(refusedCount == 10)
    }

    /// Copies the file as a kill after each statement would leave it, and opens each copy.
    @Test func aKillAfterAnyStatementLosesNothing() async throws {
        try FileManager.default.createDirectory(at: folder.url, withIntermediateDirectories: true)
        let copies = folder.url.appending(path: "copies")
        try FileManager.default.createDirectory(at: copies, withIntermediateDirectories: true)
        var configuration = Configuration()
        configuration.journalMode = .wal
        let queue = try DatabaseQueue(path: folder.file.path, configuration: configuration)
        let store = try SyncStore.sqlite(in: queue)
        let first = try await Self.push(Self.packet(1...3), to: store)
        let file = folder.file
        let count = Counter()
        try await queue.write { database in
            // Rows must reach the log of the file before the commit.
            try database.execute(sql: "PRAGMA cache_size = 1")
            database.trace { _ in
                let copy = copies.appending(path: "\(count.next()).sqlite")
                for end in ["", "-wal"] {
                    try? FileManager.default.copyItem(
                        at: URL(fileURLWithPath: file.path + end), to: URL(fileURLWithPath: copy.path + end))
                }
            }
        }
        let second = try await Self.push(Self.packet(4...6), to: store)
        try await queue.write { $0.trace(options: []) }
        #expect(count.value > 10)
        for number in 1...count.value {
            let copy = try DatabaseQueue(path: copies.appending(path: "\(number).sqlite").path)
            let restored = try SyncStore.sqlite(in: copy)
            let head = try #require(try await restored.space(UUID(Self.space))).head
            #expect(head == 3 || head == 6)
            let rows = try await copy.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM runway_sync_row") }
            let log = try await copy.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM runway_sync_log") }
            #expect(rows == Int(head) && log == rows)
            // The device sends what was not acknowledged, and gets the same verdicts.
            if head == 3 { #expect(try await Self.push(Self.packet(1...3), to: restored) == first) }
            #expect(try await Self.push(Self.packet(4...6), to: restored) == second)
        }
    }

    @Test func hooksWriteInTheSameTransaction() async throws {
        let hook: SyncStore.SQLiteHook = { commit, database in
            try database.execute(
                sql: "INSERT INTO audit VALUES (?, ?)",
                arguments: [commit.number, commit.subject])
            if commit.number == 2, commit.changes.first?.values?["a"] == .text("2") { throw SyncRefusal("twice") }
        }
        let store = try SyncStore.sqlite(at: folder.file, hook: hook) {
            try $0.execute(sql: "CREATE TABLE audit (number INTEGER PRIMARY KEY, subject)")
        }
        let refused = Verdict.refused(Refusal(name: "twice"), head: 1)
        let response = try await Self.push(Self.packet(1...3), to: store)
        #expect(response == .verdicts([.applied(1), refused, .applied(2)], head: 2))
        try await store.close()
        let file = try DatabaseQueue(path: folder.file.path)
        #expect(try await file.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM audit") } == 2)
        try file.close()
        let reopened = try SyncStore.sqlite(at: folder.file)
        #expect(try await Self.push(Self.packet(1...3), to: reopened) == response)
        #expect(try await reopened.log(of: UUID(Self.space)).map(\.number) == [1, 2])
    }

    @Test(arguments: [true, false]) func aFailingHookLeavesOtherRequestsAlone(byDatabase: Bool) async throws {
        let store = try SyncStore.sqlite(at: folder.file) { commit, database in
            guard commit.subject == "ada" else { return }
            if byDatabase { try database.execute(sql: "INSERT INTO absent VALUES (1)") }
            throw Unexpected()
        }
        let service = SyncService(store: store) { _, _, _ in true }
        try await withThrowingTaskGroup(of: Bool.self) { group in
            for device in UInt64(1)...20 {
                group.addTask {
                    let subject = device % 4 == 0 ? "ada" : "bob"
                    let request = SyncRequest.push(Self.packet(1...1, of: device))
                    let response = try? await service.respond(
                        to: request, in: Self.space, as: subject, byteCount: 100)
                    return (response == nil) == (subject == "ada")
                }
            }
            for try await isRight in group { #expect(isRight) }
        }
        #expect(try await store.space(UUID(Self.space))?.head == 15)
    }

    @Test func damagedRowsFailOnlyTheirRequests() async throws {
        try FileManager.default.createDirectory(at: folder.url, withIntermediateDirectories: true)
        let queue = try DatabaseQueue(path: folder.file.path)
        let store = try SyncStore.sqlite(in: queue)
        _ = try await Self.push(Self.packet(1...2), to: store)
        try await queue.write { database in
            try database.execute(sql: "UPDATE runway_sync_row SET body = x'00' WHERE id = ?", arguments: [Self.row(1)])
        }
        let delete = Operation.Action.delete(RowKey("note", Identifier(high: 1, low: 1)), life: 2)
        let transaction = Transaction(
            number: 1, previous: nil, time: .zero, basis: Basis(epoch: Identifier(high: 0, low: 0), number: 0),
            operations: [Operation(id: Identifier(high: 300, low: 1), action: delete)])
        let packet = Packet(device: Identifier(high: 5, low: 9), transactions: [transaction])
        await #expect { _ = try await Self.push(packet, to: store) } throws: {
            ($0 as? ServerStorageError)?.kind == .corrupted
        }
        #expect(try await Self.push(Self.packet(3...3), to: store) == .verdicts([.applied(3)], head: 3))
    }

    @Test func batchesReadOnlyRowsThatCanMatch() async throws {
        try FileManager.default.createDirectory(at: folder.url, withIntermediateDirectories: true)
        let queue = try DatabaseQueue(path: folder.file.path)
        let store = try SyncStore.sqlite(in: queue)
        _ = try await Self.push(Self.packet(1...3), to: store)
        try await queue.write { database in
            try database.execute(sql: "UPDATE runway_sync_row SET body = x'00' WHERE id = ?", arguments: [Self.row(1)])
        }
        let batch = BatchUpdate(table: "note", where: [.init("a", .equal, .text("2"))], set: ["a": .text("4")])
        let transaction = Transaction(
            number: 1, previous: nil, time: HybridTime(milliseconds: 1),
            basis: Basis(epoch: Identifier(high: 0, low: 0), number: 0),
            operations: [Operation(id: Identifier(high: 300, low: 1), action: .batch(batch))])
        let packet = Packet(device: Identifier(high: 5, low: 9), transactions: [transaction])
        guard case .verdicts(let verdicts, _) = try await Self.push(packet, to: store) else { throw Unexpected() }
        #expect(verdicts.map(\.number) == [4])
        #expect(try await store.log(of: UUID(Self.space), after: 3).first?.changes.count == 1)
    }

    private struct Unexpected: Error {}

    private static func row(_ number: UInt64) -> Data { Identifier(high: 1, low: number).data }

    @Test func aFileIsReadWhileItIsWritten() async throws {
        let store = try SyncStore.sqlite(at: folder.file)
        _ = try await Self.push(Self.packet(1...2), to: store)
        let reader = SyncStore.sqlite(reading: folder.file)
        #expect(try await reader.spaces().map(\.head) == [2])
        await #expect(throws: ServerStorageError.self) { try await reader.beginEpoch(in: UUID(Self.space)) }
        #expect(throws: ServerStorageError.self) { try SyncStore.sqlite(at: folder.file) }
    }
}

/// Counts the statements of a connection.
private final class Counter: Sendable {
    /// Guards the number.
    private let count = Mutex(0)

    var value: Int { count.withLock { $0 } }

    func next() -> Int {
        count.withLock { count in
            count += 1
            return count
        }
    }
}
