import Foundation
import HTTPTypes
import Runway
import RunwayTesting
import RunwayTransport
import Synchronization
import Testing

/// Downloads from nginx, which takes ranges and names its files by strong tags.
@Suite(
    .enabled(if: IntegrationServers.areExpected), .timeLimit(.minutes(10)), .overEveryTransport,
    .except(.urlSession, "it trusts the system's authorities alone"))
struct NginxTransferTests {
    private let servers = Result { try IntegrationServers() }

    @Test(arguments: [true, false])
    func fileIsSavedByteForByte(usesHTTP2: Bool) async throws {
        let (servers, folder) = (try servers.get(), try TransferFolder())
        let network = try servers.nginxLayer(usesHTTP2: usesHTTP2)
        let saved = try await network.download(Fetch<GET>("iso_639-3.json"), to: folder.file)
        let file = try [UInt8](Data(contentsOf: servers.isoCodes.appending(path: "iso_639-3.json")))
        #expect(folder.bytes == file && saved.byteCount == file.count && folder.names == ["file"])
    }

    @Test(arguments: [true, false])
    func stoppedDownloadResumes(usesHTTP2: Bool) async throws {
        let (servers, folder, film) = (try servers.get(), try TransferFolder(), RangedFile(byteCount: 200_000))
        let name = "\(UUID().uuidString).bin"
        let served = servers.ownFiles.appending(path: name)
        try Data(film.bytes).write(to: served)
        defer { try? FileManager.default.removeItem(at: served) }
        let network = try servers.nginxLayer(usesHTTP2: usesHTTP2)
        let endpoint = Fetch<GET>("own/\(name)")
        let task = Mutex<Task<DownloadedFile, any Error>?>(nil)
        let first = Task {
            try await network.download(endpoint, to: folder.file) { progress in
                if progress.completedByteCount > 0 { task.withLock { $0 }?.cancel() }
            }
        }
        task.withLock { $0 = first }
        await #expect(throws: NetworkError.self) { try await first.value }
        let saved = try await network.download(endpoint, to: folder.file)
        #expect(saved.resumedByteCount > 0 && saved.response.status == .partialContent)
        #expect(folder.bytes == film.bytes)
    }
}
