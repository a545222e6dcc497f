import HTTPTypes
import NIOCore
import Runway
import RunwayTesting
import Testing

@testable import RunwayTransport

/// Servers that require HTTP/1.1 for what was sent over HTTP/2 (RFC 9113 §7).
@Suite(.timeLimit(.minutes(10)))
struct HTTP1RequiredTests {
    /// How a server says so.
    enum Way: CaseIterable {
        case reset
        /// Without having read the request.
        case goAway
    }

    /// Ends every request over HTTP/2, other than that of `/warm`.
    private static func script(
        _ end: @escaping @Sendable (RawConnection, _ stream: Int) -> Void
    ) -> RawHTTP2Server.Script {
        { connection, frame in
            guard let frame else { return connection.write(.settings(), .settingsAck) }
            guard frame.is(.headers) else { return }
            if connection.paths[frame.stream] == "/warm" {
                connection.write(.headers(frame.stream), .data(frame.stream, "over HTTP/2"))
            } else {
                end(connection, frame.stream)
            }
        }
    }

    private static func script(_ way: Way) -> RawHTTP2Server.Script {
        script { connection, stream in
            switch way {
            case .reset: connection.write(.reset(stream, 13))
            case .goAway: connection.write(.goAway(last: stream - 2 > 0 ? stream - 2 : 0, code: 13))
            }
        }
    }

    private func withServer(
        _ script: @escaping RawHTTP2Server.Script, _ body: (RawHTTP2Server) async throws -> Void
    ) async throws {
        try await RawHTTP2Server.run(accepting: ["h2", "http/1.1"], script, body)
    }

    @Test(arguments: Way.allCases, [true, false])
    func requestIsSentAgainOverHTTP1(way: Way, isWarm: Bool) async throws {
        try await withServer(Self.script(way)) { server in
            let records = RecordCollector()
            let network = try server.layer(sinks: [records])
            if isWarm { #expect(try await network.call(Fetch<GET>("warm")).text == "over HTTP/2") }
            // The server says that it did not process the request, so that its method does not matter.
            #expect(try await network.call(Fetch<POST>("a")).text == "over HTTP/1.1")
            #expect(server.requests.map(\.path).suffix(2) == ["/a", "/a"])
            let attempt = try #require(try await records.records(count: isWarm ? 2 : 1).last?.attempts.last)
            #expect(attempt.httpVersion == "HTTP/1.1" && attempt.wire?.moveCount == 1)
            // It is remembered for the origin, without another try over HTTP/2.
            #expect(try await network.call(Fetch<GET>("b")).text == "over HTTP/1.1")
            #expect(server.requests.count { $0.path == "/b" } == 1 && server.connectionCount == 2)
        }
    }

    @Test func requirementOutlivesThePool() async throws {
        try await withServer(Self.script(.reset)) { server in
            let transport = try NIOTransport(configuration: server.configuration())
            let network = NetworkLayer(to: server.baseURL, over: transport)
            _ = try await network.call(Fetch<GET>("a"))
            let origin = Origin(scheme: "https", host: "localhost", port: server.port)
            #expect(transport.http1.contains(origin))
            transport.retireConnections()
            #expect(try await network.call(Fetch<GET>("b")).text == "over HTTP/1.1")
            #expect(server.requests.count { $0.path == "/b" } == 1)
        }
    }

    @Test func rememberedOriginsAreBounded() throws {
        let origins = HTTP1Origins(TransportConfiguration(), try TestDialer().dialer)
        func origin(_ port: Int) -> Origin { Origin(scheme: "https", host: "a.test", port: port) }
        for port in 1...HTTP1Origins.maximumCount + 1 { origins.insert(origin(port)) }
        #expect(!origins.contains(origin(1)) && origins.contains(origin(HTTP1Origins.maximumCount + 1)))
        #expect((1...HTTP1Origins.maximumCount + 1).count { origins.contains(origin($0)) } == HTTP1Origins.maximumCount)
    }

    /// A connection that ends with the code may have processed the streams that its GOAWAY covers (RFC 9113 §6.8).
    @Test(arguments: [true, false]) func coveredStreamIsRepeatedIfIdempotent(isRead: Bool) async throws {
        let script = Self.script { connection, stream in
            connection.write(.goAway(last: stream, code: 13))
            connection.close()
        }
        try await withServer(script) { server in
            let network = try server.layer()
            if isRead {
                #expect(try await network.call(Fetch<GET>("a")).text == "over HTTP/1.1")
            } else {
                let error = try await network.failure(of: Fetch<POST>("a"))
                #expect(error.kind == .noNetwork && error.sending == .unknown, "\(error)")
            }
            #expect(server.requests.count == (isRead ? 2 : 1))
            #expect(try await network.call(Fetch<GET>("b")).text == "over HTTP/1.1")
        }
    }

    @Test func begunResponseIsNotRepeated() async throws {
        let script = Self.script { connection, stream in
            connection.write(.headers(stream), .data(stream, "part", isLast: false), .reset(stream, 13))
        }
        try await withServer(script) { server in
            let error = try await server.layer().failure(of: Fetch<GET>("a"))
            #expect(error.sending == .sent && server.requests.count == 1, "\(error)")
        }
    }

    /// What can't be read again is not sent again; the next call is.
    @Test func streamedBodyFailsUnsent() async throws {
        try await withServer(Self.script(.reset)) { server in
            let network = try server.layer()
            let body = BodyStream {
                var rest: [[UInt8]] = [[1]]
                return { rest.popLast() }
            }
            let error = try await network.failure(
                of: Fetch<POST>("a", .stream(body, byteCount: 1, isReplayable: false)))
            #expect(error.sending == .notSent, "\(error)")
            #expect(try await network.call(Fetch<GET>("b")).text == "over HTTP/1.1")
        }
    }
}
