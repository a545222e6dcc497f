import Dispatch
import Foundation
import RunwayTesting
import Testing

@testable import Runway

/// The file beside a file that says where its upload continues.
struct UploadRecordTests {
    private let folder = URL(fileURLWithPath: NSTemporaryDirectory()).appendingPathComponent(
        "runway-\(UUID().uuidString)")

    private let claims = FileClaims()

    private func withFolder(_ body: (String) async throws -> Void) async throws {
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        try await body(folder.appendingPathComponent("film").path)
    }

    private func record(
        _ location: String = "https://api.test/uploads/1", passed: UploadRecord.Extent = .part
    ) -> UploadRecord {
        let file = BodyStream.FilePart(path: "film", modified: 7, number: 8) { _ in BodyStream([]) }
        return UploadRecord(source: "source", location: location, byteCount: 9, passed: passed, file: file)
    }

    @Test func storedRecordIsReadByALaterCall() async throws {
        try await withFolder { path in
            let first = UploadRecordFile(beside: path, claims)
            await first.save { [record = record()] in record }
            await first.close()
            #expect(await UploadRecordFile(beside: path, claims).load() == record())
        }
    }

    @Test func closingAwaitsTheRecordThatIsBeingStored() async throws {
        try await withFolder { path in
            let file = UploadRecordFile(beside: path, claims)
            let (begun, closing) = (ScriptedGate(), ScriptedGate())
            let (proceeds, executor) = (DispatchSemaphore(value: 0), HeldExecutor())
            // Also if a wait throws, so that no thread stays blocked.
            defer { proceeds.signal() }
            let saving = Task { [record = record()] in
                await file.save {
                    begun.open()
                    proceeds.wait()
                    return record
                }
            }
            try await waitUntil("the start of the save") { begun.isOpen }
            let isStored = Task(executorPreference: executor) {
                closing.open()
                await file.close()
                return file.isStored
            }
            try await waitUntil("the start of the close") { closing.isOpen }
            // Returns when the close waits for the save.
            try await executor.hold()
            proceeds.signal()
            executor.release()
            #expect(await isStored.value)
            await saving.value
            #expect(await UploadRecordFile(beside: path, claims).load() == record())
        }
    }

    @Test func nothingIsStoredAfterTheClose() async throws {
        try await withFolder { path in
            let file = UploadRecordFile(beside: path, claims)
            await file.close()
            await file.save { [record = record()] in record }
            #expect(!file.isStored && !FileManager.default.fileExists(atPath: path + ".upload"))
        }
    }

    @Test func saveAfterTheCloseLeavesTheStoredRecord() async throws {
        try await withFolder { path in
            let file = UploadRecordFile(beside: path, claims)
            await file.save { [record = record()] in record }
            await file.close()
            await file.save { [record = record(passed: .whole)] in record }
            #expect(file.isStored)
            #expect(await UploadRecordFile(beside: path, claims).load() == record())
        }
    }

    @Test func laterRecordReplacesTheEarlierOneInPlace() async throws {
        try await withFolder { path in
            #expect(record().text()?.count == record(passed: .whole).text()?.count)
            let file = UploadRecordFile(beside: path, claims)
            #expect(!file.isStored)
            for later in [record(), record(passed: .whole), record("/longer/uploads/1"), record("/1")] {
                await file.save { [record = later] in record }
                #expect(file.isStored)
                let stored = try Data(contentsOf: URL(fileURLWithPath: path + ".upload"))
                #expect(UploadRecord(Array(stored)) == later)
            }
            await file.remove()
            #expect(!file.isStored)
        }
    }

    @Test func recordOfARunningCallIsNobodyElses() async throws {
        try await withFolder { path in
            let first = UploadRecordFile(beside: path, claims)
            await first.save { [record = record()] in record }
            let second = UploadRecordFile(beside: path, claims)
            #expect(await second.load() == nil)
            await second.save { [record = record("https://api.test/uploads/2")] in record }
            await second.remove()
            await first.close()
            #expect(await UploadRecordFile(beside: path, claims).load() == record())
        }
    }

    private enum Films: APIService {
        static let name = "films"
        static let environments: [ServiceEnvironment: String] = [.release: "https://films.example"]
    }

    private struct Film: Endpoint {
        static let service = Films.self
        var path: EndpointPath { "film" }
    }

    @Test(arguments: [true, false]) func callAwaitsACancelledCallsRecord(isCancelledFirst: Bool) async throws {
        try await withFolder { path in
            let first = UploadRecordFile(beside: path, claims)
            if isCancelledFirst { first.cancel() }
            await first.save { [record = record()] in record }
            if !isCancelledFirst { first.cancel() }
            let network = NetworkLayer(transport: StubTransport { _ in .json("{}") }, pipeline: .tested)
            let flight = network.makeFlight(Film.self, .standard)
            let second = Task { [claims] in
                let file = UploadRecordFile(beside: path, claims)
                try await file.waitForCancelled(in: flight)
                return await file.load()
            }
            await first.close()
            let found = try await second.value
            #expect(found == record())
        }
    }

    @Test func callDoesNotAwaitARunningCallsRecord() async throws {
        try await withFolder { path in
            let first = UploadRecordFile(beside: path, claims)
            await first.save { [record = record()] in record }
            let network = NetworkLayer(transport: StubTransport { _ in .json("{}") }, pipeline: .tested)
            let file = UploadRecordFile(beside: path, claims)
            try await file.waitForCancelled(in: network.makeFlight(Film.self, .standard))
            #expect(await file.load() == nil)
            await first.close()
        }
    }

    /// The system ends an app that is suspended while it holds a lock in such a container: the claims of the layer replace it.
    @Test func appGroupRecordIsClaimedAndNotLocked() async throws {
        let group = folder.appendingPathComponent("Containers/Shared/AppGroup/0F1E")
        try FileManager.default.createDirectory(at: group, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let path = group.appendingPathComponent("film").path
        let first = UploadRecordFile(beside: path, claims)
        await first.save { [record = record()] in record }
        #expect(await UploadRecordFile(beside: path, claims).load() == nil)
        #expect(await UploadRecordFile(beside: path, FileClaims()).load() == record())
        await first.close()
        #expect(await UploadRecordFile(beside: path, claims).load() == record())
        await first.remove()
    }

    @Test func removedRecordIsGone() async throws {
        try await withFolder { path in
            let file = UploadRecordFile(beside: path, claims)
            await file.save { [record = record()] in record }
            await file.remove()
            #expect(!FileManager.default.fileExists(atPath: path + ".upload"))
        }
    }

    @Test func damagedRecordCountsAsAbsent() async throws {
        try await withFolder { path in
            let text = try #require(record().text())
            for damaged in [Array(text.dropLast()), Array(text.prefix(10)), [], text + [32]] {
                try Data(damaged).write(to: URL(fileURLWithPath: path + ".upload"))
                try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: path + ".upload")
                #expect(await UploadRecordFile(beside: path, claims).load() == nil)
            }
        }
    }

    @Test func recordThatOthersMayReadIsNotUsed() async throws {
        try await withFolder { path in
            try Data(try #require(record().text())).write(to: URL(fileURLWithPath: path + ".upload"))
            try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: path + ".upload")
            #expect(await UploadRecordFile(beside: path, claims).load() == nil)
        }
    }

    @Test func recordMatchesOnlyItsFileAccountAndRequest() {
        let file = BodyStream.FilePart(path: "film", modified: 7, number: 8) { _ in BodyStream([]) }
        let newer = BodyStream.FilePart(path: "film", modified: 8, number: 8) { _ in BodyStream([]) }
        let other = BodyStream.FilePart(path: "film", modified: 7, number: 9) { _ in BodyStream([]) }
        #expect(record().matches("source", file, byteCount: 9))
        #expect(!record().matches("source", newer, byteCount: 9) && !record().matches("source", other, byteCount: 9))
        #expect(!record().matches("source", file, byteCount: 8) && !record().matches("other", file, byteCount: 9))
    }
}
