import Foundation
import HTTPTypes
import Runway
import RunwayTestServer
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

    private func layer(_ origin: ScriptedOrigin) throws -> NetworkLayer {
        let network = NetworkLayer(
            transport: try TransportUnderTest.make(), limits: LayerLimits(admission: .none, retrying: .retrying))
        network.configure(TestService.self) { $0.baseURLs = [.release: origin.baseURL] }
        return network
    }

    @Test func fileArrivesByteForByteAndProgressEndsAtTheTotal() async throws {
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

    @Test func fileThatChangedIsOneClearError() async throws {
        let (folder, file) = (try TransferFolder(), RangedFile(byteCount: 900_000))
        try Data(file.bytes).write(to: folder.file)
        try await withScriptedOrigin { origin in
            origin.on("/film", respond: .json("{}"))
            let path = folder.file
            let error = await #expect(throws: NetworkError.self) {
                _ = try await layer(origin).upload(FilmUpload(film: path)) { _ in
                    // The first report comes when the wire asks for the first byte, after the length was said.
                    try? FileHandle(forWritingTo: path).truncate(atOffset: 10)
                }
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
