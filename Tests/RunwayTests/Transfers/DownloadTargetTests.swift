import Foundation
import HTTPTypes
import RunwayTesting
import Synchronization
import Testing

@testable import Runway

/// Where a download may be saved, and what becomes of what stood there.
@Suite(.timeLimit(.minutes(10)))
struct DownloadTargetTests {
    private let folder: TestFolder
    private let bytes = [UInt8].random(500_000, seed: 4)
    private let server: FileServer
    private let network: NetworkLayer

    init() throws {
        folder = try TestFolder()
        server = FileServer(bytes)
        network = server.layer()
    }

    private func failure(_ name: String = "file") async throws -> NetworkError {
        try #require(
            await #expect(throws: NetworkError.self) { try await network.download(Film(), to: folder.file(name)) })
    }

    private func mode(_ name: String) throws -> mode_t? { try OpenFile.status(at: folder.file(name).path)?.mode }

    /// Leaves a download that broke off.
    private func leaveRemains() async throws {
        server.state.withLock { $0.bends = [.tooFew, .unavailable, .unavailable, .unavailable] }
        _ = try await failure()
    }

    #if os(Linux)
        @Test func aFinishedDownloadReleasesItsLock() async throws {
            let target = folder.file().path
            var partial: PartialFile? = try await PartialFile.open(for: target)
            let links = "/proc/self/fd"
            let descriptor = try FileManager.default.contentsOfDirectory(atPath: links).first { name in
                (try? FileManager.default.destinationOfSymbolicLink(atPath: "\(links)/\(name)"))
                    == PartialFile.path(of: target)
            }
            // As a process that is being started has one.
            let copy = dup(try #require(descriptor.flatMap { CInt($0) }))
            defer { close(copy) }
            await #expect(throws: FileError.self) { try await PartialFile.open(for: target) }
            withExtendedLifetime(partial) {}
            partial = nil
            _ = try await PartialFile.open(for: target)
        }
    #endif

    @Test func folderIsNotReplacedAndNothingIsSent() async throws {
        try FileManager.default.createDirectory(at: folder.file("folder"), withIntermediateDirectories: false)
        #expect(try await failure("folder").kind == .storage)
        #expect(server.requests.isEmpty)
    }

    @Test(arguments: ["none/file", "plain/file", String(repeating: "n", count: 252)])
    func impossibleTargetFailsBeforeARequest(name: String) async throws {
        try Data().write(to: folder.file("plain"))
        let error = try await failure(name)
        #expect(error.kind == .storage && error.step == .saving)
        #expect(server.requests.isEmpty)
    }

    @Test func addressOfTheNetworkIsNoPlace() async throws {
        let url = try #require(URL(string: "https://archive.example/file"))
        let error = await #expect(throws: NetworkError.self) { try await network.download(Film(), to: url) }
        #expect(error?.kind == .invalidParameters)
    }

    @Test func linkIsReplacedAndNotFollowed() async throws {
        try Data([1]).write(to: folder.file("other"))
        try FileManager.default.createSymbolicLink(at: folder.file(), withDestinationURL: folder.file("other"))
        _ = try await network.download(Film(), to: folder.file())
        #expect(folder.bytes("other") == [1] && folder.bytes() == bytes)
        #expect(try OpenFile.status(at: folder.file().path)?.isPlainFile == true)
    }

    @Test func linkAtThePartsPathIsNotFollowed() async throws {
        try Data([1]).write(to: folder.file("other"))
        try FileManager.default.createSymbolicLink(
            at: folder.file("file.part"), withDestinationURL: folder.file("other"))
        #expect(try await failure().kind == .storage)
        #expect(folder.bytes("other") == [1])
    }

    @Test func partThatOthersMayTouchIsNotTrusted() async throws {
        try Data([1]).write(to: folder.file("file.part"))
        chmod(folder.file("file.part").path, 0o666)
        #expect(try await failure().kind == .storage)
    }

    @Test func fileIsPrivateUnlessReplacingASharedOne() async throws {
        _ = try await network.download(Film(), to: folder.file())
        #expect(try mode("file").map { $0 & 0o777 } == 0o600)
        chmod(folder.file().path, 0o644)
        _ = try await network.download(Film(), to: folder.file())
        #expect(try mode("file").map { $0 & 0o777 } == 0o644)
    }

    @Test func twoDownloadsToOnePlaceDoNotMix() async throws {
        let second = Mutex<NetworkError?>(nil)
        let network = network
        let url = folder.file()
        let partial = try await PartialFile.open(for: url.path)
        do throws(NetworkError) { _ = try await network.download(Film(), to: url) } catch {
            second.withLock { $0 = error }
        }
        #expect(second.withLock(\.self)?.kind == .storage)
        try await partial.remove()
    }

    /// The system ends an app that is suspended while it holds a lock in such a container.
    @Test func filesOfAnAppGroupAreNotLocked() async throws {
        let group = folder.file("Containers/Shared/AppGroup/0F1E")
        try FileManager.default.createDirectory(at: group, withIntermediateDirectories: true)
        let target = group.appending(path: "film").path
        let first = try await PartialFile.open(for: target)
        let second = try await PartialFile.open(for: target)
        withExtendedLifetime((first, second)) {}
    }

    @Test func unsyncedBytesAreNotTrustedAfterPowerLoss() async throws {
        try await leaveRemains()
        let text = try [UInt8](Data(contentsOf: folder.file("file.part.info")))
        var note = try #require(PartialMetadata(text))
        note.bootSession = "another"
        for (synced, range) in [(0, nil), (1000, "bytes=1000-")] {
            try await leaveRemains()
            note.syncedByteCount = synced
            try PrivateFile.replace(folder.file("file.part.info").path, with: try note.text())
            _ = try await network.download(Film(), to: folder.file())
            #expect(server.requests.last?.head.headerFields[.range] == range)
            #expect(folder.bytes() == bytes)
        }
    }

    @Test func remainsCanBeDiscarded() async throws {
        try await leaveRemains()
        #expect(folder.names == ["file.part", "file.part.info"])
        try network.discardPartialDownload(to: folder.file())
        #expect(folder.names == [])
        try network.discardPartialDownload(to: folder.file())
    }

    @Test func recordHasTheSavedFile() async throws {
        let records = RecordCollector()
        let network = server.layer(sinks: [records])
        _ = try await network.download(Film(), to: folder.file())
        let record = try #require(try await records.records(count: 1).first)
        #expect(record.description.contains("saved file, 500000 bytes"))
    }
}
