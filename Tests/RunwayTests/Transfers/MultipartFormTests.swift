import Foundation
import HTTPTypes
import RunwayTesting
import Testing

@testable import Runway

/// Forms with files: what is sent, byte for byte.
@Suite(.timeLimit(.minutes(10)))
struct MultipartFormTests {
    private struct PhotoUpload: Endpoint {
        static let service = Archive.self
        static let method = HTTPRequest.Method.post
        static let encoding = ParameterEncoding.multipart()
        @Unencoded var photo: URL
        var caption: String
        var tags = ["a&b", "c"]
        var path: EndpointPath { "photos" }
        var parts: [FormPart] { get throws { [try .file(photo, name: "photo", contentType: "image/jpeg")] } }
    }

    private func request(_ parts: [FormPart]) throws -> Request {
        var request = Request(head: HTTPRequest(method: .post, scheme: "https", authority: "a.test", path: "/"))
        try request.setForm(parts)
        return request
    }

    private func text(_ body: RequestBody) async throws -> String {
        guard case .stream(let stream, let byteCount, let isReplayable) = body else { return "no stream" }
        let bytes = try await stream.collect(upTo: 1 << 20)
        #expect(byteCount == bytes.count && isReplayable)
        #expect(try await stream.collect(upTo: 1 << 20) == bytes)
        return String(decoding: bytes, as: UTF8.self)
    }

    @Test func partsStandBetweenBoundaries() async throws {
        let form = MultipartForm(
            [
                .field("city", "上海"),
                FormPart(name: "f", fileName: "a.txt", contentType: "text/plain", body: .bytes([104, 105])),
            ],
            (5, .max))
        let line = "--\(form.boundary)\r\n"
        #expect(form.boundary.utf8.count == 39 && form.contentType == "multipart/form-data; boundary=\(form.boundary)")
        #expect(
            try await text(form.body) == line + "Content-Disposition: form-data; name=\"city\"\r\n\r\n上海\r\n" + line
                + "Content-Disposition: form-data; name=\"f\"; filename=\"a.txt\"\r\nContent-Type: text/plain\r\n\r\nhi\r\n"
                + "--\(form.boundary)--\r\n")
    }

    @Test func namesCannotLeaveTheirPlace() async throws {
        let form = try request([FormPart(name: "a\"\r\nX: y", fileName: "b\"; c=\"d\n\r", body: .bytes([]))])
        #expect(
            try await text(form.body).contains(
                "Content-Disposition: form-data; name=\"a%22%0D%0AX: y\"; filename=\"b%22; c=%22d%0A%0D\"\r\n\r\n\r\n"))
    }

    @Test func mediaTypeWithALineBreakIsRefused() throws {
        let error = #expect(throws: NetworkError.self) {
            try request([FormPart(name: "a", contentType: "text/plain\r\nX: y", body: .none)])
        }
        #expect(error?.kind == .invalidParameters)
    }

    @Test func everyFormHasABoundaryOfItsOwn() throws {
        let types = try (0..<100).map { _ in try request([]).head.headerFields[.contentType] }
        #expect(Set(types).count == 100)
    }

    @Test func partOfUnknownLengthMakesTheFormOne() async throws {
        let part = FormPart(name: "a", body: .stream(BodyStream([1]), byteCount: nil, isReplayable: false))
        let body = try request([part]).body
        #expect(body.byteCount == nil && !body.isReplayable)
    }

    @Test func partOfAWrongLengthEndsTheForm() async throws {
        for (said, bytes) in [(3, [UInt8](repeating: 1, count: 2)), (1, [1, 2])] {
            let part = FormPart(name: "a", body: .stream(BodyStream(bytes), byteCount: said, isReplayable: true))
            guard case .stream(let stream, _, _) = try request([part]).body else { return }
            await #expect(throws: BodyLengthMismatch.self) { try await stream.collect(upTo: 1000) }
        }
    }

    @Test func endpointSendsItsParametersAndParts() async throws {
        let folder = try TestFolder()
        try Data("jpeg".utf8).write(to: folder.file("p.jpg"))
        let network = FileServer([]).layer()
        let flight = network.makeFlight(PhotoUpload.self, .standard)
        let request = try network.assemble(
            PhotoUpload(photo: folder.file("p.jpg"), caption: "a b"), delivery: .streamed, in: flight)
        guard case .stream(let stream, _, _) = request.body else { throw CancellationError() }
        let text = String(decoding: try await stream.collect(upTo: 1 << 20), as: UTF8.self)
        let type = try #require(request.head.headerFields[.contentType])
        #expect(text.hasPrefix("--" + type.dropFirst("multipart/form-data; boundary=".count)))
        #expect(text.contains("name=\"caption\"\r\n\r\na b\r\n"))
        #expect(text.contains("name=\"tags\"\r\n\r\na&b\r\n") && text.contains("name=\"tags\"\r\n\r\nc\r\n"))
        #expect(text.contains("name=\"photo\"; filename=\"p.jpg\"\r\nContent-Type: image/jpeg\r\n\r\njpeg\r\n"))
        #expect(request.body.byteCount == text.utf8.count)
    }

    @Test func missingFileFailsTheCall() async throws {
        let folder = try TestFolder()
        let network = FileServer([]).layer()
        let error = await #expect(throws: NetworkError.self) {
            try await network.upload(PhotoUpload(photo: folder.file("none"), caption: ""))
        }
        #expect(error?.kind == .storage && error?.step == .assembling)
    }
}
