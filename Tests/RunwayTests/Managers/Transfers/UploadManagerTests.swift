import HTTPTypes
import Runway
import RunwayJSON
import RunwayTesting
import Testing

/// Uploads whose progress and landings a delegate is notified of.
@MainActor
@Suite(.timeLimit(.minutes(5)))
struct UploadManagerTests {
    private struct FilmUpload: Endpoint {
        static let service = Archive.self
        static let method = HTTPRequest.Method.put
        static let encoding = ParameterEncoding.raw(contentType: "video/mp4")
        @Unencoded var film: [UInt8]
        var path: EndpointPath { "film" }
        var content: RequestBody { .bytes(film) }
    }

    private let recorder = LandingRecorder()
    private let gate = ScriptedGate()
    private let records = RecordCollector()
    private let film = [UInt8].random(700_000, seed: 5)

    /// A layer whose server reads a body and waits at the gate before it responds.
    private func layer(holds: Bool = false) -> NetworkLayer {
        let transport = StubTransport { [gate] request throws(NetworkError) in
            guard case .stream(let body, _, _) = request.body else { return .json("{}", status: .badRequest) }
            do {
                let bytes = try await body.collect(upTo: 1 << 20)
                if holds { try await gate.pass() }
                return .json(#"{"byteCount":\#(bytes.count)}"#)
            } catch {
                throw NetworkError(.cancelled, in: .transporting, "cancelled")
            }
        }
        return NetworkLayer(
            transport: transport, pipeline: .tested, sinks: [records],
            limits: LayerLimits(admission: .none, retrying: .none))
    }

    @Test func delegateIsNotifiedOfProgressAndThenOfTheResponse() async throws {
        let manager = UploadManager<FilmUpload>(on: layer(), delegate: recorder)
        var reportsAtLanding = 0
        recorder.onLanding = { [recorder] _, _ in reportsAtLanding = recorder.progress.count }
        let rawData = try await manager.landing(of: FilmUpload(film: film))
        #expect(rawData["byteCount"].int == film.count && rawData.file == nil)
        #expect(recorder.progress.last == TransferProgress(completedByteCount: film.count, totalByteCount: film.count))
        #expect(manager.progress?.fraction == 1)
        for _ in 1...3 { await Task { @MainActor in }.value }
        #expect(recorder.progress.count == reportsAtLanding && recorder.landings.count == 1)
    }

    @Test func releasedManagerCancelsItsUpload() async throws {
        let network = layer(holds: true)
        var manager: UploadManager<FilmUpload>? = UploadManager(on: network, delegate: recorder)
        manager?.load(FilmUpload(film: film))
        try await gate.waitForArrivals()
        manager = nil
        #expect(try await records.records(count: 1)[0].outcome.name == "cancelled")
        #expect(recorder.landings.isEmpty)
    }

    @Test func cancelledUploadReportsNothingMore() async throws {
        let manager = UploadManager<FilmUpload>(on: layer(holds: true), delegate: recorder)
        manager.load(FilmUpload(film: film))
        try await gate.waitForArrivals()
        manager.cancelAll()
        let count = recorder.progress.count
        _ = try await records.records(count: 1)
        for _ in 1...3 { await Task { @MainActor in }.value }
        #expect(recorder.progress.count == count && recorder.landings.isEmpty && !manager.isLoading)
    }
}
