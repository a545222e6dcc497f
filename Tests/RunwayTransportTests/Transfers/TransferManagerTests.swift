import Foundation
import HTTPTypes
import Runway
import RunwayTestServer
import RunwayTesting
import RunwayTransport
import Testing

/// Managers of downloads and uploads over real connections.
@MainActor
@Suite(.timeLimit(.minutes(10)), .overEveryTransport)
struct TransferManagerTests {
    private struct Film: Endpoint {
        static let service = TestService.self
        static let retry = RetryPolicy(maximumAttempts: 20, baseWait: .zero)
        var path: EndpointPath { "film" }
        func encode(to encoder: any Encoder) {}
    }

    private struct FilmUpload: Endpoint {
        static let service = TestService.self
        static let method = HTTPRequest.Method.put
        static let encoding = ParameterEncoding.raw(contentType: "video/mp4")
        @Unencoded var film: URL
        var path: EndpointPath { "film" }
        var content: RequestBody { get throws { try .file(film) } }
    }

    private let recorder = LandingRecorder()

    private func layer(_ origin: ScriptedOrigin) throws -> NetworkLayer {
        let network = NetworkLayer(
            transport: try TransportUnderTest.make(), pipeline: .tested,
            limits: LayerLimits(admission: .none, retrying: .retrying))
        network.configure(TestService.self) { $0.baseURLs = [.release: origin.baseURL] }
        return network
    }

    @Test(arguments: 1...UInt64(2)) func downloadWhoseConnectionBreaksLandsWhole(seed: UInt64) async throws {
        let (folder, file) = (try TransferFolder(), RangedFile(byteCount: 1_500_000, breaks: 3, seed: seed))
        try await withScriptedOrigin { origin in
            origin.on("/film", file.respond)
            let manager = DownloadManager<Film>(on: try layer(origin), to: { _ in folder.file }, delegate: recorder)
            var reportsAtLanding = 0
            recorder.onLanding = { [recorder] _, _ in reportsAtLanding = recorder.progress.count }
            let rawData = try await manager.landing(of: Film())
            #expect(rawData.file?.byteCount == file.bytes.count && folder.bytes == file.bytes, "seed \(seed)")
            #expect(folder.names == ["file"] && recorder.progress.last?.fraction == 1)
            #expect(recorder.progress.count == reportsAtLanding && manager.progress?.fraction == 1)
        }
    }

    @Test func stoppedDownloadIsResumedByTheNextLoad() async throws {
        let (folder, file) = (try TransferFolder(), RangedFile(byteCount: 900_000))
        try await withScriptedOrigin { origin in
            let gate = ScriptedGate()
            origin.on("/film") { request in
                request["Range"] == nil
                    ? file.respond(request).pausing(.beforeChunk(20), .gate(gate)) : file.respond(request)
            }
            let network = try layer(origin)
            var manager: DownloadManager<Film>? = DownloadManager(
                on: network, to: { _ in folder.file }, delegate: recorder)
            manager?.load(Film())
            try await gate.waitForArrivals()
            // What was sent is on its way; enough of it has to come for some to be on the disk.
            try await waitUntil { folder.partByteCount > 0 }
            // Its owner goes: the download is cancelled, and has the file still when the next one begins.
            manager = nil
            let next = DownloadManager<Film>(on: network, to: { _ in folder.file }, delegate: recorder)
            let rawData = try await next.landing(of: Film())
            #expect((rawData.file?.resumedByteCount ?? 0) > 0 && rawData.response.status == .partialContent)
            #expect(folder.bytes == file.bytes && recorder.landings.count == 1)
            gate.open()
        }
    }

    @Test func uploadReportsItsProgressAndLands() async throws {
        let (folder, file) = (try TransferFolder(), RangedFile(byteCount: 900_000))
        try Data(file.bytes).write(to: folder.file)
        try await withScriptedOrigin { origin in
            origin.on("/film", respond: .json("{}"))
            let manager = UploadManager<FilmUpload>(on: try layer(origin), delegate: recorder)
            _ = try await manager.landing(of: FilmUpload(film: folder.file))
            #expect(origin.requests.first?.body == file.bytes)
            #expect(recorder.progress.last?.completedByteCount == 900_000 && manager.progress?.fraction == 1)
        }
    }

    @Test func streamedLinesArriveAsTheyAreSent() async throws {
        try await withScriptedOrigin { origin in
            let gate = ScriptedGate()
            let chunks = ["data: 1\r\nda", "ta: 上", "海\n", "\nend"].map { Array($0.utf8) }
            origin.on("/film", respond: ScriptedResponse(chunks: chunks).pausing(.beforeChunk(3), .gate(gate)))
            let response = try await layer(origin).stream(Film())
            var seen: [String] = []
            for try await line in response.body.lines {
                seen.append(line)
                // Two lines are here while the rest is not sent.
                if seen.count == 2 { gate.open() }
            }
            #expect(seen == ["data: 1", "data: 上海", "", "end"])
        }
    }
}
