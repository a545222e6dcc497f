import Foundation
import GRDB
import RunwayServer
import RunwayTesting
import Synchronization
import Testing

@testable import RunwayServerStorage

/// The log of a hub in a file: what survives, what is removed, and what becomes of a file that can't be used.
@Suite(.timeLimit(.minutes(10)))
struct SQLiteEventLogTests {
    private func withFile(_ body: (URL) async throws -> Void) async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "runway-events-\(UUID())")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        try await body(folder.appending(path: "events.sqlite"))
    }

    private func events(_ numbers: ClosedRange<Int>, _ topic: String = "all") -> [PublishedEvent] {
        numbers.map { PublishedEvent(topic: topic, type: "added", data: "\($0)") }
    }

    @Test func eventsAndTheirIDsSurviveARestart() async throws {
        try await withFile { file in
            let first = try SQLiteEventLog(file: file)
            let empty = try await first.range()
            #expect(empty.first == 1 && empty.last == 0)
            let range = try await first.append(events(1...3))
            #expect(range.first == 1 && range.last == 3 && range.epoch == empty.epoch)
            try first.close()
            let second = try SQLiteEventLog(file: file)
            #expect(try await second.range() == range)
            let read = try await second.events(after: 1, upTo: 10)
            #expect(read.first == 2 && read.events == events(2...3))
            #expect(try await second.append(events(4...4)).last == 4)
        }
    }

    @Test func pagesHaveTheEventsInOrder() async throws {
        try await withFile { file in
            let log = try SQLiteEventLog(file: file)
            _ = try await log.append(events(1...10))
            let page = try await log.events(after: 3, upTo: 4)
            #expect(page.first == 4 && page.events == events(4...7))
            let rest = try await log.events(after: 10, upTo: 4)
            #expect(rest.first == 11 && rest.events.isEmpty)
        }
    }

    @Test func pagesAreBoundedInBytes() async throws {
        try await withFile { file in
            let log = try SQLiteEventLog(file: file)
            let text = String(repeating: "x", count: 100_000)
            _ = try await log.append((1...5).map { PublishedEvent(topic: "a", data: "\($0) " + text) })
            // A page ends with the event that reaches the bound.
            #expect(try await log.events(after: 0, upTo: 256).events.count == 3)
            let rest = try await log.events(after: 3, upTo: 256)
            #expect(rest.first == 4 && rest.events.count == 2)
        }
    }

    @Test func oldestEventsAreRemovedInTenths() async throws {
        try await withFile { file in
            let log = try SQLiteEventLog(file: file, maximumCount: 100)
            #expect(try await log.append(events(1...110)).first == 1)
            let range = try await log.append(events(111...111))
            #expect(range.first == 12 && range.last == 111)
            let read = try await log.events(after: 0, upTo: 1)
            #expect(read.first == 12 && read.events == events(12...12))
        }
    }

    @Test func anOffsetIsNeverUsedAgain() async throws {
        try await withFile { file in
            let epoch = try await SQLiteEventLog(file: file).append(events(1...5)).epoch
            try await DatabaseQueue(path: file.path).write { try $0.execute(sql: "DELETE FROM event") }
            let log = try SQLiteEventLog(file: file)
            #expect(try await log.range() == EventLogRange(epoch: epoch, first: 6, last: 5))
            #expect(try await log.append(events(6...6)) == EventLogRange(epoch: epoch, first: 6, last: 6))
        }
    }

    @Test func damagedFileIsSetAsideAndNumberingRestarts() async throws {
        try await withFile { file in
            let epoch = try await SQLiteEventLog(file: file).append(events(1...5)).epoch
            let damage = Data("no database, whatever its name says. ".utf8)
            try damage.write(to: file)
            let log = try SQLiteEventLog(file: file)
            let range = try await log.append(events(1...1))
            #expect(range.epoch != epoch && range.last == 1)
            #expect(try Data(contentsOf: URL(filePath: file.path + ".damaged")) == damage)
            try log.close()
            let again = try SQLiteEventLog(file: file)
            #expect(try await again.range() == range, "the new file is sound")
        }
    }

    @Test func aFileIsForItsUserAlone() async throws {
        try await withFile { file in
            let log = try SQLiteEventLog(file: file)
            _ = try await log.append(events(1...1))
            for ending in ["", "-wal", "-shm"] {
                let attributes = try FileManager.default.attributesOfItem(atPath: file.path + ending)
                #expect((attributes[.posixPermissions] as? NSNumber)?.intValue == 0o600, "\(ending)")
            }
            // With its end SQLite removes the other files.
            withExtendedLifetime(log) {}
        }
    }

    @Test func fullDriveFailsOnlyTheEventWithoutRoom() async throws {
        try await withFile { file in
            let log = try SQLiteEventLog(file: file, maximumCount: 100_000) { database in
                // A drive with room for the tables and a little more.
                try database.execute(sql: "PRAGMA max_page_count = 12")
            }
            let hub = try await EventHub(name: "news", log: log)
            let offset = try await hub.publish(PublishedEvent(topic: "all", data: "1"))
            let large = String(repeating: "x", count: 200_000)
            await #expect(throws: DatabaseError.self) {
                try await hub.publish(PublishedEvent(topic: "all", data: large))
            }
            #expect(try await log.range().last == offset, "nothing of it is stored")
            #expect(try await hub.publish(PublishedEvent(topic: "all", data: "2")) == offset + 1)
        }
    }

    @Test func fullDriveMovesTheWALAndRetries() async throws {
        try await withFile { file in
            let log = try SQLiteEventLog(file: file)
            _ = try await log.append(events(1...500))
            let attempts = Mutex(0)
            try await log.write { database in
                let attempt = attempts.withLock { attempts in
                    attempts += 1
                    return attempts
                }
                if attempt == 1 { throw DatabaseError(resultCode: .SQLITE_FULL) }
                #expect(try Data(contentsOf: URL(filePath: file.path + "-wal")).isEmpty)
            }
            #expect(attempts.withLock { $0 } == 2)
            #expect(try await log.events(after: 0, upTo: 1000).events == events(1...500))
        }
    }

    @Test(arguments: [
        "UPDATE event SET topic = x'80' WHERE number = 3",
        "UPDATE event SET type = x'ff' WHERE number = 3",
        "UPDATE event SET number = 9 WHERE number = 3",
        "DELETE FROM event WHERE number = 3",
    ])
    func damagedEventIsLeftOut(_ damage: String) async throws {
        try await withFile { file in
            let log = try SQLiteEventLog(file: file)
            _ = try await log.append(events(1...5))
            try await log.write { try $0.execute(sql: damage) }
            #expect(try await log.events(after: 0, upTo: 10).events == events(1...2))
            for count in [1, 10] {
                let page = try await log.events(after: 2, upTo: count)
                #expect(page.first == 4 && page.events == events(4...min(3 + count, 5)))
            }
        }
    }

    @Test(arguments: [
        "UPDATE event SET data = x'80' WHERE number > 3", "DELETE FROM event WHERE number > 3",
        "UPDATE event SET number = 9223372036854775807 - number WHERE number > 3",
    ])
    func damagedEndOfTheLogIsLeftOut(_ damage: String) async throws {
        try await withFile { file in
            let log = try SQLiteEventLog(file: file)
            _ = try await log.append(events(1...5))
            try await log.write { try $0.execute(sql: damage) }
            #expect(try await log.events(after: 0, upTo: 10).events == events(1...3))
            let rest = try await log.events(after: 3, upTo: 1)
            #expect(rest.first == 6 && rest.events.isEmpty)
        }
    }

    @Test func logIsBoundedInBytes() async throws {
        try await withFile { file in
            let log = try SQLiteEventLog(file: file, maximumByteCount: 200_000)
            let text = String(repeating: "x", count: 10_000)
            for number in 1...60 { _ = try await log.append([PublishedEvent(topic: "a", data: "\(number) " + text)]) }
            let range = try await log.range()
            #expect(range.last == 60 && (40...50).contains(range.first))
            let page = try await log.events(after: 0, upTo: 1)
            #expect(page.first == range.first && page.events.first?.data.hasPrefix("\(range.first) ") == true)
            // The last event stays, however large it is.
            let large = try await log.append([PublishedEvent(topic: "a", data: String(repeating: "x", count: 500_000))])
            #expect(large.first == 61 && large.last == 61)
        }
    }

    @Test(arguments: [
        "UPDATE sqlite_sequence SET seq = 9223372036854775807",
        "UPDATE sqlite_sequence SET seq = -1",
        "INSERT INTO event VALUES (-9223372036854775807, 'a', 'a', 'a')",
        "UPDATE log SET epoch = 'two' || char(10) || 'lines'",
    ])
    func aFileWithDamagedNumbersIsSetAside(_ damage: String) async throws {
        try await withFile { file in
            let epoch = try await SQLiteEventLog(file: file).append(events(1...5)).epoch
            try await DatabaseQueue(path: file.path).write { try $0.execute(sql: damage) }
            let log = try SQLiteEventLog(file: file)
            let range = try await log.range()
            #expect(range.last == 0 && range.epoch != epoch)
            #expect(FileManager.default.fileExists(atPath: file.path + ".damaged"))
        }
    }

    @Test func fileHasOneWriter() async throws {
        try await withFile { file in
            let log = try SQLiteEventLog(file: file)
            #expect {
                try SQLiteEventLog(file: file)
            } throws: {
                ($0 as? ServerStorageError)?.kind == .locked
            }
            try log.close()
            try SQLiteEventLog(file: file).close()
        }
    }

    @Test func removedEventsAreOverwritten() async throws {
        try await withFile { file in
            let log = try SQLiteEventLog(file: file, maximumCount: 1)
            for text in ["secret-of-ada", "b", "c"] {
                _ = try await log.append([PublishedEvent(topic: "a", data: text)])
            }
            try log.close()
            #expect(try Data(contentsOf: file).range(of: Data("secret-of-ada".utf8)) == nil)
        }
    }

    @Test func eventsPublishedAtOnceHaveOneOrder() async throws {
        try await withFile { file in
            let log = try SQLiteEventLog(file: file)
            let hub = try await EventHub(name: "news", log: log)
            let offsets = try await withThrowingTaskGroup(of: (Int, Int64).self) { group in
                for number in 0..<200 {
                    group.addTask { (number, try await hub.publish(PublishedEvent(topic: "all", data: "\(number)"))) }
                }
                return try await group.reduce(into: [:]) { $0[$1.1] = $1.0 }
            }
            #expect(Set(offsets.keys) == Set(1...200))
            let stored = try await log.events(after: 0, upTo: 1000).events
            for (index, event) in stored.enumerated() { #expect(event.data == "\(offsets[Int64(index + 1)] ?? -1)") }
        }
    }
}
