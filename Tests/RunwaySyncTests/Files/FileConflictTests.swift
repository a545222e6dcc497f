import Foundation
import GRDB
import RunwaySync
import RunwayTables
import RunwayTesting
import Testing

/// Files whose names rows lose or exchange before their upload, and files that no device has.
@Suite(.timeLimit(.minutes(5)))
struct FileConflictTests {
    private let first = UUID(number: 2), second = UUID(number: 3)
    private let picture = Data(repeating: 1, count: 300_000)

    /// Runs two devices that have a picture.
    private func withPicture(
        _ body: (_ server: FileServer, _ one: FileDevice, _ other: FileDevice) async throws -> Void
    ) async throws {
        try await FileServer.run(conflicts: ["picture": .ask]) { server in
            let (one, other) = (try await FileDevice(server), try await FileDevice(server))
            try await one.save(picture, of: first)
            _ = try await other.synced(first)
            try await body(server, one, other)
            try await one.close()
            try await other.close()
        }
    }

    @Test func discardedFilesStayUntilTheConflictIsResolved() async throws {
        try await withPicture { server, sender, receiver in
            for device in [sender, receiver] { await device.engine.close() }
            let files = [
                try await sender.save(Data("sender".utf8), of: first),
                try await receiver.save(Data("receiver".utf8), of: first),
            ]
            let devices = [
                try await FileDevice(server, in: sender.folder), try await FileDevice(server, in: receiver.folder),
            ]
            for device in devices + devices { _ = await device.engine.syncNow() }
            let conflicts = try await devices.asyncMap { device in
                try await device.store.read { try $0.syncConflicts(of: Pictures.self) }
            }
            let asked = try #require(conflicts.firstIndex { !$0.isEmpty })
            let lost = try #require(conflicts[asked].first?[Pictures.file] ?? nil)
            #expect(files.contains(lost))
            _ = try await devices[asked].synced(first)
            while devices[asked].fileNames.count < 2 { _ = await devices[asked].engine.syncNow() }
            let id = first
            try await devices[asked].store.write { try $0.resolveConflict(of: Pictures.self, id) }
            #expect(devices[asked].fileNames.count == 1)
            for device in devices { try await device.close() }
        }
    }

    /// Another device asks, and has only the name.
    @Test func theAskingDeviceReceivesAReplacedFile() async throws {
        try await withPicture { server, sender, former in
            await former.engine.close()
            server.control.holdUploads(after: 0)
            let lost = try await sender.save(Data("sender".utf8), of: first)
            try await sender.waitForNothingWaiting()
            former.engine.setClockOffset(seconds: 5)
            let won = try await former.save(Data("receiver".utf8), of: first)
            let asking = try await FileDevice(server, in: former.folder)
            #expect(try await asking.discarded() == lost)
            try await sender.wait(for: first, naming: won.name)
            try #require(try await sender.status(of: lost) != .absent)
            server.control.release()
            try await waitUntil("the discarded file") { asking.fileNames.contains(lost.name) }
            try await waitUntil("the end of the hold") { sender.fileNames == [won.name] }
            let id = first
            try await asking.store.write { try $0.resolveConflict(of: Pictures.self, id) }
            #expect(asking.fileNames == [won.name])
            try await asking.close()
        }
    }

    /// The log replaces the value before the server has decided.
    @Test func anAskingDeviceStillHasItsFile() async throws {
        try await withPicture { server, former, winner in
            await former.engine.close()
            server.control.holdUploads(after: 0)
            let lost = try await former.save(Data("loser".utf8), of: first)
            winner.engine.setClockOffset(seconds: 5)
            let won = try await winner.save(Data("winner".utf8), of: first)
            try await winner.waitForNothingWaiting()
            let asking = try await FileDevice(server, in: former.folder)
            #expect(try await asking.discarded() == lost)
            try await asking.wait(for: first, naming: won.name)
            #expect(asking.fileNames == [lost.name])
            server.control.release()
            #expect(try await asking.synced(first) == Data("winner".utf8))
            let id = first
            try await asking.store.write { try $0.resolveConflict(of: Pictures.self, id) }
            #expect(asking.fileNames == [won.name])
            try await asking.close()
        }
    }

    @Test func aFileThatChangesRowsIsSent() async throws {
        try await withPicture { server, sender, receiver in
            server.control.holdUploads(after: 0)
            let file = try await sender.save(Data("sender".utf8), of: first)
            try await receiver.wait(for: first, naming: file.name)
            let (id, other) = (first, second)
            try await receiver.store.write { writer in
                _ = try writer.delete(Pictures.self, where: Pictures.id == id)
                try writer.connection.execute(
                    sql: "INSERT INTO picture (id, listId, file) VALUES (?, ?, ?)",
                    arguments: [Data(other), Data(FileDevice.list), file.name])
            }
            try await sender.wait(for: second, naming: file.name)
            try #require(try await sender.status(of: file) != .absent)
            server.control.release()
            #expect(try await receiver.synced(second) == Data("sender".utf8))
        }
    }

    @Test func discardedNamesOfAnotherSpaceAreNotSent() async throws {
        try await withPicture { server, victim, other in
            let (space, row) = (UUID(number: 9), second)
            let file = try await victim.wait(for: first) { $0 == .synced }
            _ = try await other.engine.leave(FileDevice.list, discardsUnsent: true)
            for device in [victim, other] { try await device.engine.join(space) }
            try await victim.store.write { writer in
                var values = Values<Pictures>()
                (values[Pictures.id], values[Pictures.list]) = (row, space)
                try writer.save(values)
            }
            try await other.wait(for: second, naming: nil)
            await victim.engine.close()
            // A member of the space that has only heard of the file names it there.
            try await other.update(naming: file.name, of: second)
            try await other.waitForNothingWaiting(in: space)
            victim.engine.setClockOffset(seconds: 5)
            let won = try await victim.save(Data("own".utf8), of: second, in: space)
            let asking = try await FileDevice(server, in: victim.folder)
            #expect(try await asking.discarded() == file)
            for file in [won, file] {
                try await waitUntil("an attempt") { try await asking.status(of: file, in: space) != .waiting }
            }
            let count = server.control.count("HEAD")
            // The second attempt begins after the end of the first.
            for attempt in 1...2 {
                try await asking.engine.transferAgain(file, in: space)
                try await waitUntil("an attempt") { server.control.count("HEAD") >= count + attempt }
            }
            #expect(server.control.count("PUT") == 2)
            #expect(server.stored.count == 2)
            try await asking.close()
        }
    }

    @Test func aFileThatNobodyHasIsMissing() async throws {
        try await withPicture { server, device, other in
            // The SHA-256 of the bytes.
            let digest = "d9298a10d1b0735837dc4bd85dac641b0f3cef27a47e5d53a54f2f3f5b2fcffa"
            try await device.insert(naming: "\(UUID().uuidString.lowercased())-5-\(digest)", of: second)
            let file = try await device.wait(for: second) { $0 == .absent }
            device.engine.setClockOffset(seconds: 86_400)
            try await device.engine.transferAgain(file, in: FileDevice.list)
            try await device.wait(for: second) { $0 == .failed(.missing) }
            try await other.save(Data("other".utf8), of: UUID(number: 4))
            #expect(try await device.synced(second) == Data("other".utf8))
        }
    }
}
