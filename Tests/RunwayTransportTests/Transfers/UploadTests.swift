import Foundation
import HTTPTypes
import Runway
import RunwayTestServer
import RunwayTesting
import RunwayTransport
import Synchronization
import Testing

/// Uploads over real connections.
@Suite(.timeLimit(.minutes(10)), .overEveryTransport)
struct UploadTests {
    private struct FilmUpload: Endpoint {
        static let service = TestService.self
        static let method = HTTPRequest.Method.put
        static let encoding = ParameterEncoding.raw(contentType: "video/mp4")
        static let retry = RetryPolicy(maximumAttempts: 3, baseWait: .zero)
        @Unencoded var film: URL
        var path: EndpointPath { "film" }
        var content: RequestBody { get throws { try .file(film) } }
    }

    /// Truncates a file when the wire has asked for the first part of a body.
    private struct TruncatingStage: RequestStage {
        let file: URL
        var step: FlightStep { .customStage("truncating") }

        func respond(
            to request: Request, in flight: Flight, next: RequestPipeline.Rest
        ) async throws(NetworkError) -> Response {
            var request = request
            if case .stream(let body, let byteCount, _) = request.body {
                let truncated = BodyStream { [file] in
                    var parts = body.makeAsyncIterator()
                    return {
                        let part = try await parts.next()
                        try FileHandle(forWritingTo: file).truncate(atOffset: 10)
                        return part
                    }
                }
                request.body = .stream(truncated, byteCount: byteCount, isReplayable: true)
            }
            return try await next.send(request, in: flight)
        }
    }

    private func layer(
        _ origin: ScriptedOrigin, _ pipeline: RequestPipeline = .tested
    ) throws -> NetworkLayer {
        let network = NetworkLayer(
            transport: try TransportUnderTest.make(), pipeline: pipeline,
            limits: LayerLimits(admission: .none, retrying: .retrying))
        network.configure(TestService.self) { $0.baseURLs = [.release: origin.baseURL] }
        return network
    }

    @Test func fileArrivesUnchangedAndProgressReachesTheTotal() async throws {
        let (folder, file) = (try TransferFolder(), RangedFile(byteCount: 900_000))
        try Data(file.bytes).write(to: folder.file)
        try await withScriptedOrigin { origin in
            origin.on("/film", respond: .json("{}"))
            let received = Mutex<[TransferProgress]>([])
            _ = try await layer(origin).upload(FilmUpload(film: folder.file)) { progress in
                received.withLock { $0.append(progress) }
            }
            let request = try #require(origin.requests.first)
            #expect(request.body == file.bytes && request["Content-Length"] == "900000")
            let all = received.withLock { $0 }
            #expect(all.last?.fraction == 1 && all.last?.completedByteCount == 900_000)
            #expect(zip(all, all.dropFirst()).allSatisfy { $0.completedByteCount <= $1.completedByteCount })
        }
    }

    @MainActor @Test func progressIsReportedInTheCallersIsolation() async throws {
        let (folder, file) = (try TransferFolder(), RangedFile(byteCount: 900_000))
        try Data(file.bytes).write(to: folder.file)
        try await withScriptedOrigin { origin in
            origin.on("/film", respond: .json("{}"))
            // Neither sendable nor guarded: the compiler proves the isolation.
            var all: [TransferProgress] = []
            _ = try await layer(origin).upload(FilmUpload(film: folder.file)) { progress in
                MainActor.assertIsolated()
                all.append(progress)
            }
            #expect(all.last?.completedByteCount == 900_000)
        }
    }

    @Test func fileThatChangedIsOneClearError() async throws {
        let (folder, file) = (try TransferFolder(), RangedFile(byteCount: 900_000))
        try Data(file.bytes).write(to: folder.file)
        try await withScriptedOrigin { origin in
            origin.on("/film", respond: .json("{}"))
            var pipeline = RequestPipeline()
            pipeline.insert(TruncatingStage(file: folder.file), after: .judging)
            let network = try layer(origin, pipeline)
            let error = await #expect(throws: NetworkError.self) {
                _ = try await network.upload(FilmUpload(film: folder.file))
            }
            #expect(error?.kind == .storage)
            #expect(origin.requests.allSatisfy { !$0.isComplete })
        }
    }

    @Test func brokenUploadIsSentAgainFromItsStart() async throws {
        let (folder, file) = (try TransferFolder(), RangedFile(byteCount: 900_000))
        try Data(file.bytes).write(to: folder.file)
        try await withScriptedOrigin { origin in
            origin.on(.put, "/film", responding: .afterHead, respond: [.resetting], repeatingLast: false)
            origin.on(nil, "/film", respond: .json("{}"))
            _ = try await layer(origin).upload(FilmUpload(film: folder.file))
            #expect(origin.requests.last?.body == file.bytes)
        }
    }
}
