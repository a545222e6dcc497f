import HTTPTypes
import NIOCore
import Runway
import RunwayTesting
import Testing

@testable import RunwayTransport

/// What NIO's handler judges otherwise than RFC 9113 does.
@Suite(.timeLimit(.minutes(10)))
struct HTTP2RulesTests {
    /// Runs `body` with a server that responds to the first request with these frames, and to every other with the text "fine".
    private func withServer(
        _ frames: [RawFrame], _ body: (RawHTTP2Server, NetworkLayer) async throws -> Void
    ) async throws {
        try await RawHTTP2Server.run { connection, frame in
            guard let frame else { return connection.write(.settings(), .settingsAck) }
            guard frame.is(.headers) else { return }
            if connection.number == 1, frame.stream == 1 {
                connection.write(frames.flatMap(\.bytes))
            } else {
                connection.write(.headers(frame.stream), .data(frame.stream, "fine"))
            }
        } _: { server in
            try await body(server, server.layer())
        }
    }

    @Test(arguments: ["204", "304"]) func aLengthWithoutContentIsNotRefused(status: String) async throws {
        let block = rawBlock([(":status", status), ("content-length", "5")])
        try await withServer([.headers(1, block, isLast: true)]) { _, network in
            let request = Fetch<GET>("a", headers: ["If-None-Match": "\"a\""])
            let raw = try await network.call(request)
            #expect(raw.response.status.code == Int(status) && raw.bytes.isEmpty)
        }
    }

    @Test(arguments: ["5 , 5", "0005"]) func aLegalLengthIsNotRefused(length: String) async throws {
        let head = RawFrame.headers(1, RawFrame.ok + rawBlock([("content-length", length)]))
        try await withServer([head, .data(1, "five!")]) { _, network in
            let raw = try await network.call(Fetch<GET>("a"))
            #expect(raw.text == "five!")
        }
    }

    @Test func serverThatEnablesPushIsDisconnected() async throws {
        try await withServer([.settings([2: 1]), .headers(1), .data(1, "ghost")]) { server, network in
            let error = try await network.failure(of: Fetch<POST>("a"))
            #expect(error.kind == .invalidResponse && error.detail.contains("server push"), "\(error)")
            await server.wait(for: .goAway)
            let goAway = try #require(server.frames(of: 1).first { $0.is(.goAway) })
            // PROTOCOL_ERROR (RFC 9113 §7).
            #expect(Array(goAway.payload[4..<8]) == RawFrame.number(1))
        }
    }

    /// RFC 9113 §6.5.2. If sent, such a head may end the whole connection.
    @Test func headAboveTheServersLimitIsNotSent() async throws {
        try await withServer([.settings([6: 1000]), .headers(1), .data(1, "small")]) { server, network in
            _ = try await network.call(Fetch<GET>("a"))
            let large = Fetch<GET>("b", headers: ["X-Large": String(repeating: "x", count: 1000)])
            let error = try await network.failure(of: large)
            #expect(error.kind == .invalidParameters && error.sending == .notSent, "\(error)")
            #expect(error.detail.contains("1000 bytes"))
            #expect(try await network.call(Fetch<GET>("c")).text == "fine")
            #expect(server.requests.map { $0.path } == ["/a", "/c"] && server.connectionCount == 1)
        }
    }

    @Test func headLimitEndsWithItsConnection() async throws {
        try await RawHTTP2Server.run { connection, frame in
            // The settings of the second connection come with the response alone.
            let settings = RawFrame.settings(connection.number == 1 ? [6: 1000] : [:])
            guard let frame, frame.is(.headers) else { return }
            if frame.stream == 1 { connection.write(settings, .settingsAck) }
            connection.write(.headers(frame.stream), .data(frame.stream, "fine"))
            if connection.number == 1 { connection.write(.goAway(last: frame.stream)) }
        } _: { server in
            let network = try server.layer()
            let large = Fetch<GET>("b", headers: ["X-Large": String(repeating: "x", count: 1000)])
            _ = try await network.call(Fetch<GET>("a"))
            await server.wait { $0.endCount == 1 }
            #expect(try await network.call(large).text == "fine")
            #expect(server.requests.map { $0.path } == ["/a", "/b"])
        }
    }

    @Test(arguments: [false, true]) func headThatEndsAConnectionIsSentOnce(announces: Bool) async throws {
        try await RawHTTP2Server.run { connection, frame in
            guard let frame, frame.is(.headers) else { return }
            connection.write(.settings([6: 1000]), .settingsAck)
            if announces { connection.write(.goAway(last: 0)) } else { connection.close() }
        } _: { server in
            let large = Fetch<GET>("a", headers: ["X-Large": String(repeating: "x", count: 1000)])
            let error = try await server.layer().failure(of: large)
            #expect(error.kind == .invalidParameters && error.detail.contains("1000 bytes"), "\(error)")
            #expect(server.connectionCount == 1)
        }
    }

    @Test(arguments: [([0], 1), ([0x4000_0000, 0x4000_0000], 3)])
    func invalidWindowUpdateFailsTheStream(increments: [Int], code: Int) async throws {
        let updates = increments.map { RawFrame(.windowUpdate, stream: 1, RawFrame.number($0)) }
        try await withServer(updates + [.headers(1), .data(1, "ghost")]) { server, network in
            let error = try await network.failure(of: Fetch<POST>("a"))
            #expect(error.kind == .invalidResponse && error.detail.contains("WINDOW_UPDATE"), "\(error)")
            await server.wait(for: .reset)
            #expect(server.frames(of: 1).first { $0.is(.reset) }?.number == code)
            // It is an error of the stream, and the connection goes on.
            let next = try await network.call(Fetch<GET>("b"))
            #expect(next.text == "fine")
            #expect(server.connectionCount == 1)
        }
    }

    @Test func dependencyOnItselfDoesNotEndTheConnection() async throws {
        let dependency = RawFrame.number(1) + [16]
        let head = RawFrame(
            .headers, flags: RawFrame.endHeaders | 0x20, stream: 1, dependency + RawFrame.ok)
        let padded = RawFrame(
            .headers, flags: RawFrame.endHeaders | RawFrame.endStream | 0x28, stream: 1,
            [2] + dependency + rawBlock([("a", "b")]) + [0, 0])
        let frames = [
            RawFrame(.priority, stream: 1, dependency), head, .data(1, "heard", isLast: false), padded,
        ]
        try await withServer(frames) { server, network in
            let raw = try await network.call(Fetch<GET>("a"))
            #expect(raw.text == "heard")
            let next = try await network.call(Fetch<GET>("b"))
            #expect(next.text == "fine")
            #expect(server.connectionCount == 1)
        }
    }

    @Test func onlyDependencyBytesAreCleared() throws {
        let dependency = [1, 2, 3, 4, 5] as [UInt8]
        let frames = [
            RawFrame(.priority, stream: 1, dependency),
            RawFrame(.headers, flags: 0x28, stream: 3, [1] + dependency + [9]),
            RawFrame(.headers, flags: RawFrame.endHeaders, stream: 5, dependency), .data(5, "12345"),
            RawFrame(.priority, stream: 7, [1, 2]), RawFrame(.priority, stream: 9, dependency),
        ]
        let bytes = frames.flatMap(\.bytes)
        let cleared = frames.flatMap { frame -> [UInt8] in
            var frame = frame
            if frame.stream == 1 || frame.stream == 9 { frame.payload = [0, 0, 0, 0, 5] }
            if frame.stream == 3 { frame.payload = [1, 0, 0, 0, 0, 5, 9] }
            return frame.bytes
        }
        for byteCount in 1...bytes.count {
            var lengths = FrameLengths(skipping: 0)
            var result: [UInt8] = []
            for start in stride(from: 0, to: bytes.count, by: byteCount) {
                var buffer = ByteBuffer(bytes: bytes[start...].prefix(byteCount))
                for range in lengths.read(buffer, found: { _, _ in }) {
                    buffer.setRepeatingByte(0, count: range.count, at: range.lowerBound)
                }
                result += buffer.readableBytesView
            }
            #expect(result == cleared, "in pieces of \(byteCount)")
        }
    }
}
