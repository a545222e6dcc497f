import Runway
import RunwayTestServer
import RunwayTesting
import RunwayTransport
import Testing

/// Requests over an HTTP/2 connection in use that their server ends: only what it certainly did not act on is sent again by the
/// transport (RFC 9113 §8.7).
@Suite(.timeLimit(.minutes(10)))
struct EndedByServerTests {
    /// Responds to every request with its path, but treats `/ended` differently on a connection that carried `/warm` before.
    private static func ending(
        _ end: @escaping @Sendable (RawConnection, _ stream: Int) -> Void
    ) -> RawHTTP2Server.Script {
        { connection, frame in
            guard let frame else { return connection.write(.settings(), .settingsAck) }
            guard frame.is(.headers), let path = connection.paths[frame.stream] else { return }
            let isWarm = connection.paths.contains { $0.key < frame.stream && $0.value == "/warm" }
            if path == "/ended", isWarm {
                end(connection, frame.stream)
            } else {
                connection.write(.headers(frame.stream), .data(frame.stream, path))
            }
        }
    }

    private func arrivals(at server: RawHTTP2Server) -> Int { server.requests.count { $0.path == "/ended" } }

    @Test(arguments: [0, 1, 2, 8, 11])
    func readThatWasResetIsNotSentAgain(code: Int) async throws {
        try await RawHTTP2Server.run(Self.ending { $0.write(.reset($1, code)) }) { server in
            let records = RecordCollector()
            let network = try server.layer(sinks: [records])
            _ = try await network.call(Fetch<GET>("warm"))
            let error = try await network.failure(of: Fetch<GET>("ended"))
            #expect(error.kind == (code == 11 ? .overloaded : .noNetwork) && error.sending == .unknown, "\(error)")
            #expect(arrivals(at: server) == 1)
            let wire = try #require(try await records.records(count: 2).last?.attempts.first?.wire)
            #expect(wire.isReused == true && wire.moveCount == 0)
            // The stream is over, its connection is not.
            #expect(try await network.call(Fetch<GET>("b")).text == "/b")
            #expect(server.connectionCount == 1)
        }
    }

    @Test(arguments: [1, 2, 11])
    func errorThatClosesAConnectionIsNotRetried(code: Int) async throws {
        let script = Self.ending { connection, stream in
            connection.write(.goAway(last: stream, code: code))
            connection.close()
        }
        try await RawHTTP2Server.run(script) { server in
            let network = try server.layer()
            _ = try await network.call(Fetch<GET>("warm"))
            let error = try await network.failure(of: Fetch<GET>("ended"))
            #expect(error.kind == (code == 11 ? .overloaded : .noNetwork) && error.sending == .unknown, "\(error)")
            #expect(arrivals(at: server) == 1)
            #expect(try await network.call(Fetch<GET>("b")).text == "/b")
            #expect(server.connectionCount == 2)
        }
    }

    /// A server that goes may say first that it goes, and take all that comes meanwhile (RFC 9113 §6.8).
    @Test(arguments: [true, false])
    func readOnAClosingConnectionMovesToAnother(announces: Bool) async throws {
        let script = Self.ending { connection, _ in
            if announces { connection.write(.goAway(last: 0x7FFF_FFFF)) }
            connection.close()
        }
        try await RawHTTP2Server.run(script) { server in
            let network = try server.layer()
            _ = try await network.call(Fetch<GET>("warm"))
            #expect(try await network.call(Fetch<GET>("ended")).text == "/ended")
            #expect(arrivals(at: server) == 2 && server.connectionCount == 2)
        }
    }

    /// The end of a response that stays open may be lost with the connection. No other response is complete without it.
    @Test func goAwayCompletesOnlyLongLivedResponses() async throws {
        try await RawHTTP2Server.run { connection, frame in
            guard let frame else { return connection.write(.settings(), .settingsAck) }
            guard frame.is(.headers) else { return }
            connection.write(.headers(frame.stream), .data(frame.stream, "part", isLast: false))
            connection.write(.goAway(last: frame.stream))
            connection.close()
        } _: { server in
            let network = try server.layer()
            var options = CallOptions()
            options.isLongLived = true
            let stream = try await network.stream(Fetch<GET>("a"), options: options)
            var bytes: [UInt8] = []
            for try await part in stream.body { bytes += part }
            #expect(bytes == Array("part".utf8))
            let response = try await network.stream(Fetch<GET>("b"))
            _ = try await response.body.failure()
        }
    }

    @Test func theRetryPolicyDecidesOnResetRequests() async throws {
        let script = Self.ending { connection, stream in
            let count = connection.paths.values.count { $0 == "/ended" }
            if count == 1 { return connection.write(.reset(stream, 11)) }
            connection.write(.headers(stream), .data(stream, "calm"))
        }
        for policy in [RetryPolicy.off, RetryPolicy(baseWait: .zero)] {
            for isRead in [true, false] {
                try await RawHTTP2Server.run(script) { server in
                    let network = NetworkLayer(
                        transport: try NIOTransport(configuration: server.configuration()),
                        limits: LayerLimits(
                            admission: .none, retrying: AttemptLimits(callsPerAttempt: 10, reserve: 100)))
                    network.configure(TestService.self) { $0.baseURLs = [.release: server.baseURL] }
                    _ = try await network.call(Fetch<GET>("warm"))
                    let options = CallOptions(retry: policy)
                    let text: String?
                    if isRead {
                        text = try? await network.call(Fetch<GET>("ended"), options: options).text
                    } else {
                        text = try? await network.call(Fetch<POST>("ended"), options: options).text
                    }
                    let isRetried = isRead && policy != .off
                    #expect(text == (isRetried ? "calm" : nil))
                    #expect(arrivals(at: server) == (isRetried ? 2 : 1))
                }
            }
        }
    }

    /// The server may ask a client to stop sending once it has responded (RFC 9113 §8.1).
    @Test func completeResponseSurvivesAResetRequest() async throws {
        let script = Self.ending { connection, stream in
            connection.write(.headers(stream), .data(stream, "enough"), .reset(stream, 0))
        }
        try await RawHTTP2Server.run(script) { server in
            let network = try server.layer()
            _ = try await network.call(Fetch<GET>("warm"))
            let endless = BodyStream { { [UInt8](repeating: 1, count: 1 << 10) } }
            let call = Fetch<POST>("ended", .stream(endless, byteCount: nil, isReplayable: false))
            #expect(try await network.call(call).text == "enough")
            #expect(try await network.call(Fetch<GET>("b")).text == "/b")
            #expect(server.connectionCount == 1)
        }
    }
}
