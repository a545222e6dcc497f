import Foundation
import HTTPTypes
import Runway
import RunwayTestServer
import RunwayTesting
import RunwayTransport
import Synchronization
import Testing

/// Resumable uploads to servers that do not support them, or say what must not be followed.
@Suite(.timeLimit(.minutes(10)))
struct ResumableUploadTests {
    private struct Film: Endpoint {
        static let service = TestService.self
        static let method = HTTPRequest.Method.put
        static let encoding = ParameterEncoding.raw(contentType: "video/mp4")
        static let uploadResumption = UploadResumption.on
        static let retry = RetryPolicy(maximumAttempts: 3, baseWait: .zero)
        @Unencoded var film: URL
        var path: EndpointPath { "film" }
        var headers: [String: String] { ["Authorization": "Bearer secret"] }
        var content: RequestBody { get throws { try .file(film) } }
    }

    private func layer(_ origin: ScriptedOrigin) throws -> NetworkLayer {
        let network = NetworkLayer(
            transport: try NIOTransport(configuration: TransportConfiguration(connectTimeout: .seconds(300))),
            pipeline: .tested, limits: LayerLimits(retrying: .retrying))
        network.configure(TestService.self) { $0.baseURLs = [.release: origin.baseURL] }
        return network
    }

    private static func interim(
        _ location: String, version: String = "6"
    ) throws -> (HTTPResponse.Status, HTTPFields) {
        (
            HTTPResponse.Status(code: 104, reasonPhrase: "Upload Resumption Supported"),
            [.location: location, try #require(HTTPField.Name("Upload-Draft-Interop-Version")): version]
        )
    }

    @Test func serverWithoutSupportGetsOnePlainUpload() async throws {
        let (folder, file) = (try TransferFolder(), RangedFile(byteCount: 900_000))
        try Data(file.bytes).write(to: folder.file)
        try await withScriptedOrigin { origin in
            origin.on("/film", respond: .json("{}"))
            _ = try await layer(origin).upload(Film(film: folder.file))
            let request = try #require(origin.requests.first)
            #expect(origin.requests.count == 1 && request.body == file.bytes && request["Content-Type"] == "video/mp4")
            #expect(request["Upload-Complete"] == "?1" && request["Upload-Length"] == "900000")
            #expect(request["Upload-Draft-Interop-Version"] == "6")
            #expect(folder.names == ["file"])
        }
    }

    @Test func interruptedUploadStartsOverWithoutServerSupport() async throws {
        let (folder, file) = (try TransferFolder(), RangedFile(byteCount: 900_000))
        try Data(file.bytes).write(to: folder.file)
        try await withScriptedOrigin { origin in
            let count = Mutex(0)
            origin.on("/film") { _ in
                let isFirst = count.withLock { count in
                    count += 1
                    return count == 1
                }
                return isFirst ? ScriptedResponse.json("{}").cut(after: .headBytes(0), by: .reset) : .json("{}")
            }
            _ = try await layer(origin).upload(Film(film: folder.file))
            #expect(origin.requests.map(\.method) == [.put, .put] && origin.requests.last?.body == file.bytes)
        }
    }

    @Test(arguments: ["other", "relative to another", "https", "version", "unusable"])
    func disallowedLocationIsNotFollowed(_ kind: String) async throws {
        let (folder, file) = (try TransferFolder(), RangedFile(byteCount: 10_000))
        try Data(file.bytes).write(to: folder.file)
        try await withScriptedOrigin { other in
            other.on("/uploads/1", respond: .json("{}"))
            try await withScriptedOrigin { origin in
                let location =
                    switch kind {
                    case "other": other.baseURL + "/uploads/1"
                    case "relative to another": other.baseURL.replacing("http:", with: "") + "/uploads/1"
                    case "https": origin.baseURL.replacing("http:", with: "https:") + "/uploads/1"
                    case "version": origin.baseURL + "/uploads/1"
                    default: "ftp://127.0.0.1/uploads/1"
                    }
                let (status, fields) = try Self.interim(location, version: kind == "version" ? "7" : "6")
                let count = Mutex(0)
                origin.on("/film") { _ in
                    let isFirst = count.withLock { count in
                        count += 1
                        return count == 1
                    }
                    return isFirst
                        ? ScriptedResponse(status: .serviceUnavailable).informing(status, fields)
                        : .json("{}").informing(status, fields)
                }
                origin.on("/uploads/1", respond: .json("{}"))
                _ = try? await layer(origin).upload(Film(film: folder.file))
                #expect(origin.requests.allSatisfy { $0.path == "/film" } && other.requests.isEmpty)
                #expect(folder.names == ["file"])
            }
        }
    }

    /// As the draft wants it of a client that learns the limit while it sends.
    @Test func uploadOverTheLimitIsStoppedAndCancelled() async throws {
        let (folder, file) = (try TransferFolder(), RangedFile(byteCount: 900_000))
        try Data(file.bytes).write(to: folder.file)
        try await withScriptedOrigin { origin in
            var (status, fields) = try Self.interim("/uploads/1")
            fields[try #require(HTTPField.Name("Upload-Limit"))] = "max-size=899999"
            // It does not matter whether the client learns of the limit while it sends, or with the end of the connection.
            origin.on(
                "/film",
                respond: ScriptedResponse(status: .serviceUnavailable).informing(status, fields))
            origin.on("/uploads/1") { request in
                let offset: HTTPFields = [HTTPField.Name("Upload-Offset")!: "10"]
                return ScriptedResponse(status: .noContent, headerFields: request.method == .head ? offset : [:])
            }
            let error = await #expect(throws: NetworkError.self) {
                try await layer(origin).upload(Film(film: folder.file))
            }
            #expect(error?.kind == .invalidResponse && error?.detail.contains("899999 bytes") == true)
            #expect(origin.requests.last?.method == .delete && !origin.requests.contains { $0.method == .patch })
            #expect(folder.names == ["file"])
        }
    }

    @Test func uploadContinuesAtARelativeLocationWithCredentials() async throws {
        let (folder, file) = (try TransferFolder(), RangedFile(byteCount: 10_000))
        try Data(file.bytes).write(to: folder.file)
        try await withScriptedOrigin { origin in
            let (status, fields) = try Self.interim("/uploads/1?a=b")
            origin.on("/film", respond: ScriptedResponse(status: .serviceUnavailable).informing(status, fields))
            let state: HTTPFields = [
                HTTPField.Name("Upload-Offset")!: "4000", HTTPField.Name("Upload-Complete")!: "?0",
            ]
            let done: HTTPFields = [HTTPField.Name("Upload-Complete")!: "?1"]
            origin.on("/uploads/1") { request in
                request.method == .head
                    ? ScriptedResponse(status: .noContent, headerFields: state)
                    : ScriptedResponse(status: .ok, headerFields: done)
            }
            let rawData = try await layer(origin).upload(Film(film: folder.file))
            #expect(rawData.response.status == .ok)
            #expect(origin.requests.map(\.method) == [.put, .head, .patch])
            let last = try #require(origin.requests.last)
            #expect(last.body == Array(file.bytes[4000...]) && last["Upload-Offset"] == "4000")
            #expect(last["Content-Type"] == "application/partial-upload" && last["Upload-Complete"] == "?1")
            #expect(last["Authorization"] == "Bearer secret" && origin.requests[1]["Authorization"] == "Bearer secret")
            #expect(origin.requests[1]["Upload-Complete"] == nil && origin.requests[1]["Content-Type"] == nil)
        }
    }
}
