import HTTPTypes
import Runway
import RunwayTestServer
import RunwayTesting
import Testing

@testable import RunwayTransport

/// Bodies of requests are compressed for services that take that.
@Suite(.timeLimit(.minutes(10)))
struct CompressingTests {
    private static let json = Array(String(repeating: #"{"action":"tap","screen":"列表"},"#, count: 200).utf8)

    private func send(
        _ body: RequestBody, _ policy: CompressionPolicy? = CompressionPolicy(),
        headers: [String: String] = ["Content-Type": "application/json"]
    ) async throws -> (request: ReceivedRequest, record: FlightRecord) {
        try await withScriptedOrigin { origin in
            origin.otherwise(respond: .json("{}"))
            let records = RecordCollector()
            let network = try NetworkLayer(to: origin.baseURL, sinks: [records])
            network.configure(TestService.self) { $0.compression = policy }
            _ = try await network.call(Fetch<POST>("a", body, headers: headers))
            return (try #require(origin.requests.first), try #require(try await records.records(count: 1).first))
        }
    }

    private func decisions(_ record: FlightRecord) -> [CompressionDecision] {
        record.decisions(of: CompressionDecision.self)
    }

    @Test func bodiesAreNotCompressedByDefault() async throws {
        let (request, record) = try await send(.bytes(Self.json), nil)
        #expect(request.body == Self.json && request["content-encoding"] == nil)
        #expect(decisions(record).isEmpty)
    }

    @Test func largeBodyIsSentWithGzipAndRecorded() async throws {
        let (request, record) = try await send(.bytes(Self.json))
        #expect(request["content-encoding"] == "gzip")
        #expect(request["content-length"] == "\(request.body.count)")
        #expect(request.body.count < Self.json.count / 10)
        #expect(try await Tool.run("/usr/bin/gzip", ["-dc"], request.body) == Self.json)
        #expect(decisions(record) == [.compressed(from: Self.json.count, to: request.body.count)])
        #expect(record.attempts.first?.requestByteCount == request.body.count)
    }

    @Test func aSmallBodyIsSentAsItIs() async throws {
        let body = Array(Self.json.prefix(1023))
        let (request, record) = try await send(.bytes(body))
        #expect(request.body == body && request["content-encoding"] == nil)
        #expect(decisions(record) == [.unchanged(.small(byteCount: 1023))])
        var policy = CompressionPolicy(minimumByteCount: 1000)
        policy.level = 99
        let (coded, _) = try await send(.bytes(body), policy)
        #expect(try await Tool.run("/usr/bin/gzip", ["-dc"], coded.body) == body)
    }

    @Test func incompressibleBodyIsSentUnchanged() async throws {
        var random = SeededGenerator(seed: 3)
        let noise = (0..<5000).map { _ in UInt8.random(in: .min ... .max, using: &random) }
        let (request, record) = try await send(.bytes(noise))
        #expect(request.body == noise && request["content-encoding"] == nil)
        #expect(decisions(record) == [.unchanged(.noGain)])
    }

    @Test func codedOrCompressedBodyIsSentUnchanged() async throws {
        let (coded, record) = try await send(.bytes(Self.json), headers: ["Content-Encoding": "br"])
        #expect(coded.body == Self.json && coded["content-encoding"] == "br")
        #expect(decisions(record) == [.unchanged(.coded)])
        let (image, other) = try await send(.bytes(Self.json), headers: ["Content-Type": "image/png"])
        #expect(image.body == Self.json && image["content-encoding"] == nil)
        #expect(decisions(other) == [.unchanged(.compressedContents)])
    }

    @Test func aStreamIsCompressedOnlyByPolicy() async throws {
        let pieces = stride(from: 0, to: Self.json.count, by: 500).map { Array(Self.json[$0...].prefix(500)) }
        let stream = BodyStream {
            var rest = pieces[...]
            return { rest.popFirst() }
        }
        let body = RequestBody.stream(stream, byteCount: Self.json.count, isReplayable: true)
        let (plain, record) = try await send(body)
        #expect(plain.body == Self.json && decisions(record) == [.unchanged(.stream)])
        let (coded, other) = try await send(body, CompressionPolicy(compressesStreams: true))
        #expect(coded["content-encoding"] == "gzip" && coded["transfer-encoding"] == "chunked")
        #expect(try await Tool.run("/usr/bin/gzip", ["-dc"], coded.body) == Self.json)
        #expect(
            decisions(other) == [
                .compressesStream, .compressedStream(from: Self.json.count, to: coded.body.count),
            ])
    }

    @Test func anotherAttemptIsSentTheSameBytes() async throws {
        try await withScriptedOrigin { origin in
            let busy = ScriptedResponse.text("busy", status: .serviceUnavailable).header(.retryAfter, "0")
            origin.on("/a", respond: [busy, .json("{}")])
            let network = NetworkLayer(transport: try AsyncHTTPClientTransport(), pipeline: .tested)
            network.configure(TestService.self) {
                $0.baseURLs = [.release: origin.baseURL]
                $0.compression = CompressionPolicy()
            }
            let options = CallOptions(retry: RetryPolicy(baseWait: .zero))
            _ = try await network.call(Fetch<PUT>("a", .bytes(Self.json)), options: options)
            let bodies = origin.requests.map(\.body)
            #expect(bodies.count == 2 && bodies[0] == bodies[1] && bodies[0].starts(with: [0x1F, 0x8B]))
        }
    }

    @Test func aRecordedBodyIsPlainAndRedacted() async throws {
        try await withScriptedOrigin { origin in
            origin.otherwise(respond: .json("{}"))
            let records = RecordCollector()
            let network = NetworkLayer(
                transport: try AsyncHTTPClientTransport(), pipeline: .tested, sinks: [records],
                redaction: Redaction(recordsBodies: true))
            network.configure(TestService.self) {
                $0.baseURLs = [.release: origin.baseURL]
                $0.compression = CompressionPolicy(minimumByteCount: 1)
            }
            let padding = String(repeating: "x", count: 500)
            let body = Array(#"{"password":"hunter22","padding":"\#(padding)"}"#.utf8)
            _ = try await network.call(
                Fetch<PUT>("a", .bytes(body), headers: ["Content-Type": "application/json"]))
            let attempt = try #require(try await records.records(count: 1).first?.attempts.first)
            let stored = String(decoding: attempt.requestBody ?? [], as: UTF8.self)
            #expect(stored.contains(padding) && !stored.contains("hunter22"))
            // And the command line sends it as it was sent.
            #expect(attempt.curlCommand.contains("| gzip -c | curl"))
        }
    }
}
