import Foundation
import HTTPTypes
import Runway
import RunwayServer
import RunwaySync
import RunwayTables
import RunwayTesting
import Synchronization
import Testing

/// Files of rows, over real files and sockets.
@Suite(.timeLimit(.minutes(5)))
struct FileSyncTests {
    private let first = UUID(number: 2), second = UUID(number: 3)
    private let picture = Data(repeating: 1, count: 300_000)

    private func withDevices(
        _ server: FileServer, _ body: (_ sender: FileDevice, _ receiver: FileDevice) async throws -> Void
    ) async throws {
        let (sender, receiver) = (try await FileDevice(server), try await FileDevice(server))
        try await body(sender, receiver)
        try await sender.close()
        try await receiver.close()
    }

    @Test(arguments: [0, 1, 300_000])
    func aFileArrivesWithItsRow(_ byteCount: Int) async throws {
        try await FileServer.run { server in
            try await withDevices(server) { sender, receiver in
                let bytes = picture.prefix(byteCount)
                let file = try await sender.save(bytes, of: first)
                #expect(try await receiver.synced(first) == bytes)
                #expect(try await sender.synced(first) == bytes)
                #expect(try await receiver.wait(for: first) { _ in true } == file)
            }
        }
    }

    @Test func aRowWaitsForItsFileAsAbsent() async throws {
        try await FileServer.run { server in
            server.control.holdUploads(after: 1)
            try await withDevices(server) { sender, receiver in
                try await sender.save(picture, of: first)
                let file = try await receiver.wait(for: first) { $0 == .absent }
                await #expect {
                    _ = try await receiver.store.url(of: file)
                } throws: {
                    ($0 as? TableError)?.kind == .fileUnreadable
                }
                server.control.release()
                #expect(try await receiver.synced(first) == picture)
            }
        }
    }

    @Test func equalFilesAreSentOnce() async throws {
        try await FileServer.run { server in
            try await withDevices(server) { sender, receiver in
                for id in [first, second] { try await sender.save(picture, of: id) }
                for device in [sender, receiver] {
                    for id in [first, second] { #expect(try await device.synced(id) == picture) }
                }
                // Another device has the same bytes.
                try await receiver.save(picture, of: UUID(number: 4))
                _ = try await receiver.synced(UUID(number: 4))
                #expect(server.control.count("PUT") == 1)
                #expect(receiver.fileNames.count == 3)
                #expect(server.stored.count == 1)
            }
        }
    }

    @Test func filesOfAnotherSpaceAreNotSent() async throws {
        try await FileServer.run { server in
            try await withDevices(server) { victim, other in
                _ = try await other.engine.leave(FileDevice.list, discardsUnsent: true)
                let file = try await victim.save(picture, of: first)
                _ = try await victim.synced(first)
                let space = UUID(number: 9)
                for device in [victim, other] { try await device.engine.join(space) }
                let count = server.control.count("HEAD")
                // A member of a space that has only heard of the file names it there.
                try await other.insert(naming: file.name, of: second, in: space)
                try await waitUntil { server.control.count("HEAD") > count }
                // The second attempt begins after the end of the first.
                try await victim.engine.transferAgain(file, in: space)
                try await waitUntil { server.control.count("HEAD") > count + 1 }
                #expect(server.control.count("PUT") == 1)
                #expect(server.stored.count == 1)
            }
        }
    }

    @Test func otherBytesAreNeverShown() async throws {
        try await FileServer.run { server in
            try await withDevices(server) { sender, receiver in
                server.control.lie(Array(repeating: 2, count: picture.count))
                try await sender.save(picture, of: first)
                let file = try await receiver.wait(for: first) { $0 == .failed(.damaged) }
                #expect(receiver.fileNames.isEmpty)
                #expect(receiver.partNames.isEmpty)
                server.control.lie(nil)
                try await receiver.engine.transferAgain(file, in: FileDevice.list)
                #expect(try await receiver.synced(first) == picture)
            }
        }
    }

    @Test func hugeDeclaredSizesAreNotRequested() async throws {
        try await FileServer.run { server in
            try await withDevices(server) { sender, receiver in
                let digest = String(repeating: "a", count: 64)
                let name = "\(UUID().uuidString.lowercased())-\(Int.max)-\(digest)"
                try await sender.insert(naming: name, of: first)
                for device in [sender, receiver] { try await device.wait(for: first) { $0 == .failed(.tooLarge) } }
                #expect(server.control.count("GET") == 0)
            }
        }
    }

    @Test func textsThatNameNoFileHoldNothingUp() async throws {
        try await FileServer.run { server in
            try await withDevices(server) { sender, receiver in
                let (legacy, long) = ("\(UUID().uuidString.lowercased())-5", String(repeating: "f", count: 200))
                // More than one look for work reads.
                let texts = ["../outside", "", legacy, long] + (0..<20).map { "-\($0)" }
                for text in texts { try await sender.insert(naming: text, of: UUID()) }
                try await sender.save(picture, of: first)
                #expect(try await receiver.synced(first) == picture)
            }
        }
    }

    @Test func aReplacedFileIsNotSent() async throws {
        try await FileServer.run { server in
            server.control.holdUploads(after: 1)
            try await withDevices(server) { sender, receiver in
                try await sender.save(Data(repeating: 3, count: 32 << 20), of: first)
                try await waitUntil("the upload") { server.control.isHolding }
                // Later uploads pass, and this one is held.
                server.control.holdUploads(after: .max)
                let later = try await sender.save(picture, of: first)
                #expect(try await sender.synced(first) == picture)
                #expect(try await receiver.synced(first) == picture)
                server.control.release()
                try await waitUntil("the end of both uploads") { server.control.endedUploadCount >= 2 }
                #expect(server.stored.count == 1)
                #expect(sender.fileNames.count == 1)
                #expect(receiver.fileNames == sender.fileNames)
                #expect(try await receiver.wait(for: first) { _ in true } == later)
            }
        }
    }

    @Test func aDeletedRowTakesItsFileAlong() async throws {
        try await FileServer.run { server in
            try await withDevices(server) { sender, receiver in
                try await sender.save(picture, of: first)
                _ = try await receiver.synced(first)
                try await sender.delete(first)
                try await receiver.waitForNothing()
                // The files go after the commit.
                _ = await receiver.engine.syncNow()
                #expect(sender.fileNames.isEmpty)
                #expect(receiver.fileNames.isEmpty)
                #expect(server.stored.count == 1)
                let files = SyncFiles.folder(server.folder.path)
                try await server.service.removeUnusedFiles(from: files, in: FileDevice.list)
                #expect(server.stored.count == 1)
                try await server.service.removeUnusedFiles(from: files, in: FileDevice.list, unusedFor: .zero)
                #expect(server.stored.isEmpty)
            }
        }
    }

    @Test func namedFilesStayAtTheServer() async throws {
        try await FileServer.run { server in
            try await withDevices(server) { sender, receiver in
                try await sender.save(picture, of: first)
                _ = try await receiver.synced(first)
                try await server.service.removeUnusedFiles(
                    from: .folder(server.folder.path), in: FileDevice.list, unusedFor: .zero)
                #expect(server.stored.count == 1)
            }
        }
    }

    @Test func subjectsWithoutTheRightUploadNothing() async throws {
        let mayUpload = Flag(false)
        try await FileServer.run(
            rights: { _, _, access in access.kind != .upload || mayUpload.value },
            { server in
                try await withDevices(server) { sender, receiver in
                    try await sender.save(picture, of: first)
                    let file = try await sender.wait(for: first) { $0 == .failed(.forbidden) }
                    try await receiver.wait(for: first) { $0 == .absent }
                    #expect(server.stored.isEmpty)
                    mayUpload.value = true
                    try await sender.engine.transferAgain(file, in: FileDevice.list)
                    #expect(try await receiver.synced(first) == picture)
                }
            })
    }

    @Test func rightsAreAskedAgainAfterABody() async throws {
        let askedCount = Mutex(0)
        let isFirst: SyncService.Rights = { _, _, access in
            access.kind != .upload
                || askedCount.withLock { count in
                    count += 1
                    return count == 1
                }
        }
        try await FileServer.run(rights: isFirst) { server in
            let network = try server.makeNetwork()
            // The SHA-256 of the bytes.
            let put = PutFile(digest: "d9298a10d1b0735837dc4bd85dac641b0f3cef27a47e5d53a54f2f3f5b2fcffa")
            await #expect {
                _ = try await network.call(put)
            } throws: {
                ($0 as? NetworkError)?.status?.code == 403
            }
            #expect(askedCount.withLock { $0 } == 2)
            #expect(server.stored.isEmpty)
        }
    }

    @Test func uploadsWithoutALengthAreRefused() async throws {
        try await FileServer.run { server in
            let network = try server.makeNetwork()
            await #expect {
                _ = try await network.call(PutStream(digest: String(repeating: "a", count: 64)))
            } throws: {
                ($0 as? NetworkError)?.status?.code == 411
            }
            #expect(server.stored.isEmpty)
        }
    }

    @Test func manyAbsentFilesDelayNoOtherSpace() async throws {
        try await FileServer.run { server in
            let former = try await FileDevice(server)
            let space = UUID(number: 9)
            try await former.engine.join(space)
            await former.engine.close()
            // Names of files that nobody has, before all others.
            let digest = String(repeating: "b", count: 61)
            for number in 100..<400 {
                let name = "00000000-0000-4000-8000-000000000\(number)-1-\(digest)\(number)"
                try await former.insert(naming: name, of: UUID(), in: space)
            }
            try await former.save(picture, of: first)
            try await former.store.close()
            let device = try await FileDevice(server, in: former.folder)
            #expect(try await device.synced(first) == picture)
            #expect(server.control.methods.prefix { $0 != "PUT" }.count < 50)
            try await device.close()
        }
    }

    @Test func theServerRefusesOtherBytes() async throws {
        try await FileServer.run { server in
            let network = try server.makeNetwork()
            let put = PutFile(digest: String(repeating: "a", count: 64))
            await #expect {
                _ = try await network.call(put)
            } throws: {
                ($0 as? NetworkError)?.status?.code == 422
            }
            #expect(server.stored.isEmpty)
        }
    }

    @Test func anObjectStoreTakesTheFiles() async throws {
        try await FileServer.run { storage in
            let files = SyncFiles.objectStore { file, _ in
                let space = file.space.uuidString.lowercased()
                return "http://127.0.0.1:\(storage.port)/sync/\(space)/files/\(file.digest)"
            }
            try await FileServer.run(files: files) { server in
                try await withDevices(server) { sender, receiver in
                    try await sender.save(picture, of: first)
                    _ = try await sender.synced(first)
                    let file = try await receiver.wait(for: first) { _ in true }
                    // Nobody reports the arrival.
                    try await receiver.engine.transferAgain(file, in: FileDevice.list)
                    #expect(try await receiver.synced(first) == picture)
                    #expect(storage.stored.count == 1)
                    #expect(server.stored.isEmpty)
                }
            }
        }
    }

    @Test func filesFromBeforeTheSynchronisationArrive() async throws {
        let folder = try TemporaryFolder()
        let plain = try await RecordStore.open(at: folder.file, tables: [PlainPictures.self])
        let id = first
        try await plain.withFile(picture) { file in
            var values = Values<PlainPictures>()
            (values[PlainPictures.id], values[PlainPictures.list]) = (id, FileDevice.list)
            values[PlainPictures.file] = file
            let saved = values
            try await plain.write { try $0.save(saved) }
        }
        try await plain.close()
        try await FileServer.run { server in
            let (sender, receiver) = (try await FileDevice(server, in: folder), try await FileDevice(server))
            #expect(try await receiver.synced(first) == picture)
            #expect(sender.fileNames == receiver.fileNames)
            for device in [sender, receiver] { try await device.close() }
        }
    }

    @Test func signOutAsksAboutFilesThatWait() async throws {
        try await FileServer.run(rights: { _, _, access in access.kind != .upload }) { server in
            let device = try await FileDevice(server)
            try await device.save(picture, of: first)
            try await device.wait(for: first) { $0 == .failed(.forbidden) }
            #expect(await device.engine.syncNow() == nil)
            #expect(try await !device.engine.leave(FileDevice.list))
            #expect(try await !device.engine.signOut { count in count == 1 ? .send : .discard })
            #expect(try await device.engine.signOut { _ in .discard })
            #expect(device.fileNames.isEmpty)
            try await device.store.close()
        }
    }
}

/// Sends bytes under a digest that is not theirs.
private struct PutFile: Endpoint {
    static let service = Backend.self
    static let method = HTTPRequest.Method.put
    static let encoding = ParameterEncoding.raw(contentType: "application/octet-stream")

    @Unencoded var digest: String
    var path: EndpointPath { "sync/\(FileDevice.list.uuidString.lowercased())/files/\(digest)" }
    var content: RequestBody { .bytes(Array("other".utf8)) }
}

/// Sends bytes of a length that the request does not name.
private struct PutStream: Endpoint {
    static let service = Backend.self
    static let method = HTTPRequest.Method.put
    static let encoding = ParameterEncoding.raw(contentType: "application/octet-stream")

    @Unencoded var digest: String
    var path: EndpointPath { "sync/\(FileDevice.list.uuidString.lowercased())/files/\(digest)" }
    var content: RequestBody {
        .stream(BodyStream(Array("other".utf8)), byteCount: nil, isReplayable: true)
    }
}
