import Foundation
import HTTPTypes
import Hummingbird
import RunwayServer
import RunwayTestServer
import RunwayTesting
import Synchronization
import Testing

@testable import Runway

/// The layer's half of resumable uploads and the server's, over a network that cuts connections.
@Suite(.timeLimit(.minutes(10)))
struct ResumingTests {
    private static let byteCount = 24_000_000
    /// The most bytes that a cut loses of those that have reached the path: what its two sockets and the path itself hold.
    private static let lostByteCount = 1 << 20
    /// The most bytes that a cut loses of those that the client has passed to its connection: those above, what the client's socket
    /// holds of unsent ones, and the part of the file that is being written.
    private static let lostWrittenByteCount = lostByteCount + 512 << 10

    /// An app behind a path whose connections a test cuts.
    private func withPath(
        _ folder: UploadFolder,
        _ body: @escaping @Sendable (UploadApp, NetworkPath, UploadingLayer) async throws -> Void
    ) async throws {
        try await UploadApp.run(in: folder) { app in
            let bad = try await BadNetwork(to: app.port, addresses: 1)
            let layer = try UploadingLayer(host: bad.paths[0].address, port: bad.port)
            do { try await body(app, bad.paths[0], layer) } catch {
                await layer.shutDown()
                await bad.shutDown()
                throw error
            }
            await layer.shutDown()
            await bad.shutDown()
        }
    }

    @Test func uploadThatIsCutOftenIsSentOnce() async throws {
        let folder = try UploadFolder()
        let digest = try folder.writeFile(byteCount: Self.byteCount)
        try await withPath(folder) { app, path, layer in
            let cuts = [3_000_000, 8_000_000, 13_000_000, 18_000_000, 23_000_000]
            path.cut(atSentByteCounts: cuts)
            let shown = Mutex<[TransferProgress]>([])
            let rawData = try await layer.network.upload(FilmUpload(film: folder.file)) { progress in
                shown.withLock { $0.append(progress) }
            }
            #expect(rawData.text == #"{"digest":"\#(digest)"}"#)
            let handled = try #require(app.handled.first)
            #expect(app.handled.count == 1 && handled.digest == digest && handled.byteCount == Self.byteCount)
            #expect(handled.method == .put && handled.headers[.contentType] == "video/mp4")
            let record = try #require(try await layer.records.records(count: 1).first)
            // One request for each cut asks for the offset, and one sends the rest.
            #expect(record.attempts.count == 1 + 2 * cuts.count)
            #expect(record.resumptionCount == cuts.count)
            // What the path had when it was cut is sent again.
            #expect(path.sentByteCount < Self.byteCount + cuts.count * Self.lostByteCount, "\(path.sentByteCount)")
            #expect(shown.withLock { $0.last?.completedByteCount } == Self.byteCount)
            #expect(!FileManager.default.fileExists(atPath: folder.file.path + ".upload"))
        }
    }

    @Test func interruptedUploadIsSentLittleMoreThanOnce() async throws {
        let folder = try UploadFolder()
        let (byteCount, cutCount) = (64 << 20, 10)
        let digest = try folder.writeFile(byteCount: byteCount)
        try await withPath(folder) { app, path, layer in
            path.cut(atSentByteCounts: (1...cutCount).map { byteCount / (cutCount + 1) * $0 })
            _ = try await layer.network.upload(FilmUpload(film: folder.file))
            #expect(app.handled.map(\.digest) == [digest] && app.handled.first?.byteCount == byteCount)
            let record = try #require(try await layer.records.records(count: 1).first)
            #expect(record.resumptionCount == cutCount)
            let sent = path.sentByteCount
            #expect(sent <= byteCount + cutCount * Self.lostByteCount, "\(sent - byteCount) bytes more")
            let written = record.writtenByteCount
            #expect(written <= byteCount + cutCount * Self.lostWrittenByteCount, "\(written - byteCount) bytes more")
        }
    }

    @Test func postContinuesAlthoughItMustNotBeRepeated() async throws {
        let folder = try UploadFolder()
        let digest = try folder.writeFile(byteCount: Self.byteCount)
        try await withPath(folder) { app, path, layer in
            path.cut(atSentByteCounts: [9_000_000])
            _ = try await layer.network.upload(NewFilmUpload(film: folder.file))
            #expect(app.handled.map(\.digest) == [digest] && app.handled.first?.method == .post)
        }
    }

    @Test func laterCallContinuesWhatAnEarlierOneLeft() async throws {
        let folder = try UploadFolder()
        let digest = try folder.writeFile(byteCount: Self.byteCount)
        try await withPath(folder) { app, path, layer in
            path.cut(atSentByteCounts: [12_000_000])
            await #expect(throws: NetworkError.self) {
                try await layer.network.upload(FilmUpload(film: folder.file), options: CallOptions(retry: .off))
            }
            let record = folder.file.path + ".upload"
            let status = try FileManager.default.attributesOfItem(atPath: record)
            #expect(status[.posixPermissions] as? Int == 0o600)
            let before = path.sentByteCount
            // As a process that is started later: nothing is common to both but the files.
            let later = try UploadingLayer(host: path.address, port: layer.port)
            _ = try await later.network.upload(FilmUpload(film: folder.file))
            await later.shutDown()
            #expect(path.sentByteCount - before < Self.byteCount - 8_000_000)
            #expect(app.handled.map(\.digest) == [digest])
            #expect(!FileManager.default.fileExists(atPath: record))
        }
    }

    @Test func changedFileStartsOver() async throws {
        let folder = try UploadFolder()
        _ = try folder.writeFile(byteCount: Self.byteCount)
        try await withPath(folder) { app, path, layer in
            path.cut(atSentByteCounts: [12_000_000])
            await #expect(throws: NetworkError.self) {
                try await layer.network.upload(FilmUpload(film: folder.file), options: CallOptions(retry: .off))
            }
            let digest = try folder.writeFile(byteCount: 1_000_000)
            _ = try await layer.network.upload(FilmUpload(film: folder.file))
            #expect(app.handled.map(\.digest) == [digest] && app.handled.first?.byteCount == 1_000_000)
        }
    }

    @Test func discardedUploadIsRemovedFromTheServer() async throws {
        let folder = try UploadFolder()
        _ = try folder.writeFile(byteCount: Self.byteCount)
        try await withPath(folder) { app, path, layer in
            path.cut(atSentByteCounts: [12_000_000])
            await #expect(throws: NetworkError.self) {
                try await layer.network.upload(FilmUpload(film: folder.file), options: CallOptions(retry: .off))
            }
            #expect(folder.storedNames.count == 2)
            try await layer.network.discardUpload(FilmUpload(film: folder.file))
            #expect(folder.storedNames.isEmpty && app.handled.isEmpty)
            #expect(!FileManager.default.fileExists(atPath: folder.file.path + ".upload"))
        }
    }

    @Test func uploadThatTheServerLostStartsOver() async throws {
        let folder = try UploadFolder()
        let digest = try folder.writeFile(byteCount: Self.byteCount)
        try await withPath(folder) { app, path, layer in
            path.cut(atSentByteCounts: [12_000_000])
            await #expect(throws: NetworkError.self) {
                try await layer.network.upload(FilmUpload(film: folder.file), options: CallOptions(retry: .off))
            }
            let id = try #require(folder.storedNames.first { !$0.contains(".") })
            #expect(try await app.exchange("DELETE", "/_uploads/\(id)").statuses == ["204"])
            _ = try await layer.network.upload(FilmUpload(film: folder.file))
            #expect(app.handled.map(\.digest) == [digest])
            let record = try #require(try await layer.records.records(count: 2).last)
            #expect(record.decisions(of: UploadDecision.self).contains(.startedOver))
        }
    }

    @Test func serverThatTakesSmallPartsGetsThem() async throws {
        let folder = try UploadFolder()
        let digest = try folder.writeFile(byteCount: 1_000_000)
        try await UploadApp.run(in: folder, limits: UploadLimits(maximumAppendByteCount: 300_000)) { app in
            let layer = try UploadingLayer(port: app.port)
            _ = try await layer.network.upload(FilmUpload(film: folder.file))
            #expect(app.handled.map(\.digest) == [digest])
            let record = try #require(try await layer.records.records(count: 1).first)
            // The refusal, a creation with the first part, and three more parts.
            #expect(record.attempts.count == 5)
            await layer.shutDown()
        }
    }

    @Test @MainActor func managerContinuesAfterCutsAndLandsOnce() async throws {
        let folder = try UploadFolder()
        let digest = try folder.writeFile(byteCount: Self.byteCount)
        try await withPath(folder) { app, path, layer in
            path.cut(atSentByteCounts: [6_000_000, 14_000_000])
            let landed = try await Self.landing(of: FilmUpload(film: folder.file), on: layer.network)
            #expect(landed.text == #"{"digest":"\#(digest)"}"# && landed.progress?.fraction == 1)
            #expect(app.handled.count == 1)
        }
    }

    /// The file is still claimed by the call that was cancelled when the next one begins.
    @Test(arguments: [false, true])
    @MainActor func nextLoadContinuesACancelledUpload(isManagerReleased: Bool) async throws {
        let folder = try UploadFolder()
        let digest = try folder.writeFile(byteCount: Self.byteCount)
        let gate = ScriptedGate()
        let isFirst = Mutex(true)
        let owner: @Sendable (Hummingbird.Request, BasicSignedRequestContext) async throws -> UploadOwner = {
            request, _ in
            let isHeld =
                request.method == .head
                && isFirst.withLock { isFirst in
                    defer { isFirst = false }
                    return isFirst
                }
            if isHeld {
                try await gate.pass()
                throw HTTPError(.serviceUnavailable)
            }
            return .bearer
        }
        try await UploadApp.run(in: folder, owner: owner) { app in
            let bad = try await BadNetwork(to: app.port, addresses: 1)
            let layer = try UploadingLayer(host: bad.paths[0].address, port: bad.port)
            bad.paths[0].cut(atSentByteCounts: [12_000_000])
            // After the cut, the first call waits for the offset.
            try await Self.cancelAndLoad(
                FilmUpload(film: folder.file), on: layer.network, releasing: isManagerReleased,
                when: { try await gate.waitForArrivals() })
            #expect(app.handled.map(\.digest) == [digest])
            #expect(bad.paths[0].sentByteCount < Self.byteCount + 2 * Self.lostByteCount)
            gate.open()
            await layer.shutDown()
            await bad.shutDown()
        }
    }

    @MainActor private static func cancelAndLoad(
        _ upload: FilmUpload, on network: NetworkLayer, releasing: Bool, when isReady: () async throws -> Void
    ) async throws {
        var manager: UploadManager<FilmUpload>? = UploadManager(on: network)
        manager?.load(upload)
        try await isReady()
        if releasing { manager = nil } else { manager?.cancelAll() }
        let next = manager ?? UploadManager(on: network)
        _ = try await next.landing(of: next.load(upload))
    }

    @MainActor private static func landing(
        of upload: FilmUpload, on network: NetworkLayer
    ) async throws -> (text: String?, progress: TransferProgress?) {
        let manager = UploadManager<FilmUpload>(on: network)
        let rawData = try await manager.landing(of: manager.load(upload))
        return (rawData.text, manager.progress)
    }
}
