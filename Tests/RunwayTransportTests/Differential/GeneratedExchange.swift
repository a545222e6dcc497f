import HTTPTypes
import Runway
import RunwayTestServer
import RunwayTesting

/// An exchange that a seed makes up: a request, and what the origin does with it.
struct GeneratedExchange: CustomStringConvertible {
    let request: GeneratedRequest
    let response: ScriptedResponse

    init(using random: inout SeededGenerator) {
        request = GeneratedRequest(using: &random)
        response = random.response()
    }

    var description: String {
        "\(request), response: \(response.status.code) \(response.headerFields) \(response.rawHeaderLines), "
            + "framing \(response.framing), ending \(response.ending), pieces \(response.chunks.map(\.count))"
    }
}

/// A request that a seed makes up.
struct GeneratedRequest: CustomStringConvertible {
    /// How the body of the request is handed over.
    enum Upload: String, CaseIterable {
        case none, bytes, streamOfKnownLength, streamOfUnknownLength
    }

    let method: HTTPRequest.Method
    let target: String
    let fields: HTTPFields
    let upload: Upload
    let content: [UInt8]
    /// Whether the response is asked for as a stream.
    var isStreamed: Bool

    init(using random: inout SeededGenerator) {
        method = random.pick([.get, .get, .get, .head, .post, .put, .patch, .delete, .options])
        target = "/x" + random.pick(["", "?", "?city=%E4%B8%8A%E6%B5%B7", "?a=1&a=2", "?q=%2F%3F%23+x"])
        var fields = HTTPFields()
        for _ in 0..<Int.random(in: 0...3, using: &random) {
            fields.append(
                HTTPField(
                    name: random.pick([.accept, .acceptLanguage, .ifNoneMatch, .userAgent]),
                    value: random.pick(["", "a", "text/html;q=0.5, */*", "\"tag, tag\"", "价格"])))
        }
        self.fields = fields
        let mayUpload = [.post, .put, .patch, .delete].contains(method)
        upload = mayUpload ? random.pick(Upload.allCases) : .none
        content = upload == .none ? [] : random.bytes(random.pick([0, 1, 100, 16_384, 16_385, 200_000]))
        isStreamed = Bool.random(using: &random)
    }

    /// The request, to an origin.
    func made(to authority: String, scheme: String = "http") -> Request {
        let body: RequestBody =
            switch upload {
            case .none: .none
            case .bytes: .bytes(content)
            case .streamOfKnownLength:
                .stream(BodyStream(content), byteCount: content.count, isReplayable: true)
            case .streamOfUnknownLength:
                .stream(BodyStream(content), byteCount: nil, isReplayable: true)
            }
        return Request(
            head: HTTPRequest(method: method, scheme: scheme, authority: authority, path: target, headerFields: fields),
            body: body, delivery: isStreamed ? .streamed : .whole(maximumByteCount: 1 << 20))
    }

    var description: String {
        "\(method) \(target) \(fields), \(upload) of \(content.count) bytes, \(isStreamed ? "streamed" : "whole")"
    }
}

extension SeededGenerator {
    mutating func pick<Value>(_ values: [Value]) -> Value {
        values[Int.random(in: values.indices, using: &self)]
    }

    mutating func bytes(_ count: Int) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(count)
        for _ in 0..<min(count, 251) { bytes.append(UInt8.random(in: 0...255, using: &self)) }
        // The rest repeats, with a period that no size of a buffer shares.
        while bytes.count < count { bytes += bytes.prefix(count - bytes.count) }
        return bytes
    }

    /// A response, good or bad; one in five is broken.
    fileprivate mutating func response() -> ScriptedResponse {
        let status: HTTPResponse.Status = pick([
            .ok, .ok, .ok, .created, .noContent, .partialContent, .seeOther, .notModified, .badRequest, .unauthorized,
            .notFound, .tooManyRequests, .internalServerError, .serviceUnavailable, .init(code: 299), .init(code: 599),
        ])
        var response: ScriptedResponse
        if Int.random(in: 0..<8, using: &self) == 0 {
            response = .bytes(pick([Coded.gzip, Array(Coded.gzip.dropLast(9)), Array("no gzip".utf8)]), status: status)
                .header(.contentEncoding, "gzip")
        } else if Int.random(in: 0..<12, using: &self) == 0 {
            // The peer does not undo deflate without zlib's frame, which we do (RFC 9110 §8.4.1.2).
            response = .bytes(Coded.deflate, status: status)
                .header(.contentEncoding, "deflate")
        } else {
            let pieces = (0..<pick([0, 1, 1, 2, 5])).map { _ in bytes(pick([0, 1, 17, 4096, 65_536, 100_001])) }
            response = ScriptedResponse(status: status, chunks: pieces)
        }
        for _ in 0..<Int.random(in: 0...3, using: &self) {
            response = response.rawHeader(
                pick([
                    "Set-Cookie: a=1", "Set-Cookie: b=2; Path=/", "ETag: \"x\"", "X-Empty:", "x-lower: UPPER",
                    "X-Spaces: \t a  b \t",
                    "Connection: close", "Connection: keep-alive", "Keep-Alive: timeout=5", "Location: /elsewhere",
                    "X-Long: " + String(repeating: "v", count: 3000),
                ]))
        }
        response = response.framed(pick([.length, .length, .chunked, .chunked, .untilClose]))
        if Int.random(in: 0..<10, using: &self) == 0 { response = response.informing(.init(code: 103)) }
        guard Int.random(in: 0..<5, using: &self) == 0 else { return response }
        return broken(response)
    }

    fileprivate mutating func broken(_ response: ScriptedResponse) -> ScriptedResponse {
        let size = response.chunks.reduce(0) { $0 + $1.count }
        return switch Int.random(in: 0..<9, using: &self) {
        case 0: response.cut(after: .headBytes(Int.random(in: 0...30, using: &self)))
        case 1: response.cut(after: .headBytes(Int.random(in: 0...30, using: &self)), by: .reset)
        case 2 where size > 1 && response.framing != .untilClose:
            response.cut(after: .bodyBytes(Int.random(in: 0..<size, using: &self)))
        case 3: response.declaring(length: size + 7)
        case 4: response.framed(.chunkedWithoutEnd)
        case 5 where !response.chunks.allSatisfy(\.isEmpty): response.framed(.brokenChunk(0))
        case 6: response.rawHeader("no colon in it")
        case 7: response.rawHeader("Content-Length: -5")
        default:
            pick([
                .closing, .resetting, .raw("HTTP/1.1 abc\r\n\r\n"), .raw("SSH-2.0-x\r\n"),
                .raw("HTTP/1.1 200 OK\r\nContent-Length: 3\r\nContent-Length: 4\r\n\r\nabcd"),
            ])
        }
    }
}
