import AppleFoundation
import HTTPTypes
import Runway
import RunwayTesting
import Synchronization
import Testing

@Suite(.timeLimit(.minutes(5)))
struct UploadTests {
    private static let bytes = (0..<(1 << 20)).map { UInt8(truncatingIfNeeded: $0 &* 31 >> 3) }
    private static let parts = BodyStream {
        var start = 0
        return {
            guard start < bytes.count else { return nil }
            defer { start += 100_000 }
            return Array(bytes[start..<min(start + 100_000, bytes.count)])
        }
    }

    @Test(arguments: [nil, 1 << 20])
    func streamedBodyArrivesWhole(_ byteCount: Int?) async throws {
        let seen = Seen<[UInt8]>()
        let network = layer { exchange in
            seen.note(await exchange.body())
            await exchange.respond()
            await exchange.complete()
        }
        _ = try await network.call(Post(content: .stream(Self.parts, byteCount: byteCount, isReplayable: false)))
        #expect(seen.all == [Self.bytes])
    }

    @Test func bodyIsSentAgainFromItsStart() async throws {
        let seen = Seen<[UInt8]>()
        let network = layer { exchange in
            let first = await exchange.newBodyStream()!
            _ = await exchange.read(first)
            // The connection is lost; the session sends the request over another.
            first.close()
            seen.note(await exchange.body(await exchange.newBodyStream()!))
            await exchange.respond()
            await exchange.complete()
        }
        _ = try await network.call(Post(content: .stream(Self.parts, byteCount: 1 << 20, isReplayable: true)))
        #expect(seen.all == [Self.bytes])
    }

    @Test func abandonedSendingDoesNotFailTheNext() async throws {
        let seen = Seen<[UInt8]>()
        let waiting = ScriptedGate()
        let isFirst = Mutex(true)
        let body = BodyStream {
            let isAbandoned = isFirst.withLock { isFirst in
                defer { isFirst = false }
                return isFirst
            }
            var count = 0
            return {
                count += 1
                // The first sending waits here until it is cancelled, and throws.
                if count == 2, isAbandoned { try await waiting.pass() }
                return count <= 2 ? [UInt8(count)] : nil
            }
        }
        let network = layer { exchange in
            let first = await exchange.newBodyStream()!
            _ = await exchange.read(first)
            try? await waiting.waitForArrivals()
            first.close()
            seen.note(await exchange.body(await exchange.newBodyStream()!))
            await exchange.respond()
            await exchange.complete()
        }
        _ = try await network.call(Post(content: .stream(body, byteCount: nil, isReplayable: true)))
        #expect(seen.all == [[1, 2]])
    }

    @Test func bodyThatCannotBeReadAgainIsNotSentAgain() async throws {
        let again = Seen<Bool>()
        let network = layer { exchange in
            _ = await exchange.newBodyStream()
            again.note(await exchange.newBodyStream() != nil)
            await exchange.complete(URLError(.requestBodyStreamExhausted))
        }
        let post = Post(content: .stream(Self.parts, byteCount: nil, isReplayable: false))
        #expect(try await network.failure(of: post).kind == .noNetwork)
        #expect(again.all == [false])
    }

    /// The end of its stream would be the end of the body to a server.
    @Test func bodyOfACancelledCallHasNoEnd() async throws {
        let read = ScriptedGate()
        let ends = Seen<Bool>()
        let ended = ScriptedGate()
        let network = layer { exchange in
            let stream = await exchange.newBodyStream()!
            _ = await exchange.read(stream)
            try? await read.pass()
            while !(await exchange.read(stream)).isEmpty {}
            ends.note(exchange.isOver)
            try? await ended.pass()
        }
        let waiting = ScriptedGate()
        let body = BodyStream {
            var isFirst = true
            return {
                defer { isFirst = false }
                // A stream that is cancelled ends, as an AsyncStream does.
                if !isFirst { do { try await waiting.pass() } catch { return nil } }
                return [1, 2, 3]
            }
        }
        let call = Task { try await network.call(Post(content: .stream(body, byteCount: nil, isReplayable: false))) }
        try await read.waitForArrivals()
        read.open()
        try await waiting.waitForArrivals()
        call.cancel()
        let error = try await #require(throws: NetworkError.self) { try await call.value }
        #expect(error.kind == .cancelled)
        try await ended.waitForArrivals()
        #expect(ends.all == [true])
        ended.open()
    }

    private struct FilmUpload: Endpoint {
        static let service = FakeService.self
        static let method = HTTPRequest.Method.put
        static let encoding = ParameterEncoding.raw(contentType: "video/mp4")
        static let uploadResumption = UploadResumption.on
        static let retry = RetryPolicy(maximumAttempts: 3, baseWait: .zero)
        @Unencoded var film: URL
        var path: EndpointPath { "film" }
        var content: RequestBody { get throws { try .file(film) } }
    }

    @Test func interruptedUploadContinuesAtWhatTheServerHas() async throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("runway-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let film = folder.appendingPathComponent("film")
        try Data(Self.bytes).write(to: film)
        let methods = Seen<String>()
        let stored = Mutex<[UInt8]>([])
        let version = ["Upload-Draft-Interop-Version": "6"]
        let network = layer(retrying: .retrying) { exchange in
            let method = exchange.request.httpMethod ?? ""
            methods.note("\(method) \(exchange.request.url?.path ?? "")")
            switch method {
            case "PUT":
                await exchange.inform(104, version.merging(["Location": "/uploads/1"]) { $1 })
                let stream = await exchange.newBodyStream()!
                let part = await exchange.read(stream)
                stored.withLock { $0 += part }
                await exchange.complete(URLError(.networkConnectionLost))
            case "HEAD":
                let offset = stored.withLock(\.count)
                await exchange.respond(
                    204, version.merging(["Upload-Offset": "\(offset)", "Upload-Complete": "?0"]) { $1 })
                await exchange.complete()
            default:
                let rest = await exchange.body()
                stored.withLock { $0 += rest }
                await exchange.respond(200, version.merging(["Upload-Complete": "?1"]) { $1 })
                await exchange.complete()
            }
        }
        _ = try await network.upload(FilmUpload(film: film))
        #expect(methods.all == ["PUT /film", "HEAD /uploads/1", "PATCH /uploads/1"])
        #expect(stored.withLock { $0 } == Self.bytes)
    }

    /// Nothing waits for a session that never reads.
    @Test func uploadThatNobodyReadsEndsWithItsCall() async throws {
        let asked = ScriptedGate()
        let network = layer { exchange in
            let stream = await exchange.newBodyStream()
            try? await asked.pass()
            withExtendedLifetime(stream) {}
        }
        let (ended, lifetime) = AsyncStream<Void>.makeStream()
        let body = BodyStream {
            let token = Token { lifetime.finish() }
            return { withExtendedLifetime(token) { [UInt8](repeating: 1, count: 1 << 20) } }
        }
        let call = Task { try await network.call(Post(content: .stream(body, byteCount: nil, isReplayable: false))) }
        try await asked.waitForArrivals()
        call.cancel()
        _ = try? await call.value
        for await _ in ended {}
        asked.open()
    }
}

private final class Token: Sendable {
    let onEnd: @Sendable () -> Void
    init(_ onEnd: @escaping @Sendable () -> Void) { self.onEnd = onEnd }
    deinit { onEnd() }
}
