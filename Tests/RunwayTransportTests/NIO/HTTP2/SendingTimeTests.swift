import HTTPTypes
import NIOCore
import Runway
import RunwayTestServer
import RunwayTesting
import Testing

/// How long a request took to send, by its record, if a server reads its body slowly.
@Suite(.timeLimit(.minutes(10)))
struct SendingTimeTests {
    /// Responds to every request when its stream is complete, and accepts no more than the first window of the first one's body
    /// until a test lets it continue.
    private static let slow: RawHTTP2Server.Script = { connection, frame in
        if let frame, frame.is(.headers), connection.paths[frame.stream]?.hasSuffix("on") == true {
            let credit = RawFrame.number(1 << 20)
            connection.write(
                RawFrame(.windowUpdate, stream: connection.streams[0], credit), RawFrame(.windowUpdate, credit))
        }
        HTTP2WireTests.honest(connection, frame)
    }

    @Test(arguments: [true, false])
    func sendingIncludesTheServersBackpressure(isStreamed: Bool) async throws {
        // The window of a stream and of its connection is 65,535 bytes (RFC 9113 §6.9.2).
        let bytes = [UInt8](repeating: 7, count: 300_000)
        let body: RequestBody =
            isStreamed ? .stream(BodyStream(bytes), byteCount: bytes.count, isReplayable: true) : .bytes(bytes)
        try await RawHTTP2Server.run(Self.slow) { server in
            let records = RecordCollector()
            let network = try server.layer(sinks: [records])
            let upload = Task { try await network.call(Fetch<POST>("upload", body)).text }
            await server.wait(for: .data)
            // The request has begun, and its end can't have been sent before all of this is over.
            let start = NIODeadline.now()
            for _ in 0..<10 { _ = try await network.call(Fetch<GET>("neighbour")) }
            let held = Duration(NIODeadline.now() - start)
            _ = try await network.call(Fetch<GET>("on"))
            #expect(try await upload.value == "response")

            #expect(server.connectionCount == 1)
            let all = try await records.records(count: 12)
            let record = try #require(all.first { $0.attempts.first?.method == .post })
            let sending = try #require(record.attempts.first?.wire?.sending)
            #expect(sending >= held)
            #expect(sending <= record.duration)
        }
    }
}
