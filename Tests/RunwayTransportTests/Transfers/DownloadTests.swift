import Foundation
import HTTPTypes
import Runway
import RunwayTestServer
import RunwayTesting
import RunwayTransport
import Testing

/// Downloads over real connections.
@Suite(.timeLimit(.minutes(10)), .overEveryTransport)
struct DownloadTests {
    private struct Film: Endpoint {
        static let service = TestService.self
        static let retry = RetryPolicy(maximumAttempts: 20, baseWait: .zero)
        var path: EndpointPath { "film" }
        func encode(to encoder: any Encoder) {}
    }

    private func layer(_ origin: ScriptedOrigin, sinks: [any EventSink] = []) throws -> NetworkLayer {
        let network = NetworkLayer(
            transport: try TransportUnderTest.make(), pipeline: .tested, sinks: sinks,
            limits: LayerLimits(admission: .none, retrying: .retrying))
        network.configure(TestService.self) { $0.baseURLs = [.release: origin.baseURL] }
        return network
    }

    @Test(arguments: 1...UInt64(3))
    func connectionThatBreaksAnywhereIsResumedExactly(seed: UInt64) async throws {
        let (folder, file) = (try TransferFolder(), RangedFile(byteCount: 1_500_000, breaks: 4, seed: seed))
        try await withScriptedOrigin { origin in
            origin.on("/film", file.respond)
            let records = RecordCollector()
            let network = try layer(origin, sinks: [records])
            let saved = try await network.download(Film(), to: folder.file)
            #expect(saved.byteCount == file.bytes.count)
            #expect(folder.bytes == file.bytes, "seed \(seed)")
            #expect(folder.names == ["file"])
            let record = try #require(try await records.records(count: 1).first)
            #expect(record.attempts.count == origin.requestCount)
            #expect(record.outcome.error == nil)
        }
    }

    @Test(
        .except(.asyncHTTPClient, "it discards bytes that it has not passed on when their connection ends"),
        .exceptSessionOfFakeSystem("it sends its requests by AsyncHTTPClient"))
    func bytesBeforeACutAreNotRequestedAgain() async throws {
        let (folder, file) = (try TransferFolder(), RangedFile(byteCount: 2 << 20))
        try await withScriptedOrigin { origin in
            origin.on("/film") { request in
                let response = file.respond(request)
                return request["Range"] == nil ? response.cut(after: .bodyBytes(700_000), by: .close) : response
            }
            let saved = try await layer(origin).download(Film(), to: folder.file)
            #expect(saved.resumedByteCount == 700_000)
            #expect(folder.bytes == file.bytes)
        }
    }

    @Test func nextProcessResumesTheDownload() async throws {
        let (folder, file) = (try TransferFolder(), RangedFile(byteCount: 900_000))
        try await withScriptedOrigin { origin in
            let gate = ScriptedGate()
            origin.on("/film") { request in
                request["Range"] == nil
                    ? file.respond(request).pausing(.beforeChunk(20), .gate(gate)) : file.respond(request)
            }
            let network = try layer(origin)
            let first = Task { try await network.download(Film(), to: folder.file) }
            try await gate.waitForArrivals()
            // What was sent is on its way; enough of it has to come for some to be on the disk.
            try await waitUntil { folder.partByteCount > 0 }
            first.cancel()
            await #expect(throws: NetworkError.self) { try await first.value }
            #expect(folder.names == ["file.part", "file.part.info"])
            let saved = try await layer(origin).download(Film(), to: folder.file)
            #expect(saved.resumedByteCount > 0)
            #expect(folder.bytes == file.bytes)
            gate.open()
        }
    }

    @Test func stalledBodyTimesOutAtTheDeadline() async throws {
        let (folder, file) = (try TransferFolder(), RangedFile(byteCount: 900_000))
        try await withScriptedOrigin { origin in
            let gate = ScriptedGate()
            origin.on("/film") { file.respond($0).pausing(.beforeChunk(3), .gate(gate)) }
            let clock = ManualClock()
            let network = NetworkLayer(
                to: origin.baseURL, over: try TransportUnderTest.make(), clock: LayerClock(clock))
            network.configure(TestService.self) { $0.deadline = .seconds(10) }
            let download = Task { try await network.download(Film(), to: folder.file) }
            try await gate.waitForArrivals()
            // Bytes may still be on their way and put the deadline off: time goes on until it is reached.
            let result = await driven(clock) { await download.result }
            let error = try #require(throws: NetworkError.self) { try result.get() }
            #expect(error.kind == .timedOut)
            gate.open()
        }
    }

    private func driven<Value: Sendable>(_ clock: ManualClock, _ work: @escaping @Sendable () async -> Value) async
        -> Value
    {
        let driver = Task {
            while !Task.isCancelled {
                clock.advance(by: .seconds(1))
                await Task.yield()
            }
        }
        defer { driver.cancel() }
        return await work()
    }
}
