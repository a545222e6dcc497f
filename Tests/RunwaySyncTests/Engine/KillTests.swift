import Foundation
import Runway
import RunwaySync
import RunwayTables
import RunwayTesting
import RunwayTransport
import Testing

#if !os(iOS) && !os(tvOS) && !os(watchOS) && !os(visionOS)
    /// Devices whose process is killed.
    @Suite(.timeLimit(.minutes(5)))
    struct KillTests {
        /// Writes notes while they are sent, and kills its process after some of them.
        static func writeAndDie(_ folder: String, port: Int, list: UUID, after count: Int) async throws {
            let folder = URL(fileURLWithPath: folder)
            let store = try await RecordStore.open(at: folder.appending(path: "records.sqlite"), tables: [Notes.self])
            let network = NetworkLayer(
                transport: try NIOTransport(configuration: TransportConfiguration(connectTimeout: .seconds(300))))
            network.configure(Backend.self) { $0.baseURLs = [.release: "http://127.0.0.1:\(port)"] }
            let engine = try await SyncEngine(store, over: network, service: Backend.self)
            try await engine.join(list)
            for number in 0..<count {
                let values = Values(UUID(), in: list, title: "\(number)")
                try await store.write { try $0.insert(values) }
                // Some die between a commit and its sending, and some in the middle of an exchange.
                if number % 3 == 0 { _ = await engine.syncNow() }
            }
            kill(getpid(), SIGKILL)
        }

        /// Kills its process in the middle of a write.
        static func dieInsideAWrite(_ folder: String, list: UUID) async throws {
            let file = URL(fileURLWithPath: folder).appending(path: "records.sqlite")
            let store = try await RecordStore.open(at: file, tables: [Notes.self])
            try await store.write { try $0.insert(Values(UUID(), in: list, title: "whole")) }
            try await store.write { file in
                try file.insert(Values(UUID(), in: list, title: "half"))
                kill(getpid(), SIGKILL)
            }
        }

        @Test func writeThatIsKilledLeavesNothing() async throws {
            let (folder, list) = (try TemporaryFolder(), UUID(number: 1))
            let path = folder.url.path
            _ = await oneAtATime {
                await #expect(processExitsWith: .signal(SIGKILL)) {
                    [path = path as String, list = list as UUID] in
                    try await KillTests.dieInsideAWrite(path, list: list)
                }
            }
            try await SyncServer.run { server in
                let device = try await EngineTests.Device(server, joining: list, in: folder)
                #expect(try await device.titles() == ["whole"])
                let reader = try await EngineTests.Device(server, joining: list)
                for device in [device, reader] { #expect(await device.engine.syncInTime() == nil) }
                #expect(try await reader.titles() == ["whole"])
                let status = try await device.status(of: list)
                #expect(status.waitingCount == 0 && status.refusedChanges.isEmpty)
                for device in [device, reader] { try await device.close() }
            }
        }

        /// - Parameter failure: The failure of all pushes before the kill; `nil` for none.
        @Test(
            arguments: [(1, nil), (4, nil), (11, nil), (4, .refuses(500)), (4, .losesResponse)]
                as [(Int, SyncServer.Failure?)])
        func killedDeviceLosesNothing(_ count: Int, _ failure: SyncServer.Failure?) async throws {
            let (folder, list) = (try TemporaryFolder(), UUID(number: 1))
            try await SyncServer.run { server in
                let (path, port) = (folder.url.path, server.port)
                if let failure { server.faults.add(failure, to: "push", count: 1_000) }
                // The process needs the server of this one.
                _ = await oneAtATime {
                    await #expect(processExitsWith: .signal(SIGKILL)) {
                        [path = path as String, port = port as Int, list = list as UUID, count = count as Int] in
                        try await KillTests.writeAndDie(path, port: port, list: list, after: count)
                    }
                }
                server.faults.end()
                let store = try await RecordStore.open(at: folder.file, tables: [Notes.self])
                let engine = try await SyncEngine(store, over: server.makeNetwork(), service: Backend.self)
                #expect(await engine.syncInTime() == nil)
                let other = try TemporaryFolder()
                let second = try await RecordStore.open(at: other.file, tables: [Notes.self])
                let reader = try await SyncEngine(second, over: server.makeNetwork(), service: Backend.self)
                try await reader.join(list)
                #expect(await reader.syncInTime() == nil)
                let titles = try await second.read { try $0.fetch(Notes.self).compactMap { $0[Notes.title] } }
                #expect(titles.sorted() == (0..<count).map(String.init).sorted())
                for engine in [engine, reader] { await engine.close() }
                for store in [store, second] { try await store.close() }
            }
        }
    }
#endif
