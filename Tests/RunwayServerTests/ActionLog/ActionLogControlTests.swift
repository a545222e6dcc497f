import Foundation
import HTTPTypes
import Hummingbird
import Runway
import RunwayServer
import RunwayStorage
import RunwayTesting
import Testing

/// What a server asks of its clients, and they of it, over a socket.
@Suite(.timeLimit(.minutes(10)))
struct ActionLogControlTests {
    @Test func restoredBackupLosesNothing() async throws {
        let sink = MemoryActionLogSink()
        try await LogClient.serve {
            ActionLogRoute(to: sink).add(to: $0)
        } _: { client in
            func run(_ names: String...) async throws {
                let log = client.open()
                for name in names { try await log.record(name).committed() }
                try await log.drain(client.clock)
                await log.close()
            }
            try await run("a")
            let backup = try Data(contentsOf: client.file)
            try await run("b")
            try await run("c")
            // The file is as it was after the first batch: the next ones get numbers that the server knows.
            for name in try FileManager.default.contentsOfDirectory(atPath: client.folder.path) {
                try FileManager.default.removeItem(at: client.folder.appending(path: name))
            }
            try backup.write(to: client.file)
            try await run("d", "e")
            #expect(sink.records.map(\.name) == ["a", "b", "c", "d", "e"])
        }
    }

    @Test func refusedRecordIsSetAsideWithItsReason() async throws {
        let sink = MemoryActionLogSink()
        try await LogClient.serve {
            ActionLogRoute(to: sink, refusing: { record, _ in record.name == "bad" ? "unknown name" : nil }).add(to: $0)
        } _: { client in
            let log = client.open()
            for name in ["a", "bad", "b"] { log.record(name) }
            try await log.drain(client.clock)
            #expect(sink.records.map(\.name) == ["a", "b"])
            #expect(try await log.refusedRecords().map(\.reason) == ["unknown name"])
            await log.close()
        }
    }

    @Test func serverStopsItsClients() async throws {
        let sink = MemoryActionLogSink()
        try await LogClient.serve {
            ActionLogRoute(to: sink, pace: { _ in ActionLogPace(wait: .seconds(600), sampleRate: 0) }).add(to: $0)
        } _: { client in
            let log = client.open()
            try await log.record("a").committed()
            await log.flush()
            await #expect(throws: StorageError.self) { try await log.record("b").committed() }
            client.clock.advance(by: .seconds(601))
            try await log.record("c").committed()
            await log.flush()
            #expect(sink.records.map(\.name) == ["a", "c"])
            await log.close()
        }
    }

    @Test func accountIsErasedAtTheServer() async throws {
        let sink = MemoryActionLogSink()
        let name = try #require(HTTPField.Name("Test-Account"))
        try await LogClient.serve {
            let route = ActionLogRoute(to: sink)
            route.add(to: $0)
            route.addErasure(to: $0) { request, _ in request.headers[name] }
        } _: { client in
            client.network.configure(LogClient.Logging.self) { $0.account = "ada" }
            let log = client.open()
            try await log.record("a").committed()
            await log.flush()
            #expect(sink.records.map(\.name) == ["a"])
            try await log.erase(account: "ada", atServer: true)
            await log.flush()
            // Nobody has proved to be ada.
            #expect(sink.records.count == 1)
            #expect(await log.currentState.pendingErasureCount == 1)
            client.network.configure(LogClient.Logging.self) { $0.commonHeaders = ["Test-Account": "ada"] }
            try await waitUntil("the erasure") {
                await log.flush()
                return await log.currentState.pendingErasureCount == 0
            }
            #expect(sink.records.isEmpty)
            await log.close()
        }
    }

    @Test func optOutErasesWhatNobodyRecorded() async throws {
        let sink = MemoryActionLogSink()
        try await LogClient.serve {
            let route = ActionLogRoute(to: sink)
            route.add(to: $0)
            route.addErasure(to: $0) { _, _ in nil }
        } _: { client in
            var log = client.open()
            try await log.record("before the sign-in").committed()
            try await log.drain(client.clock)
            client.network.configure(LogClient.Logging.self) { $0.account = "ada" }
            try await log.record("of ada").committed()
            try await log.drain(client.clock)
            #expect(sink.records.map(\.name) == ["before the sign-in", "of ada"])
            try await log.setOptedOut(true)
            await log.close()
            log = client.open()
            try await waitUntil("the erasure") {
                await log.flush()
                return sink.records.map(\.name) == ["of ada"]
            }
            // The erasure of the account waits until it is proved.
            try await waitUntil("its end") { await log.currentState.pendingErasureCount == 1 }
            try await log.setOptedOut(false)
            client.network.configure(LogClient.Logging.self) { $0.account = nil }
            try await log.record("later").committed()
            try await log.drain(client.clock)
            #expect(sink.records.map(\.name) == ["of ada", "later"])
            await log.close()
        }
    }
}
