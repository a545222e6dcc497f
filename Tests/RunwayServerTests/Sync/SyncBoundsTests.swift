import Foundation
import RunwaySyncCore
import Synchronization
import Testing

@testable import RunwayServer

/// What one subject can store, and how often one request runs.
struct SyncBoundsTests {
    private let space = Identifier(high: 0, low: 10)

    private func packet(_ count: UInt64, of device: UInt64) -> SyncRequest {
        func id(_ number: UInt64) -> Identifier { Identifier(high: 100 + device, low: number) }
        let transactions = (1...count).map { number in
            Transaction(
                number: Int64(number), previous: number > 1 ? id(number - 1) : nil, time: .zero,
                basis: Basis(epoch: space, number: 0),
                operations: [
                    Operation(
                        id: id(number),
                        action: .insert(RowKey("note", Identifier(high: device, low: number)), life: 1, ["a": .null]))
                ])
        }
        return .push(Packet(device: Identifier(high: 5, low: device), transactions: transactions))
    }

    private func push(
        _ request: SyncRequest, as subject: String = "ada", to service: SyncService
    ) async throws -> SyncResponse {
        try await service.respond(to: request, in: space, as: subject, byteCount: 100)
    }

    @Test func aSubjectHasAThousandDevices() async throws {
        let service = SyncService(store: .memory()) { _, _, access in access.kind == .read }
        let refused = SyncResponse.verdicts([.refused(.forbidden, head: 0)], head: 0)
        for device in UInt64(1)...1_000 {
            #expect(try await push(packet(1, of: device), to: service) == refused)
        }
        #expect(try await push(packet(1, of: 1_001), to: service) == .tooManyDevices)
        // Its devices go on, and those of others begin.
        #expect(try await push(packet(1, of: 1_000), to: service) == refused)
        #expect(try await push(packet(1, of: 1_001), as: "bob", to: service) == refused)
    }

    @Test func aPacketRunsItsHookNineTimes() async throws {
        let count = Mutex(0)
        let store = SyncStore.memory { _ in
            count.withLock { $0 += 1 }
            throw SyncRefusal("no")
        }
        let service = SyncService(store: store) { _, _, _ in true }
        #expect(try await push(packet(100, of: 1), to: service) == .tooLarge)
        #expect(count.withLock { $0 } == 9)
        let refused = Verdict.refused(Refusal(name: "no"), head: 0)
        let verdicts = SyncResponse.verdicts(Array(repeating: refused, count: 8), head: 0)
        #expect(try await push(packet(8, of: 1), to: service) == verdicts)
    }

    @Test func whatWaitsForAMemberExcludesNoOther() async throws {
        let service = SyncService(store: .memory()) { _, _, _ in true }
        func push(_ rows: Range<UInt64>, of device: UInt64, as subject: String) async throws -> SyncResponse {
            let operations = rows.map { row in
                Operation(
                    id: Identifier(high: 100 + device, low: row),
                    action: .update(RowKey("note", Identifier(high: 1, low: row)), life: 1, ["a": .null]))
            }
            var transaction = Transaction(
                number: 1, previous: nil, time: .zero, basis: Basis(epoch: space, number: 0), operations: operations)
            transaction.wasAcknowledged = true
            let packet = Packet(device: Identifier(high: 5, low: device), transactions: [transaction])
            return try await self.push(.push(packet), as: subject, to: service)
        }
        #expect(try await push(0..<5_000, of: 1, as: "eve") == .verdicts([.applied(1)], head: 1))
        #expect(try await push(5_000..<10_000, of: 2, as: "eve") == .verdicts([.applied(2)], head: 2))
        let refused = SyncResponse.verdicts([.refused(.tooMany, head: 2)], head: 2)
        #expect(try await push(10_000..<10_001, of: 3, as: "eve") == refused)
        #expect(try await push(10_000..<10_001, of: 4, as: "ada") == .verdicts([.applied(3)], head: 3))
    }

    @Test func whatWaitsNeedsTheRightToRead() async throws {
        let members = Mutex<Set<String>>(["ada", "bob", "eve"])
        let service = SyncService(store: .memory()) { subject, _, access in
            access.kind != .read || members.withLock { $0.contains(subject) }
        }
        let key = RowKey("note", Identifier(high: 1, low: 1))
        for (device, subject) in [(2, "bob"), (3, "eve")] as [(UInt64, String)] {
            var transaction = Transaction(
                number: 1, previous: nil, time: .zero, basis: Basis(epoch: space, number: 0),
                operations: [
                    Operation(
                        id: Identifier(high: 100, low: device),
                        action: .update(key, life: 1, [subject: .integer(1)]))
                ])
            transaction.wasAcknowledged = true
            let packet = Packet(device: Identifier(high: 5, low: device), transactions: [transaction])
            _ = try await push(.push(packet), as: subject, to: service)
        }
        members.withLock { _ = $0.remove("eve") }
        _ = try await push(packet(1, of: 1), to: service)
        try await service.write(in: UUID(space)) { writer in
            let values = try writer.values(of: UUID(key.id), in: key.table)
            #expect(values == ["a": .null, "bob": .integer(1)])
        }
    }

    @Test func rightsAndHooksSeeMoves() async throws {
        let other = Identifier(high: 0, low: 11)
        let asked = Mutex<[UUID?]>([])
        let committed = Mutex<[UUID?]>([])
        let store = SyncStore.memory { commit in committed.withLock { $0 += commit.changes.map(\.movedTo) } }
        let service = SyncService(store: store) { _, _, access in
            if access.kind == .delete { asked.withLock { $0.append(access.movedTo) } }
            return true
        }
        _ = try await push(packet(1, of: 1), to: service)
        let delete = Operation(
            id: Identifier(high: 100, low: 1),
            action: .delete(RowKey("note", Identifier(high: 1, low: 1)), life: 2, movedTo: other))
        let transaction = Transaction(
            number: 1, previous: nil, time: .zero, basis: Basis(epoch: space, number: 0), operations: [delete])
        _ = try await push(
            .push(Packet(device: Identifier(high: 5, low: 2), transactions: [transaction])), to: service)
        #expect(committed.withLock { $0 } == [nil, UUID(other)])
        #expect(asked.withLock { Set($0) } == [UUID(other)])
    }
}
