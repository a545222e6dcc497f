import Foundation
import Runway
import RunwaySync
import RunwayTables
import RunwayTesting

extension EngineTests {
    /// A device with its file.
    final class Device: Sendable {
        let folder: TemporaryFolder
        let store: RecordStore
        let network: NetworkLayer
        /// The records of its calls.
        let records = RecordCollector()
        let engine: SyncEngine

        init(
            _ server: SyncServer, joining list: UUID?, in folder: TemporaryFolder? = nil, events: Bool = false,
            clock: ManualClock? = nil
        ) async throws {
            self.folder = try folder ?? TemporaryFolder()
            store = try await RecordStore.open(at: self.folder.file, tables: [Notes.self])
            network = try server.makeNetwork(clock: clock, sinks: [records])
            engine = try await SyncEngine(
                store, over: network, service: Backend.self, eventsPath: events ? "events" : nil)
            if let list { try await engine.join(list) }
        }

        func write(_ id: UUID, in list: UUID, _ title: String) async throws {
            let values = Values(id, in: list, title: title)
            try await store.write { try $0.save(values) }
        }

        func titles() async throws -> [String?] {
            try await store.read {
                try $0.fetch(Notes.self, orderedBy: [.ascending(Notes.title)]).map { $0[Notes.title] }
            }
        }

        func status(of list: UUID) async throws -> SyncStatus { try await store.read { try $0.syncStatus(of: list) } }

        func close() async throws {
            await engine.close()
            try await store.close()
        }

        /// Waits until the server has decided on all changes.
        @MainActor func waitForNothingWaiting(in list: UUID) async throws {
            let counts = store.observe { try $0.syncStatus(of: list).waitingCount }
            for try await count in counts where count == 0 { return }
        }

        /// Waits until the file has these notes.
        @MainActor func waitForTitles(_ titles: [String]) async throws {
            let notes = store.observe {
                try $0.fetch(Notes.self, orderedBy: [.ascending(Notes.title)]).map { $0[Notes.title] ?? "" }
            }
            for try await found in notes where found == titles { return }
        }
    }
}
