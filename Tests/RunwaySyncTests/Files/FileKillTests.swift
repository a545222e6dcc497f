import Foundation
import Runway
import RunwaySync
import RunwayTables
import RunwayTesting
import RunwayTransport
import Testing

/// Transfers that are cut, with and without the end of the process.
@Suite(.timeLimit(.minutes(5)))
struct FileKillTests {
    private static let picture = UUID(number: 2)
    /// More than the buffers of a connection take.
    private static let bytes = Data(repeating: 4, count: 32 << 20)

    @Test func aClosedEngineContinuesItsUpload() async throws {
        try await FileServer.run { server in
            server.control.holdUploads(after: 1 << 20)
            let sender = try await FileDevice(server)
            try await sender.save(Self.bytes, of: Self.picture)
            try await FileDevice.waitForRecord(beside: sender.folder.file, sender.engine)
            try await sender.close()
            server.control.release()
            let (again, receiver) = (try await FileDevice(server, in: sender.folder), try await FileDevice(server))
            #expect(try await receiver.synced(Self.picture) == Self.bytes)
            #expect(try await again.synced(Self.picture) == Self.bytes)
            #expect(server.control.count("PUT") == 1)
            #expect(server.control.count("PATCH") >= 1)
            #expect(again.partNames.isEmpty)
            for device in [again, receiver] { try await device.close() }
        }
    }

    #if !os(iOS) && !os(tvOS) && !os(watchOS) && !os(visionOS)
        /// Kills its process while a file is sent.
        static func sendAndDie(_ folder: String, port: Int) async throws {
            let file = URL(fileURLWithPath: folder).appending(path: "records.sqlite")
            let store = try await RecordStore.open(at: file, tables: [Pictures.self])
            let network = NetworkLayer(transport: try NIOTransport())
            network.configure(Backend.self) { $0.baseURLs = [.release: "http://127.0.0.1:\(port)"] }
            let engine = try await SyncEngine(store, over: network, service: Backend.self)
            try await engine.join(FileDevice.list)
            try await store.withFile(bytes) { file in
                var values = Values<Pictures>()
                (values[Pictures.id], values[Pictures.list], values[Pictures.file]) = (picture, FileDevice.list, file)
                let saved = values
                try await store.write { try $0.save(saved) }
            }
            try await FileDevice.waitForRecord(beside: file, engine)
            kill(getpid(), SIGKILL)
        }

        @Test func aKilledUploadContinues() async throws {
            let folder = try TemporaryFolder()
            try await FileServer.run { server in
                server.control.holdUploads(after: 1 << 20)
                let (path, port) = (folder.url.path, server.port)
                // The process needs the server of this one.
                _ = await oneAtATime {
                    await #expect(processExitsWith: .signal(SIGKILL)) {
                        [path = path as String, port = port as Int] in
                        try await FileKillTests.sendAndDie(path, port: port)
                    }
                }
                server.control.release()
                let (again, receiver) = (try await FileDevice(server, in: folder), try await FileDevice(server))
                #expect(try await receiver.synced(Self.picture) == Self.bytes)
                #expect(try await again.synced(Self.picture) == Self.bytes)
                #expect(server.control.count("PUT") == 1)
                #expect(server.control.count("PATCH") >= 1)
                for device in [again, receiver] { try await device.close() }
            }
        }
    #endif
}
